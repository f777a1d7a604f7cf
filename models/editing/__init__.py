"""Changes of a model during a forward pass, as `models.edits` describes them."""
