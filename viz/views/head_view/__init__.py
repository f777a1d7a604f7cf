"""Attention of the heads of a layer: tokens on two sides, and a line for each weight, in the colour of its head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from viz.palette import HEADS
from viz.tokens import kinds, pieces, row_names
from viz.triangle import looks_back_only, lower
from viz.view import View, pack

_LONGEST = 60  # characters of a token that are sent: no label has room for more
_SLACK = 1e-3  # beyond [0, 1]: what half precision makes of a softmax

Side = Literal["from", "to"]


def head_view(
    queries: Sequence[Any],
    keys: Sequence[Any],
    weights: np.ndarray,
    *,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    chosen: tuple[Side, int] | None = None,
    causal: bool | None = None,
    starts: tuple[int, int] = (0, 0),
    simple: bool = False,
    link: str = "",
    cuts: Sequence[tuple[int, int, int]] | None = None,
) -> View:
    """Draw queries on the left ("from") and keys on the right ("to"); each weight is a line whose colour is the head, whose
    opacity the weight.

    `queries` and `keys` are tokens with `text`, `special` and `fragment`, and `segment` (0 or 1) where they are a pair of
    texts, and `after` where they name the rows of cross-attention (see `viz.tokens.row_names`); `weights` is [heads, query,
    key] of one layer, attention in [0, 1], sent as uint8, so exact to 1/510. Weights that are not finite numbers are not drawn,
    and the view says how many there are. `layer` is its number, for the label. `heads` are on at first (None: all); `chosen` is a
    token whose lines are shown while none is pointed at. `causal` says that no token looks at a later one: tokens that it cannot
    see are faint, and their weights are not sent (None: found from the weights). `starts` are the positions of the first query
    and key, if they are a part of a longer text. `simple` offers beginners only the choice of heads and of the smallest weight
    drawn. Views with the same `link` highlight the same query.

    Pointing at a token, or stepping to it by keyboard, shows only its lines, with numbers: the mean of the heads that are on (or
    their maximum, if the reader chose that). The reader's choices (heads, threshold, layout and so on) stay when new data
    arrives. Changes are sent as `chosen`: `{"heads": [...]}`, or `{"token": [side, position]}` (None: deselected). `cuts`: a
    click on a line, or on a token of one side and then one of the other, sends `{"cut": [query, key], "heads": [...]}`, with
    positions in the text; lines that are already cut, given as head, query and key, are drawn broken. None: lines cannot be cut.
    Raises ValueError where shapes, heads or the chosen token do not fit, or weights lie outside of [0, 1].
    """
    weights = np.asarray(weights)
    if weights.ndim != 3 or weights.shape[1:] != (len(queries), len(keys)):
        fit = f"[heads, {len(queries)} queries, {len(keys)} keys]"
        raise ValueError(f"Weights of shape {list(weights.shape)}: give one layer’s {fit}.")
    count = weights.shape[0]
    heads = list(range(count)) if heads is None else sorted({int(head) for head in heads})
    if heads and not 0 <= heads[0] <= heads[-1] < count:
        raise ValueError(f"Heads {heads} of a layer that has {count}: they count from 0.")
    steps, missing = _steps(weights)
    packed = causal is not False and looks_back_only(steps)
    if causal and not packed and len(queries) > 1:
        raise ValueError("causal=True, but a token looks at a later one: leave causal out, or mask the weights.")
    small = np.add(steps, 0.5, out=steps).astype(np.uint8)
    names = f"{count} head{'s' if count != 1 else ''}"
    label = f"{names}: {len(queries)} tokens look at {len(keys)}"
    title = f"Layer {layer}, {label}" if layer is not None else label
    same = list(queries) == list(keys) and starts[0] == starts[1]
    header = {
        "label": title,
        "layer": layer,
        "shape": list(weights.shape),
        "starts": [int(start) for start in starts],
        "causal": packed,
        "heads": heads,
        "chosen": _place(chosen, len(queries), len(keys)),
        "from": _side(queries),
        "to": None if same else _side(keys),
        "link": link,
        "simple": simple,
        "cuts": None if cuts is None else [[int(part) for part in cut] for cut in cuts],
        "broken": 0 if missing is None else int(missing.sum()),
        "colours": HEADS,
    }
    arrays = {"weights": lower(small) if packed else small}
    if missing is not None:
        arrays["missing"] = np.packbits(missing, bitorder="little")
    return View("head_view", pack(header, **arrays), title)


def _steps(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the weights in steps of 1/255, not yet rounded, and which are not numbers (None: all are)."""
    steps = np.multiply(weights, 255, dtype=np.float32)
    missing = None
    with np.errstate(invalid="ignore"):
        sound = np.isfinite(steps.sum())
    if not sound:
        missing = ~np.isfinite(steps)
        steps[missing] = 0
    least, most = float(steps.min(initial=0)) / 255, float(steps.max(initial=0)) / 255
    if least < -_SLACK or most > 1 + _SLACK:
        raise ValueError(f"Weights from {least:.3g} to {most:.3g}: attention lies between 0 and 1.")
    return np.clip(steps, 0, 255, out=steps), missing


def _place(chosen: tuple[Side, int] | None, queries: int, keys: int) -> list[Any] | None:
    if chosen is None:
        return None
    side, position = chosen
    if side not in ("from", "to"):
        raise ValueError(f'A chosen token is ("from", position) or ("to", position), not {chosen!r}.')
    count = queries if side == "from" else keys
    if not 0 <= position < count:
        raise ValueError(f'There is no token {position} on the side "{side}", which has {count}.')
    return [side, int(position)]


def _side(tokens: Sequence[Any]) -> dict[str, Any]:
    segments = [int(getattr(token, "segment", 0)) for token in tokens]
    return {
        "tokens": [_short(token.text) for token in tokens],
        "kinds": kinds(tokens),
        "segments": segments if any(segments) else None,
        "rows": row_names(tokens),
    }


def _short(text: str) -> list[str]:
    """Return the pieces of a label, shortened with an ellipsis."""
    short_pieces: list[str] = []
    room = _LONGEST
    for i, piece in enumerate(pieces(text[: _LONGEST + 1])):
        if len(piece) > room:
            return [*short_pieces, piece[:room] + "…"] if i % 2 == 0 else [*short_pieces, piece[:room], "…"]
        short_pieces.append(piece)
        room -= len(piece)
    return short_pieces
