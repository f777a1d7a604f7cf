"""Tokens as points that move from layer to layer, in three or two dimensions: readers can play, pause, rotate, and follow one
token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from viz.palette import HEADS, LIGHT
from viz.tokens import label as written
from viz.view import View, pack

OTHER = "other"  # the name of those that come in no colour of their own


def space_view(
    tokens: Sequence[Any],
    points: np.ndarray,
    *,
    stages: Sequence[str] | None = None,
    values: np.ndarray | Sequence[str] | None = None,
    quantity: str = "",
    unit: str = "",
    log: bool = False,
    axes: Sequence[str] | None = None,
    near: np.ndarray | None = None,
    near_by: str = "",
    notes: Sequence[str] | None = None,
    chosen: int | None = None,
    title: str = "",
    name: str = "",
    opens: int | None = None,
    simple: bool = False,
) -> View:
    """Draw points [stage, token, 2 or 3 dimensions] in one space, one stage at a time; between two stages they move evenly.

    tokens: strings, or objects with `.text`. stages: the name of each; by default "input", "after L0", …
    values: a colour for each token, by numbers [token] or [stage, token] in `unit` (cividis from the smallest to the largest; NaN
    is grey) or by names (the 15 most frequent in colours of their own, the rest as "other"; "" is grey). log: colour numbers
    above zero by their logarithm. quantity: the meaning of the colours. axes: names of the axes.
    near: int [stage, token, k], each token's nearest tokens in all dimensions, shown for the token that is pointed at; near_by:
    the measure, in words.
    notes: words about each token. chosen: the token to follow.
    name: pictures of the same name share the viewpoint, even if the picture was away for a while. opens: the stage that is shown
    first, by default the last. simple: for beginners, without trails at first (only that of the token that is pointed at or
    followed), and without coordinates in the table.

    A click on a point sends `chosen`: its number, or None when it is deselected. Raises ValueError where shapes do not agree.
    """
    points = np.asarray(points, dtype=np.float32)
    count = len(tokens)
    if points.ndim != 3 or points.shape[1] != count or points.shape[2] not in (2, 3) or not len(points) or not count:
        raise ValueError(f"Points of shape {list(points.shape)}: give [stage, {count} tokens, 2 or 3 dimensions].")
    if not np.isfinite(points).all():
        raise ValueError("Some of the points are not numbers (NaN or infinite), so they cannot be drawn.")
    stages = layer_names(len(points)) if stages is None else list(stages)
    if len(stages) != len(points):
        raise ValueError(f"There are {len(points)} stages, and {len(stages)} names for them.")
    if axes is not None and len(axes) != points.shape[2]:
        raise ValueError(f"There are {points.shape[2]} axes, and {len(axes)} names for them.")
    if notes is not None and len(notes) != count:
        raise ValueError(f"There are {count} tokens, and {len(notes)} notes about them.")
    arrays = {"points": points}
    if near is not None:
        near = np.asarray(near, dtype=np.int32)
        if near.ndim != 3 or near.shape[:2] != points.shape[:2]:
            raise ValueError(f"Neighbours of shape {list(near.shape)}: give [{len(points)} stages, {count} tokens, k].")
        arrays["near"] = near
    colours = None
    if values is not None:
        colours, arrays["values"] = _colours(np.asarray(values), len(points), count, unit, log)
    label = title or f"{count} token{'s'[: count != 1]} in {points.shape[2]} dimensions, {len(stages)} stages"
    header = {
        "label": label,
        "name": name,
        "names": [short(token if isinstance(token, str) else token.text) for token in tokens],
        "stages": stages,
        "near_by": near_by,
        "axes": list(axes) if axes is not None else None,
        "colours": colours,
        "quantity": quantity,
        "notes": list(notes) if notes is not None else None,
        "chosen": int(chosen) if chosen is not None and 0 <= chosen < count else None,
        "opens": len(points) - 1 if opens is None else opens,
        "simple": simple,
    }
    return View("space_view", pack(header, **arrays), label)


def layer_names(count: int, numbers: Sequence[int] = ()) -> list[str]:
    """Return the names of hidden states [layers + 1, …]. numbers: the layers' numbers, if they are not 0, 1, …"""
    return ["input", *(f"after L{number}" for number in numbers or range(count - 1))]


def short(text: str, length: int = 22) -> str:
    """Return a token as a label beside its point: without the space before it."""
    text = written(text.strip(" ") or text)
    return text if len(text) <= length else text[: length - 1] + "…"


def _colours(values: np.ndarray, stages: int, count: int, unit: str, log: bool) -> tuple[dict, np.ndarray]:
    """Return the legend, and the place of each token on it, [stage, token]: 0 to 1, or the number of its name; NaN for grey."""
    if values.shape not in ((count,), (stages, count)):
        raise ValueError(f"Values of shape {list(values.shape)}: give [{count} tokens] or [{stages} stages, {count} tokens].")
    if values.dtype.kind in "UOT":
        labels = [str(value) for value in values.ravel() if value]
        names = sorted(dict.fromkeys(labels), key=lambda name: -labels.count(name))
        if len(names) > len(HEADS):
            names = names[: len(HEADS) - 1]
        places = {name: i for i, name in enumerate(names)}
        rest = len(set(labels)) > len(names)
        if rest:
            names = [*names, OTHER]
        on = np.array([places.get(str(value), len(places) if value else np.nan) for value in values.ravel()], dtype=np.float16)
        legend = {"names": names, "inks": HEADS[: len(names)], "rest": rest}
        return legend, np.broadcast_to(on.reshape(values.shape), (stages, count))
    values = np.where(np.isfinite(values.astype(np.float64)), values, np.nan).astype(np.float32)
    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    if log and not low > 0:
        raise ValueError("Only numbers above zero can be coloured by their logarithm.")
    return {"low": low, "high": high, "unit": unit, "log": log}, np.ascontiguousarray(np.broadcast_to(values, (stages, count)))


def token_colours(values: np.ndarray | Sequence[str] | None, count: int) -> list[str]:
    """Return the colours of the tokens on a light page at the last stage, as "#rrggbb", for pictures in files."""
    if values is None:
        return [LIGHT["accent"]] * count
    values = np.asarray(values)
    stages = len(values) if values.ndim == 2 else 1
    legend, on = _colours(values, stages, count, "", False)
    if "names" in legend:
        inks = [*legend["inks"]]
        if legend["rest"]:
            inks[len(legend["names"]) - 1 :] = [LIGHT["soft"]]
        return [LIGHT["soft"] if np.isnan(place) else inks[int(place)] for place in on[-1]]
    from plotly.colors import sample_colorscale, validate_colors

    part = (on[-1] - legend["low"]) / ((legend["high"] - legend["low"]) or 1)
    scale = sample_colorscale("cividis", np.nan_to_num(0.9 * part.astype(np.float64)).tolist(), colortype="tuple")
    hexes = ["#" + "".join(f"{round(255 * v):02x}" for v in colour) for colour in validate_colors(scale, colortype="tuple")]
    return [LIGHT["soft"] if np.isnan(p) else colour for p, colour in zip(part, hexes, strict=True)]
