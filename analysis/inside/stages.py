"""A stage of the way from a text to a prediction: its numbers, and how each of them comes about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from models.readonly import read_only

Index = tuple[int, ...]
ROWS = ("token", "query", "source")  # the axis that counts positions of a text


class Place(NamedTuple):
    """One number of a model at work: the stage's name, the index in it, and the layer and stack that the stage is of.

    at: its index; along the axis of tokens it counts from the first token of the text, whatever window is shown. layer: None
    before and after the blocks; stack: "self", or "encoder" or "decoder". `way.explain(*place)` says how the number comes about.
    """

    stage: str
    at: Index
    layer: int | None
    stack: str


class Term(NamedTuple):
    """One product that a number is a sum of. label: what it stands for; left · right = product.

    source: where left comes from, None for what is stored in the model; other: the same of right.
    """

    label: str
    left: float
    right: float
    product: float
    source: Place | None = None
    other: Place | None = None


@dataclass(frozen=True)
class Cell:
    """How one number comes about: the products of its terms sum to `value`.

    facts: numbers that terms were made with, by name, such as the mean and the spread of a norm.
    """

    place: Place
    value: float
    terms: tuple[Term, ...]
    facts: dict[str, float] = field(default_factory=dict)


class Formula(Protocol):
    """How the numbers of a stage follow from those of other stages, position by position."""

    form: str
    inputs: Sequence[Stage]

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        """The stage's numbers at these positions, calculated: its own axes, with these along the axis of tokens."""

    def terms(self, index: Index) -> list[Term]:
        """What a number is a sum of (see `Term`)."""

    def facts(self, index: Index) -> dict[str, float]:
        """What else its terms were made with."""


@dataclass(eq=False)
class Stage:
    """One step on the way. name: what the page calls it; axes: what its dimensions are, "token", "head", "d_model" …

    positions: which tokens `values` has along its axis of tokens (of the window that is shown), None without such an axis.
    missing: None, or why the stage cannot be calculated from what came before; its numbers are then those that were recorded.
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

    def __post_init__(self) -> None:
        self.recorded = None if self.recorded is None else read_only(self.recorded)

    @property
    def formula(self) -> str:
        """Which form its formula has: "lookup", "add", "layer norm", "rms norm", "linear", "dot product", "scale", "softmax" …"""
        return self.rule.form if self.rule is not None else "given"

    @property
    def inputs(self) -> tuple[str, ...]:
        """The stages that it is calculated from."""
        return tuple(one.name for one in self.rule.inputs) if self.rule is not None else ()

    @cached_property
    def values(self) -> np.ndarray:
        """The numbers of the window: float32, its dimensions as in `axes`."""
        return read_only(self.rows(self.positions))

    @property
    def shape(self) -> tuple[int, ...]:
        """Of `values`."""
        return self.values.shape

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The shape of `values`, asked of one position alone."""
        if self.positions is None or self.row_axis is None:
            return self.shape
        found = list(self.rows(self.positions[:1]).shape)
        found[self.row_axis] = len(self.positions)
        return tuple(found)

    def calculated(self) -> np.ndarray:
        """The numbers of the window by the stage's formula, from the recorded numbers of the stages before. Errors: ValueError
        where something is missing."""
        if self.rule is None or self.missing:
            raise ValueError(self.missing or f"{self.name} is what the text begins with.")
        return self.rule.rows(self.positions)

    @property
    def row_axis(self) -> int | None:
        """Which axis counts tokens."""
        return next((i for i, axis in enumerate(self.axes) if axis in ROWS), None)

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        """The numbers at some positions, or at all of what is recorded. Errors: ValueError for positions that were not kept."""
        if self.held is not None and positions is not None and not np.isin(positions, self.held).all():
            raise ValueError(f"Of {self.name}, only the positions {self.held.min()} to {self.held.max()} are kept here.")
        if self.recorded is None:
            return np.asarray(self.rule.rows(self.held if positions is None else positions), np.float32)  # type: ignore[union-attr]
        if positions is None or self.row_axis is None:
            return self.recorded
        return np.take(self.recorded, positions if self.held is None else np.searchsorted(self.held, positions), self.row_axis)

    def at(self, index: Index) -> float:
        """One number, by an index that counts tokens from the first of the text."""
        place, row = list(index), self.row_axis
        if row is None:
            return float(self.values[index])
        position, place[row] = place[row], 0
        return float(self.rows(np.array([position]))[tuple(place)])

    def place(self, *index: int) -> Place:
        return Place(self.name, tuple(int(one) for one in index), self.layer, self.stack)
