"""What can go wrong between a name and a model."""


class ModelError(ValueError):
    """A model cannot be had. The message is one or two sentences for the person who asked: what was wrong, what to do."""


class Cancelled(Exception):
    """The person who asked for a model no longer wants it."""
