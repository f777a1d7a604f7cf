"""Rooms, in which one visitor leads and others follow: the server's data, the line to each browser, and each visitor's seat."""
