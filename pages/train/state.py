"""The choices of page "Train"."""

from __future__ import annotations

from typing import Any

from ui.state import Family, Key, link

TRAIN_TASK = link("train-task", "Repeat", "Copy", "Reverse", "Sort", "Dates", "Add", "Brackets", "Text")
TRAIN_LOG = link("train-log", default=False)
CURVES = link("curves", "Answers and heads", "Loss", "Entropy", "Rate and gradient", "One weight", "By layer")
MEASURED = link(
    "by-layer",
    "Size of the gradient",
    "Size of the update",
    "Lost in float16",
    "Spread of the stream",
    "Mean of the stream",
    "Entropy of the heads",
)
COMPARED = link("compared", "Answers", "Loss", "Induction", "Entropy", "Gradient", "Rate")  # of several runs
EXPERIMENTS = (
    "layers",
    "heads",
    "attention",
    "recurrence",
    "positions",
    "length",
    "window",
    "optimizer",
    "warm-up",
    "norm",
    "tied",
    "scale",
    "feed-forward",
    "experts",
)
WEIGHT_OF = Key("train-weight", "")  # the layer of the number that is followed
SWEEP = link("sweep", "Size and text", "Depth or width")
READY = Key("train-ready", EXPERIMENTS[0], EXPERIMENTS)
TRYING = Key("train-trying", "")  # the experiment that was asked for, until its runs have begun
ADDING = Key("train-adding", False)  # whether another run is being planned
COMPARED_AT, RUN_USED = Key[Any]("compared-at", None), Key[Any]("run-used", None)
TRAIN_STARTED = Key("start-training", False)  # whether “Start” was clicked, until the training has begun
TRAINED_AT, TRAIN_HEAD = Key[Any]("trained-at", None), Key[Any]("train-head", None)

SETTINGS = Family("train-")  # of a training


def train_key(name: str) -> Key[Any]:
    """Return the key for a part, a size or a number of the planned training."""
    return SETTINGS.key(name)


def run_name_key(name: str) -> Key[str]:
    """Return the key of the box in which a run is named."""
    return Key(f"run-name-{name}", "")
