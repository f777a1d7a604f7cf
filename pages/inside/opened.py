"""An open stage: the number that is explained, and the numbers that are shown around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analysis import inside
from pages.inside import recipes
from pages.inside.spots import Selection, Spot
from ui.look import Look

Slider = Callable[[int, int], int]
ROWS = 32  # tokens that are shown at a time
COLUMNS = 256  # and numbers of each
LIKELIEST = 24  # of a vocabulary, the tokens that are shown


@dataclass(frozen=True)
class OpenStage:
    """An open stage. index: of the explained number in the stage's array; rows, columns: of the numbers that are shown."""

    look: Look
    way: inside.Way
    stage: inside.Stage
    index: tuple[int, ...]
    trail: tuple[Spot, ...]
    rows: list[int]
    columns: list[int]

    @property
    def spot(self) -> Spot:
        return Spot(self.stage.name, self.index, self.stage.layer, self.stage.stack)

    @property
    def head(self) -> int:
        return self.index[0] if recipes.stacked(self.stage) else self.look.head

    @property
    def place(self) -> tuple[int, int]:
        """The row and the column of the explained number."""
        return row_and_column(self.stage, self.index)

    @property
    def base(self) -> dict[str, Any]:
        """The options that every recipe takes."""
        token = recipes.nearest(self.way.stages[0], self.look.token)
        return {"stack": self.way.stack, "layer": self.way.layer, "around": token, "stage": self.stage.name}

    @property
    def hides(self) -> bool:
        """Whether scores that the mask takes away in a later step are left out: where that step is not shown."""
        return hides(self.look)

    @cached_property
    def cell(self) -> inside.Cell:
        """The sum from which the explained number came."""
        return self.way.explain(self.stage.name, self.index)

    def at(self, row: int, column: int) -> tuple[int, ...]:
        """Return the index in the stage's array of a row and a column."""
        return whole_index(self.stage, self.head, row, column)


def hides(look: Look) -> bool:
    """Return whether scores that the mask takes away later are left out."""
    return look.level == "intermediate"


def row_and_column(stage: inside.Stage, index: tuple[int, ...]) -> tuple[int, int]:
    inner = index[recipes.stacked(stage) :]
    return inner[0], inner[1] if len(inner) > 1 else 0


def whole_index(stage: inside.Stage, head: int, row: int, column: int) -> tuple[int, ...]:
    inner = (row, column)[: len(stage.axes) - (recipes.stacked(stage))]
    return (head, *inner) if recipes.stacked(stage) else inner


def open_stage(look: Look, way: inside.Way, stage: inside.Stage, chosen: Selection, slider: Slider | None = None) -> OpenStage:
    """Open a stage with a window of rows and columns around the chosen number.

    slider: asked for the last column that is shown, given their count and the chosen one; None: those around the chosen one.
    """
    row, column = row_and_column(stage, chosen.index) if chosen.index else (recipes.nearest(stage, look.token), None)
    several = chosen.index and recipes.stacked(stage)
    head = chosen.index[0] if several else recipes.layer_of(stage, look.head, look.attention.heads)  # type: ignore[index]
    values = recipes.plane(stage, [row], head)[0]
    if column is None:
        if (hidden := recipes.masked(way, stage, [row], head, hides(look))) is not None:
            values = np.where(hidden[0], -np.inf, values)
        size = (
            values if stage.axes[-1] in recipes.OUTCOMES else np.abs(values)
        )  # of candidates the one that the model would choose
        column = int(np.argmax(np.where(np.isfinite(values), size, -np.inf)))
    positions = [] if stage.positions is None else stage.positions.tolist()
    first = max(0, min(len(positions) - ROWS, positions.index(row) - ROWS // 2)) if row in positions else 0
    rows = positions[first : first + ROWS] if row in positions else [row]
    if stage.axes[-1] in recipes.OUTCOMES:
        best = np.argsort(-values, kind="stable")[: min(LIKELIEST, len(values))].tolist()
        columns = best if column in best else [*best[:-1], column]
    else:
        columns = neighbours(len(values), column, slider)
    return OpenStage(look, way, stage, whole_index(stage, head, row, column), chosen.trail, rows, columns)


def neighbours(count: int, at: int, slider: Slider | None = None) -> list[int]:
    """Return `COLUMNS` neighbouring indices out of `count`: those chosen with the slider, at first those around `at`."""
    if count <= COLUMNS:
        return list(range(count))
    last = slider(count, at) if slider else last_around(count, at)
    return list(range(last - COLUMNS, last))


def last_around(count: int, at: int) -> int:
    """Return where a window of `COLUMNS` indices around `at` ends."""
    return min(count, max(COLUMNS, at + COLUMNS // 2))
