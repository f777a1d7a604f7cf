"""The stages of a text's path, each with a thin strip of its numbers, in one row or on a line each; a click opens one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.view import View, pack

CELLS = 256  # of a strip: of more numbers, each cell is the largest in size of those that it covers
KEY = {"before": "Colours of the strips:", "signed": ["below zero", "above zero"], "counts": ["zero", "large"]}
CLEAR = 0.99  # of the numbers stay within the colours; the others have the strongest


@dataclass(frozen=True)
class Stop:
    """A stage. key: sent by a click; name: a word or two; gist: its work in a few words; shape: of its numbers; values: float, of
    any shape, the numbers of its strip; group: the name of its group."""

    key: str
    name: str
    gist: str = ""
    shape: str = ""
    values: np.ndarray | None = None
    group: str = ""


def way_view(stops: Sequence[Stop], chosen: str = "", *, strip: bool = False, label: str = "", key: bool = False) -> View:
    """Draw the stages in order. strip: whether they are small and side by side, in their groups; else each has a line. chosen:
    the key of the open one. key: whether the colours are explained above the lines. A click or Enter sends `chosen`: `{"key",
    "n"}`, where `n` grows."""
    strips, signed = [], []
    for stop in stops:
        cells, both = shades(np.zeros(0) if stop.values is None else stop.values)
        strips.append(cells)
        signed.append(both)
    header: dict[str, Any] = {
        "label": label or f"{len(stops)} stages",
        "strip": strip,
        "key": KEY if key and any(cells.size for cells in strips) else None,
        "chosen": chosen,
        "keys": [stop.key for stop in stops],
        "names": [stop.name for stop in stops],
        "gists": [] if strip else [stop.gist for stop in stops],
        "shapes": [] if strip else [stop.shape for stop in stops],
        "groups": [stop.group for stop in stops],
        "signed": signed,
        "counts": [len(cells) for cells in strips],
    }
    joined = np.concatenate(strips) if strips else np.zeros(0, dtype=np.uint8)
    return View("way_view", pack(header, shades=joined), header["label"])


def shades(values: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return numbers as the bytes of a strip, and whether they are on both sides of zero: then 128 is zero."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    flat = np.where(np.isfinite(flat), flat, 0.0)  # what is hidden has no colour
    if flat.size < 2:
        return np.zeros(0, dtype=np.uint8), False  # a single number is no strip
    if flat.size > CELLS:
        starts = np.arange(CELLS) * flat.size // CELLS
        low, high = np.minimum.reduceat(flat, starts), np.maximum.reduceat(flat, starts)
        flat = np.where(-low > high, low, high)
    signed = bool(flat.min() < 0)
    sizes = np.sort(np.abs(flat))
    limit = float(sizes[math.ceil(CLEAR * (sizes.size - 1))]) or float(sizes[-1]) or 1.0
    share = np.clip(flat / limit, -1, 1)
    return np.rint(128 + 127 * share if signed else 255 * share).astype(np.uint8), signed
