"""Several servers behind one address: a proxy that keeps each visitor with one server, and their supervisor."""
