"""An image in patches, shaded by how much one looks at each other or by a number for each; a drag hides patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from viz.numbers import decimal, halved, whole_percent
from viz.view import View, pack

EVERY_ROW = 800  # tokens, up to which the weights of all of them are sent; beyond, only those of the chosen one


def patch_view(
    picture: np.ndarray,
    tokens: Sequence[Any],
    weights: np.ndarray | None = None,
    chosen: int = 0,
    *,
    link: str = "",
    writes: str = "",
    small: bool = False,
    values: np.ndarray | None = None,
    unit: str = "",
    whole: bool = False,
) -> View:
    """Draw an image with a grid over its patches, and the tokens before them as chips above it.

    picture: uint8 [height, width, 3], as the model reads it. `tokens` are those of the image in their order: special ones
    (`text`, `special`), then patches (`row`, `column`, `box`, `covered`), row by row. weights: [query, key] of one head, rows
    summing to 1; pointing at a token shades the others by its row, the largest weight fully. None: no shade. chosen: the token
    whose row is shown while none is pointed at. Views with the same `link` highlight the same token. A click or Enter sends
    `chosen`: the position.

    values: a number for each token in place of weights, in `unit`: [token], NaN for none. Numbers above 0 are red, below 0 blue,
    as in pictures of what speaks for and against a prediction; the largest size of a patch has the full colour. whole: shares of
    100 are written in whole per cent.
    writes: the name of the image in the text box of its page: a switch then lets a drag hide patches, and each change writes the
    name with the hidden patches, as in "digit 3 without 1.2 4.4" (row and column, counted from 1). small: for several side by
    side, without the sentence below. Raises ValueError for tokens without patches, and for weights of another size.
    """
    leading = [token for token in tokens if token.special]
    patches = [token for token in tokens if not token.special]
    if not patches:
        raise ValueError("There is no patch among these tokens: an image has some.")
    if weights is not None and np.shape(weights) != (len(tokens), len(tokens)):
        raise ValueError(f"Weights of shape {np.shape(weights)} for {len(tokens)} tokens: give one head’s [query, key].")
    last = patches[-1]
    chosen = int(np.clip(chosen, 0, len(tokens) - 1))
    header: dict[str, Any] = {
        "label": f"The image in {last.row + 1} × {last.column + 1} patches",
        "leading": [token.text for token in leading],
        "rows": last.row + 1,
        "columns": last.column + 1,
        "hidden": [i for i, patch in enumerate(patches) if patch.covered],
        "chosen": chosen,
        "link": link,
        "writes": writes,
        "small": small,
    }
    if values is not None and np.shape(values) != (len(tokens),):
        raise ValueError(f"Values of shape {np.shape(values)} for {len(tokens)} tokens: give one number a token.")
    if values is not None:
        numbers = np.asarray(values, np.float64)
        of_patches = [i for i, token in enumerate(tokens) if not token.special]  # beside [CLS] they would all look pale
        known = numbers[of_patches] if np.nan_to_num(numbers[of_patches]).any() else numbers
        known = known[np.isfinite(known)]
        words = [whole_percent(number / 100) if whole and np.isfinite(number) else decimal(number) for number in numbers]
        header["values"] = {"words": words, "largest": float(np.abs(known).max(initial=0.0)), "unit": "" if whole else unit}
    arrays = {"picture": np.ascontiguousarray(picture[: last.box[3], : last.box[2]])}
    if weights is not None:
        rows = np.asarray(weights) if len(tokens) <= EVERY_ROW else np.asarray(weights)[chosen : chosen + 1]
        arrays["weights"] = halved(rows)
    if values is not None:
        arrays["values"] = np.nan_to_num(numbers).astype(np.float32)
    return View("patch_view", pack(header, **arrays), header["label"])
