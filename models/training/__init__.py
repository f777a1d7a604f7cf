"""Training of transformers: those that ship, and those that learn live on page Train."""
