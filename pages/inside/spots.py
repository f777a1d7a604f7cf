"""Numbers of stages, as a link writes them, and what is chosen on the page."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
    """The open stage, "" for none; the clicked number, None for the one that is shown first; the trail that led to it."""

    stage: str = ""
    index: tuple[int, ...] | None = None
    trail: tuple[Spot, ...] = ()


def indices(text: str) -> tuple[int, ...] | None:
    """Return the index that a link writes as "2.13"; None for anything else."""
    parts = text.split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() and len(part) < 10 for part in parts) else None
