"""Sliders, each with a name and its number. They cost a page less than Streamlit's, which are laid out at every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from viz.view import View, pack


@dataclass(frozen=True)
class Dial:
    """A number on a slider. label: its name; it runs in steps from `least` to `most`."""

    label: str
    value: float
    least: float
    most: float
    step: float = 0.1


def dials(given: Sequence[Dial]) -> View:
    """Draw a slider for each dial. When a slider is released, it sends `chosen`: `[its index, the number]`.

    Raises ValueError for a number that is outside of its slider.
    """
    for dial in given:
        if not dial.least <= dial.value <= dial.most:
            raise ValueError(f"“{dial.label}” is {dial.value:g}, and its slider runs from {dial.least:g} to {dial.most:g}.")
    return View("dials", pack({"dials": [asdict(dial) for dial in given]}), ", ".join(dial.label for dial in given))
