"""The boards of page "Generate": functions of a look, settings, and generated or calculated results."""
