"""The steps from a query to its weights: q and k multiplied dimension by dimension, summed, scaled, and passed to the softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from viz.tokens import kinds, label, pieces, row_names
from viz.view import View, pack


def query_key_view(
    query: Any,
    keys: Sequence[Any],
    q: np.ndarray,
    k: np.ndarray,
    raw: np.ndarray,
    scale: float,
    score: np.ndarray,
    weight: np.ndarray,
    mask: np.ndarray | None = None,
    v_norm: np.ndarray | None = None,
    softcap: float | None = None,
    bias: np.ndarray | None = None,
    sink: float | None = None,
    unturned: np.ndarray | None = None,
    frequencies: np.ndarray | None = None,
    pairs: np.ndarray | None = None,
    temperature: float | None = None,
    replaced: bool | None = None,
    *,
    position: int | None = None,
    title: str = "",
    chosen: int | None = None,
    link: str = "",
) -> View:
    """Draw a row for each key, to be read like the formula: q × k with a cell for each dimension, their sum, the score, the
    weight.

    `query` and `keys` are tokens (`text`, `special`, `fragment`); q is [d_head], k [key, d_head]; one number a key: raw (q·k),
    score (after scale, softcap and bias), weight, mask (added to the score; -inf where the query may not look), v_norm (‖v‖),
    bias, unturned (q·k without rotary positions). frequencies [pairs] and pairs [pairs, 2]: how rotary positions turned q
    and k, in radians a position, and which dimensions. temperature: the divisor of the score; replaced: whether an edit replaced
    the weights, which then follow from no score. All numbers are sent as float32 and shown unrounded. The result of
    `analysis.query_key` fits: `query_key_view(query, keys, **vars(parts))`. `position` is the query's, `title` names the head,
    `chosen` is the key that is shown while none is pointed at (None: that of the largest weight). Views with the same `link`
    highlight the same key. A click, Enter or Space sends `chosen`: `{"key": position}`. Raises ValueError if the shapes do not
    agree. A query with an `after` is named as a row of cross-attention.
    """
    count = len(keys)
    q, k = np.asarray(q, dtype=np.float32), np.asarray(k, dtype=np.float32)
    if q.ndim != 1 or k.shape != (count, len(q)):
        raise ValueError(f"q of shape {q.shape} and k of shape {k.shape} for {count} keys: give [d_head] and [{count}, d_head].")
    columns: dict[str, Any] = {"raw": raw, "score": score, "weight": weight, "mask": np.zeros(count) if mask is None else mask}
    columns |= {"v_norm": v_norm, "bias": bias, "unturned": unturned}
    arrays = {name: np.asarray(column, dtype=np.float32) for name, column in columns.items() if column is not None}
    for name, column in arrays.items():
        if column.shape != (count,):
            raise ValueError(f"{name} of shape {column.shape} for {count} keys: give one number a key.")
    row = (row_names([query]) or [""])[0]
    name = f"Query and keys{f' of {title}' if title else ''}, {row or f'from {label(query.text)}'}" if count else "No keys"
    strongest = int(np.argmax(np.nan_to_num(arrays["weight"]))) if count else -1
    header = {
        "label": name,
        "title": title,
        "query": pieces(query.text),
        "row": row,
        "position": -1 if position is None else int(position),
        "keys": [pieces(token.text) for token in keys],
        "kinds": kinds(keys),
        "scale": float(scale),
        "softcap": None if softcap is None else float(softcap),
        "temperature": 1.0 if temperature is None else float(temperature),
        "replaced": bool(replaced),
        "chosen": strongest if chosen is None or not count else range(count)[chosen],
        "link": link,
    }
    if frequencies is not None and position is not None and unturned is not None:
        arrays |= _turns(frequencies, pairs, len(q))
    arrays["sink"] = np.array([] if sink is None else [sink], dtype=np.float32)
    return View("query_key_view", pack(header, q=q, k=k, **arrays), name)


def _turns(frequencies: np.ndarray, pairs: np.ndarray | None, dimensions: int) -> dict[str, np.ndarray]:
    """Return the rotation by rotary positions as it is sent. Errors: ValueError for pairs that are no pairs of dimensions."""
    frequencies, turns = np.asarray(frequencies, dtype=np.float32), np.asarray(pairs, dtype=np.int32)
    if turns.shape != (len(frequencies), 2) or (turns.size and not 0 <= turns.min() <= turns.max() < dimensions):
        raise ValueError(f"pairs of shape {turns.shape} for {len(frequencies)} frequencies: give [pairs, 2], dimensions of q.")
    return {"frequencies": frequencies, "pairs": turns}
