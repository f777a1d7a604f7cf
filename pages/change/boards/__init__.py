"""The boards of page "Change": functions of a draft, settings, and what was read or measured."""
