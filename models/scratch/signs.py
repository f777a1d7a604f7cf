"""Special tokens of our own vocabularies."""

START = "<|start|>"  # stands before every document and at the head of every window; never predicted
END = "<|end|>"  # stands after each sentence of a pair
MASK = "[MASK]"  # stands where a token is hidden
