"""Text generation: strategies, beam search, and the steps of a growing text."""
