"""The stages of a text's path, each with a thin strip of its numbers, in one row or on a line each; a click opens one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.view import View, pack

CELLS = 256  # of a strip: of more numbers, each cell is the largest in size of those that it covers
BOTH, ONE_SIDE = ("below zero", "above zero"), ("zero", "large")  # the ends of the two scales
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


def way_view(
    stops: Sequence[Stop],
    chosen: str = "",
    *,
    strip: bool = False,
    label: str = "",
    explained: Sequence[Stop] = (),
    ends: tuple[str, str] = ONE_SIDE,
) -> View:
    """Draw the stages in order. strip: whether they are small and side by side, in their groups; else each has a line. chosen:
    the key of the open one. explained: stages, here or further down, whose colours are explained above the lines; ends: words for
    the ends of the scale of those that are never below zero. A click or Enter sends `chosen`: `{"key", "n"}`, where `n` grows."""
    strips, signed = [], []
    for stop in stops:
        cells, both = shades(np.zeros(0) if stop.values is None else stop.values)
        strips.append(cells)
        signed.append(both)
    header: dict[str, Any] = {
        "label": label or f"{len(stops)} stages",
        "strip": strip,
        "key": _key(explained, ends),
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


def _key(stops: Sequence[Stop], ends: tuple[str, str]) -> dict[str, Any] | None:
    """Return the words about the colours of stages, None for a scale that none of them has; None where none has a strip."""
    drawn = [shades(stop.values) for stop in stops if stop.values is not None]
    kinds = {both for cells, both in drawn if cells.size}
    if not kinds:
        return None
    signed, counts = (list(words) if kind in kinds else None for kind, words in ((True, BOTH), (False, ends)))
    return {"before": "Colours of the strips:", "signed": signed, "counts": counts}


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
