"""Rooms: one visitor leads, others follow. What the server keeps of them, the line to each browser, and a visitor's seat."""
