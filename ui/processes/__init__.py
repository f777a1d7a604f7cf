"""Several servers behind one address: a proxy that sends a visitor to the same one each time, and who looks after all of them."""
