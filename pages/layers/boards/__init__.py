"""The boards of page "Layers": functions of a look, settings, and what a job has calculated."""
