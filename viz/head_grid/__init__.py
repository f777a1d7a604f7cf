"""Every head of a model as a thumbnail of its attention, a row a layer; a press chooses one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from viz.view import View, pack

_SIDE = 32  # a thumbnail's most cells a side


def head_grid(
    maps: Iterable[np.ndarray],
    chosen: tuple[int, int] | None = None,
    notes: Sequence[Sequence[str]] | None = None,
    *,
    legend: bool = True,
) -> View:
    """Thumbnails of `maps` [layers, heads, query, key], attention in [0, 1]; down is from (query), across is to (key).

    Layers are taken one after the other, so an iterator needs to hold only one at a time. Sent as uint8, exact to 1/510; above
    32 positions each cell is the maximum of those that it covers, so that no spike is lost. `chosen` is (layer, head) or None.
    `notes[layer][head]` is a few words for the tooltip and the screen reader.
    `legend` adds a line that names the axes and the scale.
    A press or Enter tells `chosen`: `[layer, head]`. Raises ValueError if `maps` or `notes` have another shape.
    """
    small, shapes = [], set()
    for layer in maps:
        layer = np.asarray(layer)
        shapes.add(layer.shape)
        if layer.ndim != 3 or 0 in layer.shape[:1] or len(shapes) > 1:
            raise ValueError(f"Maps of a layer of shape {layer.shape}: give [layers, heads, query, key].")
        small.append(_small(layer))
    if not small:
        raise ValueError("No maps: give [layers, heads, query, key].")
    layers, heads = len(small), len(small[0])
    if notes is not None and [len(row) for row in notes] != [heads] * layers:
        raise ValueError(f"notes need {layers} rows of {heads}, one a head.")
    name = f"{layers} layers of {heads} heads"
    known = chosen is not None and 0 <= chosen[0] < layers and 0 <= chosen[1] < heads
    header = {
        "label": name,
        "chosen": [int(chosen[0]), int(chosen[1])] if chosen is not None and known else None,
        "legend": legend,
        "notes": [list(row) for row in notes] if notes is not None else None,
    }
    return View("head_grid", pack(header, maps=np.stack(small)), name)


def _small(maps: np.ndarray) -> np.ndarray:
    """uint8, at most 32 x 32 a map: maxima over spans as equal as can be."""
    for axis in (1, 2):
        size = maps.shape[axis]
        if size <= _SIDE:
            continue
        edges = np.arange(_SIDE + 1) * size // _SIDE
        starts, last = edges[:-1], edges[1:] - 1
        most = maps.take(starts, axis)
        for step in range(1, int((last - starts).max()) + 1):  # ten times quicker than np.maximum.reduceat
            np.maximum(most, maps.take(np.minimum(starts + step, last), axis), out=most)
        maps = most
    return np.rint(np.clip(np.nan_to_num(maps), 0, 1) * 255).astype(np.uint8)
