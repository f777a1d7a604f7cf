"""Widgets for a visitor's choices: text, model, head, token, and the shown part of a text."""
