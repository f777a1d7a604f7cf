"""The boards of page "Explain": functions of a look, settings, and what a job has calculated."""
