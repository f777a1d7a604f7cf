"""Numbers of stages, as a link writes them, and the selection on the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

AFTER = "~"  # between the numbers of a trail in an address
WRITTEN = re.compile(r"(?P<stage>[^~@]+?)(?P<index>(\.\d{1,9})+)@(?P<stack>[a-z]+)(?P<layer>\d{0,9})")


@dataclass(frozen=True)
class Spot:
    """A number of a stage: the stage's name, the index in its array, its layer and its stack."""

    stage: str
    index: tuple[int, ...]
    layer: int | None
    stack: str

    def __str__(self) -> str:
        return f"{'.'.join([self.stage, *map(str, self.index)])}@{self.stack}{'' if self.layer is None else self.layer}"

    @classmethod
    def read(cls, text: str) -> Spot | None:
        if not (match := WRITTEN.fullmatch(text)):
            return None
        return cls(
            match["stage"], indices(match["index"][1:]) or (), int(match["layer"]) if match["layer"] else None, match["stack"]
        )


@dataclass(frozen=True)
class Selection:
    """The open stage, "" for none; the clicked number, None for the first shown one; the trail that led to it."""

    stage: str = ""
    index: tuple[int, ...] | None = None
    trail: tuple[Spot, ...] = ()


def indices(text: str) -> tuple[int, ...] | None:
    """Return the index that a link writes as "2.13"; None for anything else."""
    parts = text.split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() and len(part) < 10 for part in parts) else None


def fitting(
    stage: str, cell: str, trail: str, shapes: Mapping[str, Sequence[int]], others: Sequence[str]
) -> tuple[str, str, str]:
    """Return a stage, a number of it and a trail, as a link writes them; "" for each that a text does not have.

    shapes: of the stages' arrays; others: stages without numbers.
    """
    stage = stage if stage in shapes or stage in others else ""
    index, shape = indices(cell), shapes.get(stage)
    is_there = index is not None and shape is not None and len(index) == len(shape) and all(np.less(index, shape))
    return stage, cell if is_there else "", trail if all(map(Spot.read, spots_of(trail))) else ""


def selection_of(stage: str, cell: str, trail: str) -> Selection:
    """Return what a link writes as a selection."""
    return Selection(stage, indices(cell), tuple(filter(None, map(Spot.read, spots_of(trail)))))


def spots_of(trail: str) -> list[str]:
    return [part for part in trail.split(AFTER) if part]


def block_of(written: str, layers: Mapping[str, int]) -> tuple[str, int] | None:
    """Return the stack and the layer that a link writes as "decoder2"; None for those that are not there. layers: how many each
    stack has."""
    match = re.fullmatch(r"([a-z]+)(\d{1,9})", written)
    return (match[1], int(match[2])) if match and int(match[2]) < layers.get(match[1], 0) else None
