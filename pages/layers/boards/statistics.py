"""Boards "Statistics": numbers for every head in this text, and which heads look at the same tokens."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import head_map
from analysis.similarity import compared_queries
from analysis.statistics import choosing, keys_in_sight
from pages.layers import recipes
from pages.layers.settings import Likeness, Settings, Statistics
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz.numbers import percent
from viz.views.board import Card, Part

if TYPE_CHECKING:
    import pandas as pd

KEY, MAP, ALIKE = "statistics", "head-map", "alike"
# of each number: its title, its unit, and the ends of its scale
NUMBERS = {
    "evenness": ("Evenness: entropy as a share of its maximum", "%", (0, 1)),
    "entropy": ("Entropy", "nats", None),
    "distance": ("Mean distance", "tokens", None),
    "first": ("Attention to the first token", "%", (0, 1)),
    "previous": ("Attention to the token before", "%", (0, 1)),
    "itself": ("Attention to itself", "%", (0, 1)),
    "specialisation": ("Specialisation", "", None),
    "diversity": ("Diversity", "", None),
}
SIMPLE = {  # the titles of the same for beginners, who see the first that there is
    "previous": "How much each head looks at the token before",
    "first": "How much each head looks at the beginning",
}
COMMON = ("evenness", "distance", "first", "previous", "itself")  # of these, what is seen below the level of experts
PAIRS = 400  # heads; the matrix of more is too fine to be looked at


def add(draft: Draft, settings: Settings, reading: Statistics) -> None:
    """Add the board of numbers; its first card explains them and has the numbers of the clicked head."""
    look, table, attention = draft.look, reading.table, draft.look.attention
    size = (attention.layers, attention.heads)
    beginner, clicked = look.beginner, settings.clicked_of(*size, look.level)
    about = "statistics cross" if look.kind == "cross" else "statistics"
    above = draft.words(about, tokens=len(attention.queries), heads=size[0] * size[1], first_layer=attention.numbers[0])
    below = ""
    if clicked:
        row = table.iloc[clicked[0] * size[1] + clicked[1]]
        below = draft.words(
            "pressed head",
            layer=look.number(clicked[0]),
            head=clicked[1],
            evenness=percent(row["evenness"]),
            distance=_number(row["distance"]),
            first=percent(row["first"]),
            previous=percent(row["previous"]),
        )
    finding = draft.words("extremes cross" if look.kind == "cross" else "extremes", **_extremes(look, table))
    cards = [Card([Part("about", None, finding, below)])]
    whole = replace(look, options={})  # of every token: nothing is hidden or joined here
    at_level = SIMPLE if beginner else NUMBERS if look.level == "expert" else COMMON
    names = [name for name in at_level if np.isfinite(table[name]).any()]
    for name in names[:1] if beginner else names:
        exactly, unit, scale = NUMBERS[name]
        title, values = SIMPLE[name] if beginner else exactly, table[name].to_numpy().reshape(size)
        options = {"name": name, "title": title, "unit": unit, "scale": scale, "chosen": clicked}
        drawing = Picture(
            recipes.statistic,
            (whole,),
            options,
            KEY,
            partial(_each_head, name, values),
            title=title,
            part=name,
            known={"values": values},
        )
        formula = draft.words(f"formula {name}")
        cards.append(Card([draft.picture(drawing, draft.words(name, **_most(look, values)), formula)], title, 4))
    cards.append(Card([Part("how to read", None, above)]))
    draft.add_cards(KEY, cards, "Every head in numbers")


def add_likeness(draft: Draft, settings: Settings, reading: Likeness) -> None:
    """Add the map of heads, the distances between them, and sentences on both."""
    look, attention, divergence = draft.look, draft.look.attention, reading.divergence
    plane, queries = head_map(divergence), compared_queries(attention)
    ordered = divergence + np.where(np.eye(len(divergence)), np.nan, 0)
    near, far = (
        [look.named(*divmod(at, attention.heads)) for at in divmod(int(which(ordered)), len(ordered))]
        for which in (np.nanargmin, np.nanargmax)
    )
    facts: dict[str, Any] = {
        "near": " and ".join(near),
        "far": " and ".join(far),
        "least": f"{np.nanmin(ordered):.3f}",
        "most": f"{np.nanmax(ordered):.3f}",
        "explained": percent(plane.explained),
        "queries": len(queries),
        "all": len(attention.queries[choosing(attention)]),
        "heads": len(divergence),
    }
    whole, size = replace(look, options={}), (attention.layers, attention.heads)
    names = recipes.head_names(attention)
    points = Picture(
        recipes.head_points,
        (whole,),
        {},
        MAP,
        lambda: {"place": Numbers(plane.points.reshape(*size, 2), ("layer", "head", "direction"))},
        title="The map of heads",
        known={"plane": plane},
    )
    apart = Picture(
        recipes.divergences,
        (whole,),
        {},
        ALIKE,
        lambda: {"divergence_bits": Numbers(divergence, ("head", "other head"), {"head": names, "other head": names})},
        title="How far every two heads are from each other",
        known={"divergence": divergence},
    )
    draft.add(points, MAP)
    draft.say("alike", **facts)
    draft.say("alike measured", "How the distance is measured", **facts)
    if facts["queries"] < facts["all"]:
        draft.say("alike sampled", **facts)
    if len(divergence) <= PAIRS:
        draft.add(apart, ALIKE)


def _extremes(look: Look, table: pd.DataFrame) -> dict[str, object]:
    """Return the head that is extreme in each of a few numbers, with the number of a head that looks evenly."""
    facts: dict[str, object] = {}
    choices = {"narrow": ("evenness", np.nanargmin), "wide": ("evenness", np.nanargmax)}
    for name, (column, which) in (choices | {each: (each, np.nanargmax) for each in ("first", "previous", "itself")}).items():
        values = table[column].to_numpy()
        row = int(which(values)) if np.isfinite(values).any() else 0
        layer, head = (int(table[each].iloc[row]) for each in ("layer", "head"))
        facts |= {name: look.named(layer, head), f"{name}_share": percent(values[row])}
        if name in ("first", "previous"):
            keys = keys_in_sight(look.attention[layer])[choosing(look.attention)]
            facts[f"{name}_even"] = percent(float((1 / keys).mean()))
    return facts


def _each_head(name: str, values: np.ndarray) -> dict[str, Numbers]:
    return {name: Numbers(values, ("layer", "head"))}


def _most(look: Look, values: np.ndarray) -> dict[str, object]:
    """Return the head with the largest of [layer, head] shares, and its share."""
    layer, head = np.unravel_index(np.nanargmax(values), values.shape)
    return {"layer": look.number(int(layer)), "head": head, "share": percent(values[layer, head])}


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.1f}"
