"""The lexicon: technical terms, dotted where they first appear on a page, and their explanations on a click."""
