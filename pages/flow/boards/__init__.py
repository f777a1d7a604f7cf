"""The boards of page "Flow": the tokens, the prediction that is followed, and one for each view."""
