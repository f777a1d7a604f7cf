"""A diagram of a transformer: the input and output of each part, with their shapes for a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from viz.view import View, pack


@dataclass(frozen=True)
class Box:
    """A part of the model. shape: of its output; note: its work in a few words, or its formula. parts: boxes inside it, in order,
    which are repeated `times`. added: whether its output is added to the stream; past: whether the stream
    of the part below leaves above this box. beside: the name of the box in the previous
    column that it looks at."""

    name: str
    shape: str = ""
    note: str = ""
    parts: tuple[Box, ...] = field(default_factory=tuple)
    times: int = 1
    added: bool = False
    past: bool = False
    beside: str = ""


def architecture(columns: Sequence[tuple[str, Sequence[Box]]]) -> View:
    """Draw a diagram that reads from top to bottom: a column for each stack, (its name, its boxes).

    Raises ValueError where there is no column.
    """
    if not columns:
        raise ValueError("There is nothing to draw: give at least one column.")
    label = "Architecture: " + "; ".join(
        (f"{name}: " if name else "") + ", ".join(f"{box.times} layers" if box.parts else box.name for box in boxes)
        for name, boxes in columns
    )
    header = {"label": label, "columns": [{"name": name, "boxes": [asdict(box) for box in boxes]} for name, boxes in columns]}
    return View("architecture", pack(header), label)
