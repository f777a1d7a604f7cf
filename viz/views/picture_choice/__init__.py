"""Examples of images to choose from, a small square to draw in, and a button for an image of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from viz.view import View, pack

LARGEST_SIDE = 640  # pixels along the longer side that a browser sends of an image


def picture_choice(
    examples: Mapping[str, np.ndarray], chosen: str = "", levels: np.ndarray | None = None, *, draws: bool = True
) -> View:
    """Draw a row of examples, each as a small image under its name; a press writes the name into the text box of the page.

    examples: uint8 [height, width, 3]. chosen: the name of the one that is read. levels: uint8 [8, 8] from 0 to 15, what the
    square shows at first; None: an empty one. draws: whether there is a square to draw in; each stroke writes "drawn " and the
    levels as hexadecimal digits, row by row.
    For an image of one's own the browser opens a file and makes it smaller; `chosen` then gets `{"picture": base64 of a PNG, "n":
    when}`. Raises ValueError for levels of another shape.
    """
    if levels is not None and levels.shape != (8, 8):
        raise ValueError(f"Levels of shape {list(levels.shape)}: a drawing has 8 × 8 pixels.")
    header: dict[str, Any] = {
        "label": "Examples",
        "names": list(examples),
        "chosen": list(examples).index(chosen) if chosen in examples else -1,
        "draws": draws,
        "largest": LARGEST_SIDE,
    }
    arrays = {f"image{i}": np.ascontiguousarray(image) for i, image in enumerate(examples.values())}
    if levels is not None:
        arrays["levels"] = levels
    return View("picture_choice", pack(header, **arrays), header["label"])
