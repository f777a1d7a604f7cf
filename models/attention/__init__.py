"""Attention in one forward pass: the attention function, its recorded calls, and the recorder."""
