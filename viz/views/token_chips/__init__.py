"""The tokens that the model reads, as chips with text, id, position and surprise; a click chooses one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from viz.tokens import kinds, pieces
from viz.view import View, pack


def token_chips(
    tokens: Sequence[Any],
    chosen: int | None = None,
    ids: bool = True,
    positions: bool = False,
    surprise: Sequence[float | None] | None = None,
    *,
    link: str = "",
    notes: Sequence[str] = (),
    label: str = "",
) -> View:
    """Draw a row of chips, one for each token; many chips wrap and scroll inside about four rows.

    `tokens` have `id`, `text`, `special` and `fragment`. `chosen` is a position (negative counts from the end) or None.
    `surprise` is -log2 of the probability of each token given those before it, in bits; None or NaN where there is none (the
    first token). Views with the same `link` highlight the same token. A click, Enter or Space sends `chosen`: the position.
    notes: a few words below each; label: the row's name for screen readers, by default the number of tokens.
    Raises ValueError if `surprise` or `notes` has another length than `tokens`.
    """
    count = len(tokens)
    if surprise is not None and len(surprise) != count:
        raise ValueError(f"{len(surprise)} surprises for {count} tokens: give one a token (None for the first).")
    if notes and len(notes) != count:
        raise ValueError(f"{len(notes)} notes for {count} tokens: give one a token.")
    name = label or f"{count} {'token' if count == 1 else 'tokens'}"
    header: dict[str, Any] = {
        "label": name,
        "chosen": _place(chosen, count),
        "tokens": [pieces(token.text) for token in tokens],
        "kinds": kinds(tokens),
        "link": link,
        "positions": positions,
    }
    if ids:
        header["ids"] = [int(token.id) for token in tokens]
    if notes:
        header["notes"] = list(notes)
    if surprise is not None:
        bits = [None if value is None else float(value) for value in surprise]
        header["surprise"] = [None if b is None or not math.isfinite(b) else round(b, 3) for b in bits]
    return View("token_chips", pack(header), name)


def _place(chosen: int | None, count: int) -> int:
    """Return the chosen position for JavaScript: -1 for none."""
    if chosen is None or not -count <= chosen < count:
        return -1
    return chosen % count
