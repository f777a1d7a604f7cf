"""Slopes of predictions against attention, parts of blocks, and embeddings."""
