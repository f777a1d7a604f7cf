"""Grids across layers: attention layer by layer, a number for each head, and what each layer would predict."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from viz.numbers import percent
from viz.tokens import label, row_names
from viz.view import View
from viz.views.grid_view import grid_view
from viz.views.model_view.shrink import edges, shrink

SIDE = 64  # cells of a map a side; beyond, a cell is the largest of those that it covers
_LONGEST = 16  # characters of a label
_ROW = 24  # pixels of a layer


def attention_movie(
    queries: Sequence[Any],
    keys: Sequence[Any],
    maps: np.ndarray,
    chosen: tuple[int, int] | None = None,
    of: str = "attention",
    numbers: Sequence[int] = (),
) -> View:
    """Draw the map [layer, query, key] of one head, or of the mean of heads, in [0, 1], to be played layer by layer; NaN is
    masked.

    Rows are queries, columns are keys; the colours run from 0 to 100 %. Queries and keys are tokens (anything with a `.text`).
    Above 64 tokens a side a cell is the largest of the weights that it covers. chosen: (query, key). numbers: the layers'
    numbers, if they are not 0, 1, … A click sends `chosen`: `[row,
    column]` of the cells; `pair_of_cell` returns their tokens. Raises ValueError where the maps do not fit the tokens.
    """
    maps = np.asarray(maps)
    if maps.ndim != 3 or maps.shape[1:] != (len(queries), len(keys)) or maps.size == 0:
        raise ValueError(f"Maps of shape {list(maps.shape)} do not fit {len(queries)} queries and {len(keys)} keys.")
    (rows, down_names), (columns, column_names) = _spans(queries), _spans(keys)
    cell = None
    if chosen is not None:
        places = [
            np.searchsorted(edges(len(side), SIDE), at, "right") - 1 for side, at in zip((queries, keys), chosen, strict=True)
        ]
        cell = (int(places[0]), int(places[1]))
    most = " (each cell is the largest of those that it covers)" if max(len(queries), len(keys)) > SIDE else ""
    return grid_view(
        shrink(maps, SIDE),
        rows,
        columns,
        down="from (query)" if row_names(queries) is None else "from (query), choosing",
        across=f"to (key){most}",
        unit="%",
        scale=(0, 1),
        row_names=down_names if row_names(queries) else [f"from {name}" for name in down_names],
        column_names=[f"to {name}" for name in column_names],
        frames=[f"Layer {number}" for number in numbers or range(len(maps))],
        chosen=cell,
        cell=(5, 30),
        label=f"{of}, layer by layer",
    )


def pair_of_cell(maps: np.ndarray, row: int, column: int) -> tuple[int, int]:
    """Return the query and key of a cell of `attention_movie`; if it covers several, those of the largest weight in any layer."""
    down, across = edges(maps.shape[1], SIDE), edges(maps.shape[2], SIDE)
    part = np.nan_to_num(maps[:, down[row] : down[row + 1], across[column] : across[column + 1]]).max(0)
    query, key = np.unravel_index(part.argmax(), part.shape)
    return int(down[row] + query), int(across[column] + key)


def head_grid(
    values: np.ndarray,
    *,
    unit: str = "",
    scale: tuple[float, float] | None = None,
    chosen: tuple[int, int] | None = None,
    notes: Sequence[Sequence[str]] | None = None,
    row_notes: Sequence[str] | None = None,
    label: str = "",
    numbers: Sequence[int] = (),
) -> View:
    """Draw a number for each head, [layer, head]; NaN cells stay blank. unit, scale, notes, row_notes: as in `grid_view`.
    numbers: the layers' numbers, if they are not 0, 1, …

    A click sends `chosen`: `[layer, head]`. Raises ValueError where the shapes do not agree.
    """
    values = np.asarray(values)
    if values.ndim != 2:
        raise ValueError(f"Values of shape {list(values.shape)}: give one a head, [layer, head].")
    return grid_view(
        values,
        [f"L{number}" for number in numbers or range(values.shape[0])],
        [f"H{head}" for head in range(values.shape[1])],
        down="layer",
        across="head",
        unit=unit,
        scale=scale,
        chosen=chosen,
        notes=notes,
        row_notes=row_notes,
        cell=(9, 44),
        height=_ROW,
        numbered=True,
        label=label or "A number for each head",
    )


def rank_grid(
    ranks: np.ndarray, keys: Sequence[int], chosen: tuple[int, int] | None = None, label: str = "", numbers: Sequence[int] = ()
) -> View:
    """Draw the rank of a key in every head, [layer, head], 1 in the strongest colour; 0 (not visible to the query) stays blank.
    keys[layer]: how many keys there are to rank. Colours follow the logarithm of the rank. numbers: as in `head_grid`."""
    ranks = np.asarray(ranks, dtype=np.float64)
    most = max(2, *keys)
    seen = np.where(ranks > 0, ranks, np.nan)
    notes = [[f"of {count} keys in sight"] * ranks.shape[1] for count in keys]
    return grid_view(
        seen,
        [f"L{number}" for number in numbers or range(ranks.shape[0])],
        [f"H{head}" for head in range(ranks.shape[1])],
        down="layer",
        across="head",
        shades=log_shades(seen, most),
        ends=(f"rank {most}", "rank 1"),
        chosen=chosen,
        notes=notes,
        cell=(9, 44),
        height=_ROW,
        numbered=True,
        label=label or "The rank of a key in each head",
    )


def log_shades(ranks: np.ndarray, most: float) -> np.ndarray:
    """Return the strength of a rank's colour: 1 for the first, 0 for the rank `most`, linear in the logarithm."""
    return 1 - np.log(np.clip(ranks, 1, most)) / np.log(max(2, most))


LENS = ("probability", "rank", "kl")


def lens_grid(
    tokens: Sequence[str],
    best: Sequence[Sequence[str]],
    probability: np.ndarray,
    rank: np.ndarray,
    kl: np.ndarray,
    colour: str = "probability",
    across: str = "after reading this token",
    chosen: tuple[int, int] | None = None,
    notes: Sequence[Sequence[str]] | None = None,
    numbers: Sequence[int] = (),
) -> View:
    """Draw each layer's prediction at each position. best (the likeliest token), probability, rank, kl: [layer, position].

    The first row is the input, before the first layer, and has no colour, since no layer predicts it; it may be left out. tokens:
    the token that was read at each position; across: the name of the column axis. colour: "probability" (of the token in the
    cell), "rank" (of the last layer's answer) or "kl" (KL(last layer ‖ layer) in nats, the strongest colour the nearest).
    numbers: the layers' numbers, if they are not 0, 1, … A click sends `chosen`: `[layer, position]`. Raises ValueError for
    another colour, and where the shapes do not agree.
    """
    if colour not in LENS:
        raise ValueError(f"colour is one of {', '.join(LENS)}, not {colour!r}.")
    probability, rank, kl = np.asarray(probability), np.asarray(rank, dtype=float), np.asarray(kl)
    options: dict[str, Any] = {"unit": "%", "shades": probability.astype(float), "ends": ("0\u00a0%", "100\u00a0%")}
    values = probability
    if colour == "rank":
        most = max(2.0, float(rank.max(initial=1)))
        values, options = rank, {"shades": log_shades(rank, most), "ends": (f"rank {most:,.0f}", "rank 1")}
    elif colour == "kl":
        most = float(kl.max(initial=0)) or 1.0
        values, options = kl, {"unit": "nats", "shades": 1 - kl / most, "ends": (f"{most:.3g} nats", "0 nats")}
    numbers = numbers or range(len(values) - 1)
    if len(values) > len(numbers):
        options["shades"][0] = 0.0
    return grid_view(
        values,
        _stages(numbers, len(values)),
        [_short(text) for text in tokens],
        down="after this layer",
        across=across,
        texts=[[label(text) for text in row] for row in best],
        notes=notes,
        row_names=_afters(numbers, len(values)),
        column_names=[f"at “{label(text)}”" for text in tokens],
        chosen=chosen,
        cell=(60, 104),
        height=27,
        label="What each layer would guess",
        **options,
    )


def likeliest(
    best: Sequence[Sequence[str]], probabilities: np.ndarray, chosen: int | None = None, numbers: Sequence[int] = ()
) -> View:
    """Draw the likeliest tokens of every layer at one position, [layer, rank], with their probabilities; `chosen` is a row;
    rows and numbers: as in `lens_grid`."""
    layers, top = np.asarray(probabilities).shape
    numbers = numbers or range(layers - 1)
    shades = np.array(probabilities, dtype=float)
    if layers > len(numbers):
        shades[0] = 0.0
    return grid_view(
        probabilities,
        _stages(numbers, layers),
        [f"{place + 1}." for place in range(top)],
        down="after this layer",
        across="the likeliest tokens",
        unit="%",
        shades=shades,
        ends=("0\u00a0%", "100\u00a0%"),
        texts=[[label(text) for text in row] for row in best],
        notes=[[f"“{label(text)}”" for text in row] for row in best],
        row_names=_afters(numbers, layers),
        column_names=[f"number {place + 1}" for place in range(top)],
        chosen=None if chosen is None else (chosen, 0),
        cell=(52, 104),
        height=27,
        label="The likeliest tokens of every layer",
    )


def answer_grid(
    answer: str, probability: np.ndarray, notes: Sequence[str], chosen: int | None = None, numbers: Sequence[int] = ()
) -> View:
    """Draw how the last layer's answer rises through the layers at one position: its probability [layer], and a note for each.

    Rows and numbers: as in `lens_grid`. A click sends `chosen`: `[row, 0]`.
    """
    numbers = numbers or range(len(probability) - 1)
    return grid_view(
        np.asarray(probability)[:, None],
        _stages(numbers, len(probability)),
        [f"“{_short(answer)}”"],
        down="after this layer",
        unit="%",
        scale=(0, 1),
        texts=[[percent(share)] for share in probability],
        row_names=_afters(numbers, len(probability)),
        column_names=[f"the probability of “{label(answer)}”"],
        row_notes=notes,
        chosen=None if chosen is None else (chosen, 0),
        cell=(80, 150),
        height=27,
        label=f"“{label(answer)}”, layer by layer",
    )


def _spans(tokens: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Return the label beside each row or column of a map, and its name in words: a token, or the first and last of a span."""
    cuts = edges(len(tokens), SIDE).tolist()
    texts, called = [label(token.text) for token in tokens], row_names(tokens)
    names = [
        (called[start] if called else f"“{texts[start]}” ({start})")
        if end == start + 1
        else f"“{texts[start]}” … “{texts[end - 1]}” ({start} to {end - 1})"
        for start, end in pairwise(cuts)
    ]
    return [_short(tokens[start].text) for start in cuts[:-1]], names


def _stages(numbers: Sequence[int], rows: int) -> list[str]:
    """Return the names of the last rows of a residual stream: before the first block, then after each."""
    return ["input", *(f"L{number}" for number in numbers)][-rows:]


def _afters(numbers: Sequence[int], rows: int) -> list[str]:
    return ["in the input", *(f"after layer {number}" for number in numbers)][-rows:]


def _short(text: str) -> str:
    text = label(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
