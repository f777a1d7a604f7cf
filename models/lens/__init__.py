"""The tuned lens, and the sample of texts that it is trained on."""
