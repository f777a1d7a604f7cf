"""The choices of page "Train"."""

from __future__ import annotations

from typing import Any

from ui.state import Family, Key, link

TRAIN_TASK = link("train-task", "Repeat", "Copy", "Reverse", "Sort", "Dates", "Text")
TRAIN_LOG = link("train-log", default=False)
CURVES = link("curves", "Answers and heads", "Loss", "Entropy", "Rate and gradient")
TRAIN_STARTED = Key("start-training", False)  # whether “Start” was clicked, until the training has begun
TRAINED_AT, TRAIN_HEAD = Key[Any]("trained-at", None), Key[Any]("train-head", None)

SETTINGS = Family("train-")  # of a training


def train_key(name: str) -> Key[Any]:
    """Return the key for a part, a size or a number of the planned training."""
    return SETTINGS.key(name)
