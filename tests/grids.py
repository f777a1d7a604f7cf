"""Grids of parameters, of which `make test` has a few cells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, product
from typing import Any

import pytest


def grid(cells: Iterable[Any], few: Collection[Any]) -> list[Any]:
    """Return all cells as parameters; those that are not among the few are left to `make test-all`."""
    return [
        pytest.param(*(cell if isinstance(cell, tuple) else (cell,)), marks=() if cell in few else pytest.mark.thorough)
        for cell in cells
    ]


def pairwise(*choices: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return rows of one choice of each sequence, in which any two choices of different sequences stand together somewhere."""
    columns = list(combinations(range(len(choices)), 2))
    every = [tuple(row) for row in product(*(range(len(each)) for each in choices))]
    missing = {(a, b, row[a], row[b]) for row in every for a, b in columns}
    rows = []
    while missing:
        best = max(every, key=lambda row: sum((a, b, row[a], row[b]) in missing for a, b in columns))
        missing -= {(a, b, best[a], best[b]) for a, b in columns}
        rows.append(tuple(each[at] for each, at in zip(choices, best, strict=True)))
    return rows
