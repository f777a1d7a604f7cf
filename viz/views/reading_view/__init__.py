"""A readable text with shaded words: by how much one word looks at them, in one head or several, or by a number for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from viz.numbers import decimal, halved, whole_percent
from viz.palette import HEADS
from viz.tokens import kinds, label, quoted, reading_pieces
from viz.triangle import looks_back_only, lower
from viz.view import View, pack


def reading_view(
    tokens: Sequence[Any],
    weights: np.ndarray | None,
    chosen: int | None = None,
    summary: bool = True,
    *,
    causal: bool = True,
    direction: Literal["from", "to"] = "from",
    toggle: bool = False,
    second: int | None = None,
    link: str = "",
    colours: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    quantity: Sequence[float] | np.ndarray | None = None,
    unit: str = "",
    own_from: int | None = None,
    apart: int | None = None,
    diverging: bool = False,
    whole: bool = False,
) -> View:
    """Draw the text as a paragraph; pointing at a token shades the others by its row of `weights`.

    `tokens` have `text`, `special` and `fragment`; `weights` is [query, key], the attention of one head (or a mean of heads),
    rows summing to 1, sent as float16, without the upper triangle if no token looks ahead. Weights that are not finite numbers
    are not drawn, and a line says how many there are. `chosen` is the token that is shown while none is pointed at (None: the
    last). `summary` adds a sentence on the strongest. `causal` draws tokens that the shown one cannot see (all later ones) faint.
    `direction` "to" shades by column instead: which tokens look at this one; `toggle` lets the reader change that. A token that
    looks nowhere is always shown by column. `second` is the position at which another text begins, on its own line (a target
    below its source); `own_from` is the position at which a model's own text begins, in bold; tokens with an `after` name rows of
    cross-attention, and the sentence says so. Views with the same `link` highlight the same token. A click, Enter or Space sends
    `chosen`: the position.

    Several heads: `weights` [heads, query, key]. The text is shaded by their mean; under each word every head has a strip in its
    colour, as opaque as `palette.shade` of its weight, in 25 steps; each head is sent as uint8, exact to 1/510. `colours` are
    "#rrggbb" (by default those of the palette); `names` are those of the heads (by default H0, H1, …).
    A number for each token instead of attention: `quantity` [position], NaN for none, in `unit`, with `weights` None. Shades run
    from 0 to the largest; negative numbers have another colour, and both colours run to the largest absolute value. `apart` is a
    position whose number is left out of that scale: it is written in the legend, and the token has no shade. `diverging`:
    numbers above 0 are red, as in pictures of what speaks for and against a prediction. `whole`: shares of 100 are written in
    whole per cent.
    Raises ValueError if the shapes do not agree.
    """
    count = len(tokens)
    if quantity is not None:
        numbers = np.asarray(quantity, dtype=np.float64)
        return _of_quantity(tokens, numbers, unit, chosen, summary, second, link, apart, diverging, whole)
    weights = np.asarray(weights)
    heads = None
    if weights.ndim == 3 and weights.shape[1:] == (count, count) and len(weights):
        heads, weights = weights, _sound(weights).mean(0, dtype=np.float64)
    if weights.shape != (count, count):
        raise ValueError(f"Weights of shape {weights.shape} for {count} tokens: give one head’s [query, key], {(count, count)}.")
    if direction not in ("from", "to"):
        raise ValueError(f'direction is "from" or "to", not {direction!r}.')
    header = _header("The text, shaded by attention", tokens, chosen, summary, second, link)
    broken = int((~np.isfinite(weights if heads is None else heads)).sum())
    half = _as_float16(_sound(weights))
    packed = looks_back_only(half)
    toggle = toggle and not any(header["after"])  # two texts: one looks, the other is looked at
    header |= {"causal": causal, "direction": direction, "toggle": toggle, "packed": packed, "broken": broken}
    header |= {} if own_from is None else {"said": int(own_from)}
    arrays = {"weights": lower(half) if packed else half}
    if heads is not None:
        small = np.rint(np.clip(_sound(heads), 0, 1) * 255).astype(np.uint8)
        inks = _colours(colours, len(heads))
        names = list(names) if names is not None else [f"H{head}" for head in range(len(heads))]
        if not len(inks) == len(names) == len(heads):
            raise ValueError(f"There are {len(heads)} heads, {len(inks)} colours and {len(names)} names.")
        header["heads"] = {"colours": inks, "names": names}
        arrays["heads"] = lower(small) if packed else small
    return View("reading_view", pack(header, **arrays), header["label"])


def _sound(weights: np.ndarray) -> np.ndarray:
    """Return the weights, with 0 in place of NaN."""
    return np.nan_to_num(weights, posinf=0.0, neginf=0.0)


def _as_float16(weights: np.ndarray) -> np.ndarray:
    """Return weights as float16; a weight above 0 never becomes 0, so tokens without any attention stay recognizable."""
    half = halved(weights)
    half[(half == 0) & (weights > 0)] = np.finfo(np.float16).smallest_subnormal
    return half


def _colours(colours: Sequence[str] | None, count: int) -> list[str]:
    if colours is None:
        return [HEADS[head % len(HEADS)] for head in range(count)]
    if wrong := [colour for colour in colours if not re.fullmatch("#[0-9a-fA-F]{6}", colour)]:
        raise ValueError(f'A colour is written as "#b43c00", not {wrong[0]!r}.')
    return list(colours)


def _of_quantity(
    tokens: Sequence[Any],
    quantity: np.ndarray,
    unit: str,
    chosen: int | None,
    summary: bool,
    second: int | None,
    link: str,
    apart: int | None,
    diverging: bool,
    whole: bool,
) -> View:
    if quantity.shape != (len(tokens),):
        raise ValueError(f"A quantity of shape {list(quantity.shape)} for {len(tokens)} tokens: give one number a token.")
    scaled = quantity if apart is None else np.delete(quantity, apart)
    known = scaled[np.isfinite(scaled)]
    low, high = min(0.0, known.min(initial=0.0)), known.max(initial=0.0)
    signed = low < 0
    if signed:
        high = max(-low, high)
        low = -high
    on = np.where(np.isfinite(quantity), quantity / (high or 1.0), 0.0)
    header = _header(f"The text, shaded by {unit}" if unit else "The text, shaded", tokens, chosen, summary, second, link)
    header |= {"causal": False, "direction": "from", "toggle": False, "packed": False, "broken": 0}
    sign = "\u00a0%" if unit == "%" else ""  # short enough to stand below a word too
    least = 10.0 ** np.floor(np.log10(high or 1.0)) / 1000  # of what is so much less than the most, no digits are said
    rounded = np.where(np.abs(quantity) < least, 0.0 * quantity, quantity)
    words, ends = (_in_words(each, sign, whole) for each in (quantity if whole else rounded, (low, high)))
    header["quantity"] = {"unit": "" if sign else unit, "low": ends[0], "high": ends[1], "words": words} | (
        {"signed": True} if signed else {}
    )
    header["quantity"] |= ({} if apart is None else {"apart": apart}) | ({"diverging": True} if diverging else {})
    return View("reading_view", pack(header, on=on.astype(np.float16)), header["label"])


def _in_words(values: Iterable[float], sign: str, whole: bool) -> list[str]:
    if whole:
        return [whole_percent(value / 100) if np.isfinite(value) else "–" for value in values]
    return [text if text == "–" else text + sign for text in map(decimal, values)]


def _header(
    label: str, tokens: Sequence[Any], chosen: int | None, summary: bool, second: int | None, link: str
) -> dict[str, Any]:
    count = len(tokens)
    after = [quoted(token.after) if getattr(token, "after", None) else "" for token in tokens]
    return {
        "label": label if count else "No text",
        "chosen": -1 if not count else min(count - 1, max(0, count - 1 if chosen is None else chosen % count)),
        "tokens": [reading_pieces(token.text) for token in tokens],
        "names": [_name(token) for token in tokens],
        "after": after if any(after) else [],
        "kinds": kinds(tokens),
        "summary": summary,
        "second": -1 if second is None else int(second),
        "link": link,
    }


def _name(token: Any) -> str:
    """Return the name of a token in the sentence below: its word without the space before it, or the sign for it."""
    word = token.text.strip(" ")
    return label(word) if word else "space"
