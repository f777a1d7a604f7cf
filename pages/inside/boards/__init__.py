"""The boards of page "Inside" beside those of its stages: neurons, pieces, and the order of the words."""
