"""A picture, and how it is taken away."""
