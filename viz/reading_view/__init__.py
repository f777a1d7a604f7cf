"""Where a head looks, as a text one can read: the words are shaded by how much one word looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from viz.tokens import kinds, label, reading_pieces
from viz.view import View, pack


def reading_view(
    tokens: Sequence[Any],
    weights: np.ndarray,
    chosen: int | None = None,
    summary: bool = True,
    *,
    causal: bool = True,
    direction: Literal["from", "to"] = "from",
    toggle: bool = False,
    second: int | None = None,
    link: str = "",
) -> View:
    """The text as a paragraph; pointing at a token shades the others by its row of `weights`.

    `tokens` have `text`, `special` and `fragment`; `weights` is [query, key], the attention of one head (or a mean of heads),
    rows summing to 1, sent as float16. `chosen` is the token that is shown while none is pointed at (None: the last).
    `summary` adds a sentence with the strongest. `causal` draws what a token cannot see (all after it) faint. `direction`
    "to" shades by column instead: who looks at the token; `toggle` lets the reader change it. A token that looks nowhere is
    always shown by column. `second` is the position at which another text begins, on a line of its own (a target below its
    source). Views of the same `link` point together. A press, Enter or Space tells `chosen`: the position. Raises ValueError
    if the shapes do not agree.
    """
    count = len(tokens)
    weights = np.asarray(weights)
    if weights.shape != (count, count):
        raise ValueError(f"Weights of shape {weights.shape} for {count} tokens: give one head's [query, key], {(count, count)}.")
    if direction not in ("from", "to"):
        raise ValueError(f'direction is "from" or "to", not {direction!r}.')
    name = "The text, shaded by attention" if count else "No text"
    header = {
        "label": name,
        "chosen": -1 if not count else min(count - 1, max(0, count - 1 if chosen is None else chosen % count)),
        "tokens": [reading_pieces(token.text) for token in tokens],
        "names": [_name(token) for token in tokens],
        "kinds": kinds(tokens),
        "summary": summary,
        "causal": causal,
        "direction": direction,
        "toggle": toggle,
        "second": -1 if second is None else int(second),
        "link": link,
    }
    return View("reading_view", pack(header, weights=np.nan_to_num(weights).astype(np.float16)), name)


def _name(token: Any) -> str:
    """What the sentence below calls a token: its word without the space before it, or what stands for it."""
    word = token.text.strip(" ")
    return label(word) if word else "space"
