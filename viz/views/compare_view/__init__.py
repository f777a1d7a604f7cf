"""Several numbers for each token side by side, as a shaded table that changes from frame to frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from viz.numbers import halved
from viz.tokens import kinds, label, pieces
from viz.view import View, pack


def compare_view(
    tokens: Sequence[Any],
    names: Sequence[str],
    values: np.ndarray,
    frames: Sequence[str] = ("",),
    chosen: int | None = None,
    label: str = "Shares of each token",
    first: int | None = None,
) -> View:
    """Draw a table: a row for each token, a column for each name, each share as a number and a shade; a slider and "Play" for the
    frames.

    `tokens` have `text`, `special` and `fragment`. `values` is [frame, name, token], shares in 0..1 (NaN: none), sent as float16;
    a column is shaded from 0 to its largest share in any frame. `frames` are the names of the frames. `chosen` is the token that
    the table is about, which is marked. `first` is the frame that is shown first, by default the last. The largest number of a
    column has a frame. It works with the keyboard, and is a table for screen readers. Raises ValueError if the shapes do not
    agree.
    """
    values = np.asarray(values)
    if values.shape != (len(frames), len(names), len(tokens)) or not len(frames):
        raise ValueError(
            f"Values of shape {list(values.shape)} for {len(frames)} frames, {len(names)} names and {len(tokens)} tokens."
        )
    header = {
        "label": label,
        "tokens": [pieces(token.text) for token in tokens],
        "kinds": kinds(tokens),
        "names": list(names),
        "frames": list(frames),
        "chosen": -1 if chosen is None else int(chosen),
        "first": len(frames) - 1 if first is None else int(first),
        "spoken": [_name(token.text) for token in tokens],
    }
    return View("compare_view", pack(header, values=halved(values)), label)


def _name(text: str) -> str:
    word = text.strip(" ")
    return label(word) if word else "space"
