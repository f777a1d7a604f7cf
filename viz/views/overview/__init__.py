"""The whole map of one head, for a text of any length, with the window on it that other pictures show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from viz.tokens import label
from viz.view import View, pack
from viz.views.model_view.shrink import shrink

_SIDE = 256  # cells a side at most
_LONGEST = 24  # characters of a token that are sent

Window = tuple[tuple[int, int], tuple[int, int]]  # first and last query, first and last key


def overview(
    queries: Sequence[Any],
    keys: Sequence[Any],
    weights: np.ndarray,
    window: Window,
    *,
    most: int = 1024,
    note: str = "",
    boxes: bool = True,
) -> View:
    """Draw one head's weights [query, key], attention in [0, 1], with a window on them: rows are queries (from), columns keys
    (to).

    Above 256 positions a side each cell is the maximum of the weights that it covers, so that no spike is lost; weights are sent
    as uint8, exact to 1/510; NaN is not drawn. `queries` and `keys` are tokens with a `text`, or strings. `window` is the first
    and last query and the first and last key in it, at most `most` a side; `note` is written beside the map.

    The window can be dragged, by its edges or as a whole; resized by pinching, or by the wheel once it has the focus; moved by
    the arrow keys and resized by Shift with them; or typed, if there are `boxes`. A double click selects everything, up to
    `most`. The new window is sent as `chosen`: `[first query, last query, first key, last key]`. Raises ValueError where shapes
    or window do not fit.
    """
    weights = np.asarray(weights)
    shape = (len(queries), len(keys))
    if weights.shape != shape or not weights.size:
        raise ValueError(f"Weights of shape {list(weights.shape)} for {shape[0]} queries and {shape[1]} keys: give [query, key].")
    for (first, last), count, noun in zip(window, shape, ("queries", "keys"), strict=True):
        if not 0 <= first <= last < count or last - first >= most:
            raise ValueError(f"A window of {noun} from {first} to {last}: give at most {most} of the {count}, from 0 on.")
    cells = np.rint(np.clip(np.nan_to_num(shrink(weights, _SIDE)), 0, 1) * 255).astype(np.uint8)
    same = list(queries) == list(keys)
    label = f"The whole map, {shape[0]} × {shape[1]}, and the window on it"
    header = {
        "label": label,
        "shape": list(shape),
        "window": [int(edge) for side in window for edge in side],
        "most": most,
        "note": note,
        "boxes": boxes,
        "from": _names(queries),
        "to": None if same else _names(keys),
    }
    return View("overview", pack(header, cells=cells), label)


def _names(tokens: Sequence[Any]) -> list[str]:
    names = [label((token if isinstance(token, str) else token.text)[: _LONGEST + 1]) for token in tokens]
    return [name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…" for name in names]
