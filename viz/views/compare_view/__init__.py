"""Several numbers of each token beside each other, as a shaded table, and how they change from frame to frame."""

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
) -> View:
    """A table: a row for each token, a column for each name, each share written and shaded; a slider and "Play" over the frames.

    `tokens` have `text`, `special` and `fragment`. `values` is [frame, name, token], shares in 0..1 (NaN: none), sent as
    float16; a column is shaded from 0 to its largest share in any frame. `frames` are what the frames are called. `chosen` is
    the token that all is about, which is marked. The last frame is shown first. It is keyboard operable and a table to a screen
    reader. Raises ValueError if the shapes do not agree.
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
        "spoken": [_name(token.text) for token in tokens],
    }
    return View("compare_view", pack(header, values=halved(values)), label)


def _name(text: str) -> str:
    word = text.strip(" ")
    return label(word) if word else "space"
