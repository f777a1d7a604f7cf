"""A stage of the path from a text to a prediction: its numbers, and the formula of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple, Protocol

import numpy as np

from models.numbers.readonly import read_only

Index = tuple[int, ...]
ROWS = ("token", "query", "source")  # the axis that counts positions of a text


class Place(NamedTuple):
    """The place of one number: the stage's name, the index in it, and the layer and stack that the stage is of.

    at: its index; on the axis of tokens it counts from the first token of the text, for any window. layer: None before and after
    the blocks; stack: "self", or "encoder" or "decoder". `way.explain(*place)` returns the terms of the number.
    """

    stage: str
    at: Index
    layer: int | None
    stack: str


class Term(NamedTuple):
    """One product of the sum behind a number. label: its meaning; left · right = product.

    source: the place that left comes from, None for a number stored in the model; other: the same for right.
    """

    label: str
    left: float
    right: float
    product: float
    source: Place | None = None
    other: Place | None = None


@dataclass(frozen=True)
class Cell:
    """One number and its terms: their products sum to `value`.

    facts: other numbers in its formula, by name, such as the mean and the spread of a norm.
    """

    place: Place
    value: float
    terms: tuple[Term, ...]
    facts: dict[str, float] = field(default_factory=dict)

    @cached_property
    def ranked(self) -> tuple[Term, ...]:
        """The terms, those with the largest products first."""
        return tuple(sorted(self.terms, key=lambda term: -abs(term.product)))


class Formula(Protocol):
    """The rule by which a stage's numbers follow from those of other stages, position by position."""

    form: str
    inputs: Sequence[Stage]

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        """Calculate the stage's numbers at these positions: its own axes, with these along the axis of tokens."""

    def terms(self, index: Index) -> list[Term]:
        """Return the terms whose sum is a number (see `Term`)."""

    def facts(self, index: Index) -> dict[str, float]:
        """Return the other numbers in its formula, by name."""


@dataclass(eq=False)
class Stage:
    """One step on the path. name: its name on the page; axes: the names of its dimensions, "token", "head", "d_model" …

    positions: the tokens on the token axis of `values` (those of the shown window), None without such an axis. missing: None, or
    the reason why the stage cannot be calculated from earlier stages; its numbers are then the recorded ones.
    """

    name: str
    axes: tuple[str, ...]
    layer: int | None
    stack: str
    rule: Formula | None = None
    recorded: np.ndarray | None = field(default=None, repr=False)  # of all positions; None: what the formula gives
    positions: np.ndarray | None = None
    missing: str | None = None
    held: np.ndarray | None = None  # the positions that there are numbers of; None: all
    _single: tuple[int, np.ndarray | None] = field(default=(-1, None), init=False, repr=False)  # the last one that was asked for

    def __post_init__(self) -> None:
        self.recorded = None if self.recorded is None else read_only(self.recorded)

    @property
    def formula(self) -> str:
        """The form of its formula: "lookup", "add", "layer norm", "rms norm", "linear", "dot product", "scale", "softmax" …"""
        return self.rule.form if self.rule is not None else "given"

    @property
    def inputs(self) -> tuple[str, ...]:
        """The stages from which it is calculated."""
        return tuple(stage.name for stage in self.rule.inputs) if self.rule is not None else ()

    @cached_property
    def values(self) -> np.ndarray:
        """The numbers of the window: float32, its dimensions as in `axes`."""
        return read_only(self.rows(self.positions))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of `values`."""
        return self.values.shape

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The shape of `values`, calculated from one position alone."""
        if self.positions is None or self.row_axis is None:
            return self.shape
        sizes = list(self.rows(self.positions[:1]).shape)
        sizes[self.row_axis] = len(self.positions)
        return tuple(sizes)

    def calculated(self) -> np.ndarray:
        """Calculate the window's numbers by the stage's formula, from the recorded numbers of the stages before. Errors:
        ValueError where something is missing."""
        if self.rule is None or self.missing:
            raise ValueError(self.missing or f"{self.name} is what the text begins with.")
        return self.rule.rows(self.positions)

    @property
    def row_axis(self) -> int | None:
        """The axis that counts tokens, if there is one."""
        return row_axis_of(self.axes)

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        """Return the numbers at some positions, or at all recorded ones; of a single position, read-only. Errors: ValueError for
        positions that were not kept."""
        if positions is None or len(positions) != 1:
            return self._rows(positions)
        position, (last, numbers) = int(positions[0]), self._single
        if numbers is None or position != last:
            numbers = read_only(self._rows(positions))
            self._single = position, numbers
        return numbers

    def _rows(self, positions: np.ndarray | None) -> np.ndarray:
        if self.held is not None and positions is not None and not np.isin(positions, self.held).all():
            raise ValueError(f"Of {self.name}, only the positions {self.held.min()} to {self.held.max()} are kept here.")
        if self.recorded is None:
            return np.asarray(self.rule.rows(self.held if positions is None else positions), np.float32)  # type: ignore[union-attr]
        if positions is None or self.row_axis is None:
            return self.recorded
        return np.take(self.recorded, positions if self.held is None else np.searchsorted(self.held, positions), self.row_axis)

    def at(self, index: Index) -> float:
        """Return one number, by an index that counts tokens from the first of the text."""
        place, row = list(index), self.row_axis
        if row is None:
            return float(self.values[index])
        position, place[row] = place[row], 0
        return float(self.rows(np.array([position]))[tuple(place)])

    def place(self, *index: int) -> Place:
        return Place(self.name, tuple(map(int, index)), self.layer, self.stack)


@cache
def row_axis_of(axes: tuple[str, ...]) -> int | None:
    """Return which of these axes counts tokens, if there is one."""
    return next((i for i, axis in enumerate(axes) if axis in ROWS), None)
