"""A number for each row and column as a coloured cell (heads of layers, tokens by tokens, layers by tokens); a click chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from viz.numbers import halved
from viz.view import View, pack

_LINK = 40  # characters of a link, as many as a room passes on
EXACT = 2**16  # cells up to which numbers travel in float32, else in float16


def grid_view(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    down: str = "",
    across: str = "",
    unit: str = "",
    scale: tuple[float, float] | None = None,
    shades: np.ndarray | None = None,
    ends: tuple[str, str] | None = None,
    texts: Sequence[Sequence[str]] | None = None,
    notes: Sequence[Sequence[str]] | None = None,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    row_notes: Sequence[str] | None = None,
    frames: Sequence[str] | None = None,
    chosen: tuple[int, int] | None = None,
    cell: tuple[int, int] = (8, 34),
    height: int = 0,
    numbered: bool = False,
    least: float = 0.0,
    signed: bool = False,
    blank: str = "nothing: out of sight",
    blank_answers: bool = False,
    covered: np.ndarray | None = None,
    label: str = "",
    link: str | None = None,
) -> View:
    """Draw cells `values` [row, column], or [frame, row, column] to be played, paused and scrubbed through; NaN cells stay blank,
    and `blank` describes them; blank_answers: whether a click on one is sent. covered: bool [row, column], cells whose number is
    neither shown nor sent until somebody clicks.

    rows, columns: labels beside and above the cells; row_names, column_names: their names in words (by default the labels);
    row_notes: a few words behind each row; frames: the name of each frame. down, across: names of the two axes. unit: "%" for
    shares of one, shown in per cent; any other unit is written behind the number. The colours run over `scale`, or from a round
    number below the smallest value to one above the largest, from near the page's background to its accent; shades, in the shape
    of `values` and in 0..1, colour the cells instead, with `ends` as the legend's words for 0 and 1. signed: the colours run from
    blue through none to red.
    texts[row][column]: words in the cell; notes[row][column]: words about it beside its number. cell: the least and the largest
    width of a column in CSS pixels; without room for the least, the grid scrolls. height: of a row, 0 for square cells. numbered:
    write two digits into each cell that has room for them and a number of at least `least`. link: views with the same link
    highlight the same item, by row · columns + column; None: views with the same label do. Numbers are shown on hover, by
    keyboard and in a table. A click or Enter sends `chosen`: `[row, column]`. Raises ValueError
    where the shapes do not agree.
    """
    values = _as_frames(np.asarray(values, dtype=np.float64), len(rows), len(columns), frames)
    for name, names, items in (("row", row_names, rows), ("column", column_names, columns)):
        _check_count(f"{name} names", names, len(items))
    _check_count("row notes", row_notes, len(rows))
    for name, words in (("texts", texts), ("notes", notes)):
        _check_table(name, words, len(rows), len(columns))
    if covered is not None:
        covered = np.broadcast_to(covered, values.shape[1:]) & np.isfinite(values[0])
        values = np.where(covered, np.nan, values)
    low, high = scale or _ends(values)
    shades = (values - low) / ((high - low) or 1.0) if shades is None else shades
    shades = np.asarray(shades, dtype=np.float64).reshape(values.shape)
    label = label or f"{len(rows)} by {len(columns)} numbers"
    header: dict[str, Any] = {
        "label": label,
        "rows": list(rows),
        "columns": list(columns),
        "rowNames": list(row_names or rows),
        "columnNames": list(column_names or columns),
        "rowNotes": list(row_notes) if row_notes else None,
        "ends": list(ends) if ends else [low, high],
        "frames": list(frames) if frames is not None and len(values) > 1 else None,
        "texts": [list(row) for row in texts] if texts is not None else None,
        "notes": [list(row) for row in notes] if notes is not None else None,
        "chosen": _place(chosen, len(rows), len(columns)),
        "covered": covered.tolist() if covered is not None else None,
    }
    header |= {"down": down, "across": across, "unit": unit, "blank": blank, "cell": list(cell), "height": height}
    header |= {"numbered": numbered, "least": float(least), "signed": signed, "blankAnswers": blank_answers}
    header["link"] = label[:_LINK] if link is None else link
    return View("grid_view", pack(header, values=_sent(values), shades=_as_bytes(shades, signed)), label)


def _as_bytes(shades: np.ndarray, signed: bool) -> np.ndarray:
    """Return shades from 0 to 1 as uint8; signed ones have a middle."""
    parts = np.clip(np.nan_to_num(shades), 0, 1)
    return np.rint(1 + 254 * parts if signed else 255 * parts).astype(np.uint8)


def _sent(values: np.ndarray) -> np.ndarray:
    """Return the values for sending, with NaN for numbers that are not finite."""
    known = np.where(np.isfinite(values), values, np.nan)
    return known.astype(np.float32) if values.size <= EXACT else halved(known)


def _as_frames(values: np.ndarray, rows: int, columns: int, frames: Sequence[str] | None) -> np.ndarray:
    """Return the values as [frame, row, column]."""
    if values.ndim == 2:
        values = values[None]
    if values.ndim != 3 or values.shape[1:] != (rows, columns) or values.size == 0:
        raise ValueError(f"Values of shape {list(values.shape)} do not fit {rows} rows and {columns} columns.")
    if len(values) > 1 and frames is None:
        raise ValueError(f"{len(values)} frames need names.")
    if frames is not None and len(frames) != len(values):
        raise ValueError(f"There are {len(values)} frames, and {len(frames)} names for them.")
    return values


def _ends(values: np.ndarray) -> tuple[float, float]:
    """Return round numbers at and beyond the smallest and the largest known value, for a legend that is easy to read."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if not high > low:
        return low, high
    size = 10.0 ** np.floor(np.log10((high - low) / 5))
    step = size * max(factor for factor in (1, 2, 5) if factor * size <= (high - low) / 5)
    slack = 1e-9  # of a step: a value that is one of these round numbers but for rounding
    ends = np.floor(low / step + slack) * step, np.ceil(high / step - slack) * step
    first, last = (float(f"{end:.12g}") for end in ends)
    return first, last


def _check_count(name: str, names: Sequence[str] | None, count: int) -> None:
    if names is not None and len(names) != count:
        raise ValueError(f"There are {len(names)} {name}: give {count}.")


def _check_table(name: str, words: Sequence[Sequence[str]] | None, rows: int, columns: int) -> None:
    if words is not None and [len(row) for row in words] != [columns] * rows:
        raise ValueError(f"{name} need {rows} rows of {columns}, one a cell.")


def _place(chosen: tuple[int, int] | None, rows: int, columns: int) -> list[int] | None:
    if chosen is None or not (0 <= chosen[0] < rows and 0 <= chosen[1] < columns):
        return None
    return [int(chosen[0]), int(chosen[1])]
