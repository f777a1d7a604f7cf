"""Every head of a model of any size as a thumbnail, perhaps sorted, coloured by a quantity, or filtered; a click chooses one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from viz.palette import HEADS
from viz.triangle import looks_back_only, lower
from viz.view import View, pack
from viz.views.model_view.shrink import shrink


def model_view(
    maps: Iterable[np.ndarray],
    *,
    chosen: tuple[int, int] | None = None,
    notes: Sequence[Sequence[str]] | None = None,
    order: Sequence[int] | np.ndarray | None = None,
    values: np.ndarray | None = None,
    unit: str = "",
    colours: Mapping[str, str] | None = None,
    faint: np.ndarray | None = None,
    side: int = 48,
    largest: int = 64,
    legend: bool = True,
    chooses: bool = False,
    simple: bool = False,
    numbers: Sequence[int] = (),
    link: str = "",
) -> View:
    """Draw thumbnails of `maps` [layers, heads, query, key], attention in [0, 1]; rows are queries (from), columns keys (to).

    Layers are read one after the other, so an iterator needs to hold only one at a time; heads that a layer does not have are
    blank. Weights are sent as uint8, exact to 1/510; above `side` positions each cell is the maximum of the weights that it
    covers, so that no spike is lost. `largest` is the greatest side of a thumbnail in CSS pixels; thumbnails shrink to fit the
    width.

    chosen: (layer, head). notes[layer][head]: a few words for the tooltip and the screen reader.
    order: the order of the heads, a permutation of layer · heads + head; each then has its name, L5 H1. None: a row for each
    layer.
    values [layers, heads]: each colours a frame around its head. Numbers, in `unit`, have an even scale from the smallest to the
    largest; NaN has no frame. Names (strings, at most 16 different ones) have a colour each; "" has no frame. colours: of names,
    "#rrggbb"; other names get a free one.
    faint [layers, heads]: true where a filter leaves a head out; if it leaves out all, a sentence says so.
    numbers: the layers' numbers, if they are not 0, 1, … link: views with the same link highlight the same head, by layer · heads
    + head. legend: lines that name the axes and the scales; chooses: whether rows are those of cross-attention, named by the
    token that they serve to choose; simple: the axes are called "from" and "to", for beginners. Pointing at a head shows it
    larger. A click or Enter sends `chosen`: `[layer, head]`. Raises ValueError if the shapes do not agree, and for an order that
    does not have every head once.
    """
    maps = _thumbnails(maps, side)
    layers, heads = maps.shape[:2]
    if notes is not None and [len(row) for row in notes] != [heads] * layers:
        raise ValueError(f"notes need {layers} rows of {heads}, one a head.")
    if len(numbers := list(numbers) or list(range(layers))) != layers:
        raise ValueError(f"There are {layers} layers, and {len(numbers)} numbers for them.")
    causal = looks_back_only(maps)
    arrays = {"maps": lower(maps) if causal else maps}
    if order is not None:
        arrays["order"] = np.asarray(order, dtype=np.int32).ravel()
        if sorted(arrays["order"].tolist()) != list(range(layers * heads)):
            raise ValueError(f"An order needs each of 0 to {layers * heads - 1} once: layer x {heads} + head.")
    quantity = None
    if values is not None:
        quantity, arrays["values"] = _quantity(_fits(np.asarray(values), layers, heads, "values"), unit, colours or {})
    if faint is not None:
        arrays["faint"] = _fits(np.asarray(faint), layers, heads, "faint").astype(np.uint8)
    known = chosen is not None and 0 <= chosen[0] < layers and 0 <= chosen[1] < heads
    header = {
        "label": (name := f"{layers} layers of {heads} heads"),
        "chosen": [int(chosen[0]), int(chosen[1])] if chosen is not None and known else None,
        "legend": legend,
        "chooses": chooses,
        "simple": simple,
        "shape": maps.shape,
        "causal": causal,
        "largest": largest,
        "notes": [list(row) for row in notes] if notes is not None else None,
        "quantity": quantity,
    } | {"numbers": numbers, "link": link}
    return View("model_view", pack(header, **arrays), name)


def _thumbnails(maps: Iterable[np.ndarray], side: int) -> np.ndarray:
    """Return the maps as uint8 [layers, heads, query, key], `side` positions a side at most; heads that a layer does not have are
    0.
    """
    small, shapes = [], set()
    for layer in maps:
        layer = np.asarray(layer)
        shapes.add(layer.shape[1:])
        if layer.ndim != 3 or not layer.shape[0] or len(shapes) > 1:
            raise ValueError(f"Maps of a layer of shape {list(layer.shape)}: give [layers, heads, query, key].")
        small.append(np.rint(np.clip(np.nan_to_num(shrink(layer, side)), 0, 1) * 255).astype(np.uint8))
    if not small:
        raise ValueError("No maps: give [layers, heads, query, key].")
    heads = max(map(len, small))
    return np.stack(
        [
            np.concatenate([layer_maps, np.zeros((heads - len(layer_maps), *layer_maps.shape[1:]), np.uint8)])
            for layer_maps in small
        ]
    )


def _fits(array: np.ndarray, layers: int, heads: int, name: str) -> np.ndarray:
    if array.shape != (layers, heads):
        raise ValueError(f"{name} of shape {list(array.shape)}: give one a head, [{layers}, {heads}].")
    return array


def _quantity(values: np.ndarray, unit: str, colours: Mapping[str, str]) -> tuple[dict, np.ndarray]:
    """Return the legend, and the place of each head on it: 0 to 1, or the number of its name; NaN for none."""
    if values.dtype.kind in "UOT":
        names = sorted({str(name) for name in values.ravel() if name}, key=lambda name: (-(values == name).sum(), name))
        if len(names) > len(HEADS):
            raise ValueError(f"{len(names)} different names: there are {len(HEADS)} colours.")
        places = {name: i for i, name in enumerate(names)}
        on = np.array([[places.get(str(name), np.nan) for name in row] for row in values], dtype=np.float16)
        words = [[str(name) for name in row] for row in values]
        free = iter(colour for colour in HEADS if colour not in colours.values())
        in_colours = [colours[name] if name in colours else next(free) for name in names]
        return {"unit": unit, "names": names, "colours": in_colours, "words": words}, on
    values = np.where(np.isfinite(values.astype(np.float64)), values, np.nan)
    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    share = (values - low) / ((high - low) or 1.0)
    words = [["" if np.isnan(value) else f"{_number(value)} {unit}".strip() for value in row] for row in values]
    return {"unit": unit, "low": _number(low), "high": _number(high), "words": words}, share.astype(np.float16)


def _number(value: float) -> str:
    """Format a number with three significant digits, never in scientific notation."""
    digits = f"{value:.3g}"
    return np.format_float_positional(float(digits), trim="-").replace("-", "−") if float(digits) else "0"
