"""Records every step of a forward pass."""
