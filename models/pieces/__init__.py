"""How a tokenizer came from a text to its tokens, step by step: `pieces_of` in `apart`, and what it gives in `values`."""
