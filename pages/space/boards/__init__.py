"""The boards of page "Space": the tokens of the text, one word in several texts, and the vocabulary."""
