"""Part "Statistics": what every head is like in this text, in numbers, and which heads look alike."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from analysis import head_divergence, head_map, head_statistics
from analysis.similarity import compared_queries
from analysis.statistics import choosing
from pages.layers import heads, recipes
from ui import state
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.show import choice, picture, show, show_chart
from ui.words import say, words
from viz import Card, board, percent

# of each number: its title for beginners ("" for none) and for others, its unit, and the ends of its scale
NUMBERS = {
    "evenness": ("How widely it looks", "Entropy, as a share of its maximum", "%", (0, 1)),
    "entropy": ("", "Entropy", "nats", None),
    "distance": ("How far it looks", "Mean distance", "tokens", None),
    "first": ("How much at the beginning", "Attention to the first token", "%", (0, 1)),
    "previous": ("How much at the word before", "Attention to the token before", "%", (0, 1)),
    "itself": ("", "Attention to itself", "%", (0, 1)),
    "specialisation": ("", "Specialisation", "", None),
    "diversity": ("", "Diversity", "", None),
}
PAIRS = 400  # heads; the matrix of more is too fine to be looked at


def draw(here: Path, look: Look) -> list[Picture]:
    heads.follow()
    kind, attention = look.kind, look.attention
    if len(attention.keys) == 1:
        say(here, "single")
        return []
    subject = (look.model.info.name, look.trace.text, look.second, kind)
    table = jobs.result(("heads", *subject), lambda report: head_statistics(attention, report), "Reading every head")
    if table is None:
        return []
    size = (attention.layers, attention.heads)
    beginner, clicked_head = look.beginner, heads.last_clicked(*size)
    say(here, "statistics cross" if kind == "cross" else "statistics", tokens=len(attention.queries), heads=size[0] * size[1],
        first_layer=attention.numbers[0],
    )  # fmt: skip
    if clicked_head:
        row = table.iloc[clicked_head[0] * size[1] + clicked_head[1]]
        say(
            here, "pressed head", layer=look.number(clicked_head[0]), head=clicked_head[1], evenness=percent(row["evenness"]),
            distance=_number(row["distance"]), first=percent(row["first"]),
        )  # fmt: skip
    cards, pictures = [], []
    whole = replace(look, options={})  # of every token: nothing is hidden or joined here
    for name, (plainly, exactly, unit, scale) in NUMBERS.items():
        values = table[name].to_numpy().reshape(size)
        title = plainly if beginner else exactly
        if title and np.isfinite(values).any():
            unit = "steps" if beginner and unit == "tokens" else unit
            options = {"name": name, "title": title, "unit": unit, "scale": scale, "chosen": clicked_head}
            drawing = Picture(
                recipes.statistic, (whole,), options, "statistics", partial(_each_head, name, values),
                title=title, part=name, known={"values": values},
            )  # fmt: skip
            pictures.append(drawing)
            cards.append(Card([drawing.on_board(words(here, name, **_most(look, values)))], title, 4))
    show(board(cards, "Every head in numbers"), "statistics", chosen=lambda: heads.open_head(*choice("statistics")["value"]))
    if size[0] * size[1] > 1:
        with picture("The map of heads"):
            pictures += _alike(here, look, subject)
    return pictures


def _each_head(name: str, values: np.ndarray) -> dict[str, Numbers]:
    return {name: Numbers(values, ("layer", "head"))}


def _most(look: Look, values: np.ndarray) -> dict[str, object]:
    """Return the head with the largest of [layer, head] shares, and its share."""
    layer, head = np.unravel_index(np.nanargmax(values), values.shape)
    return {"layer": look.number(int(layer)), "head": head, "share": percent(values[layer, head])}


def _alike(here: Path, look: Look, subject: tuple) -> list[Picture]:
    attention = look.attention
    st.markdown("##### Which heads look alike")
    divergence = jobs.result(("alike", *subject), lambda report: head_divergence(attention, report), "Comparing heads")
    if divergence is None:
        return []
    plane, queries = head_map(divergence), compared_queries(attention)
    ordered = divergence + np.where(np.eye(len(divergence)), np.nan, 0)
    near, far = (
        [look.named(*divmod(at, attention.heads)) for at in divmod(int(which(ordered)), len(ordered))]
        for which in (np.nanargmin, np.nanargmax)
    )
    facts: dict[str, Any] = {
        "near": " and ".join(near), "far": " and ".join(far), "least": f"{np.nanmin(ordered):.3f}",
        "most": f"{np.nanmax(ordered):.3f}", "explained": percent(plane.explained), "queries": len(queries),
        "all": len(attention.queries[choosing(attention)]), "heads": len(divergence),
    }  # fmt: skip
    whole, size = replace(look, options={}), (attention.layers, attention.heads)
    names = recipes.head_names(attention)
    points = Picture(
        recipes.head_points, (whole,), {"chosen": heads.last_clicked(*size)}, "head-map",
        lambda: {"place": Numbers(plane.points.reshape(*size, 2), ("layer", "head", "direction"))},
        title="The map of heads", known={"plane": plane},
    )  # fmt: skip
    apart = Picture(
        recipes.divergences, (whole,), {}, "alike",
        lambda: {"divergence_bits": Numbers(divergence, ("head", "other head"), {"head": names, "other head": names})},
        title="How far every two heads are from each other", known={"divergence": divergence},
    )  # fmt: skip
    left, right = st.columns([6, 5])
    with left:
        show_chart(
            points.drawn, "head-map", on_select=lambda: _picked(attention.heads), selection_mode="points",
            config={"displayModeBar": False, "scrollZoom": False},
        )  # fmt: skip
    with right:
        say(here, "alike", **facts)
        if facts["queries"] < facts["all"]:
            say(here, "alike sampled", **facts)
        if look.beginner or len(divergence) > PAIRS:
            return [points]
        show(apart.drawn, "alike", chosen=lambda: heads.open_head(*divmod(choice("alike")[0], attention.heads)))
    return [points, apart]


def _picked(count: int) -> None:
    if points := state.selection("head-map").selection.points:
        heads.open_head(*divmod(points[0]["point_index"], count))


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.1f}"
