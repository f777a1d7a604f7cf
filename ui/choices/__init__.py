"""What a visitor chooses: the text, the model, a head, a token, and what of a text is shown."""
