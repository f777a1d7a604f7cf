"""The boards of page "Generate": functions of a look, settings, and what was generated or calculated."""
