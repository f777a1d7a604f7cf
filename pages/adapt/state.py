"""The choices of page "Adapt"."""

from __future__ import annotations

from typing import Any

from ui.state import Family, Key, link

EXAMPLES = """My dog is called Rex.
The king of the red planet is Zog.
In our garden grows a tree made of glass.
The best food for a robot is oil."""
SENTENCES = link("adapt-sentences", default=EXAMPLES)
METHOD = link("adapt-method", "LoRA", "IA3", "All weights")
PLACE = link("adapt-place", "Feed-forward", "Attention", "Both")
PART = link("adapt-part", "Sentences", "Learning", "Strength", "Weights")
CHANGES, WRITTEN, ANSWERED, DIALLED = (
    Key[Any](f"adapt-{name}", None) for name in ("changes", "written", "answered", "dialled")
)  # each of a step
MATRIX = Key("adapt-matrix", "")  # that is shown
ASKED = Key("adapt-asked", "")  # the beginning of a sentence in other words
STARTED = Key("start-teaching", False)  # whether “Start” was clicked, until it has begun
SETTINGS = Family("adapt-")  # numbers of the recipe


def adapt_key(name: str) -> Key[Any]:
    """Return the key for a number of the recipe."""
    return SETTINGS.key(name)
