"""The steps of a tokenizer from a text to its tokens: `pieces_of` in `apart`, and its result in `values`."""
