"""The attention of one reading: its function, its calls, and the record of them."""
