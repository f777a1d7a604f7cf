"""Measures of heads from their weights: copying, matching, ranks, and which earlier heads they read."""

from __future__ import annotations

import numpy as np
import streamlit as st

from analysis.composition import WAYS, HeadWeights, head_weights
from pages.heads import recipes
from pages.heads import state as page_state
from pages.heads.corpus import HERE
from ui import state
from ui.choices import heads
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.show import choice, show
from ui.words import say

COLUMNS = {"copying": "copying", "matching": "matching", "ov_rank": "OV rank", "qk_rank": "QK rank"}


def panel(look: Look) -> list[Picture]:
    """Draw a square of which heads read which earlier ones, and a table of heads."""
    if look.kind == "cross":
        say(HERE, "weights cross")
        return []
    try:
        look.model.query_weights(look.kind, 0), look.model.output_weights(look.kind, 0)
    except ValueError:
        say(HERE, "weights unknown")
        return []
    weights = jobs.result(
        ("head weights", look.model.info.name, look.model.condition, look.kind),
        lambda report: head_weights(look.model, look.kind, report),
        "Comparing heads with earlier ones",
    )
    if weights is None:
        return []
    names = [look.named(layer, head) for layer, head in zip(weights.table["layer"], weights.table["head"], strict=True)]
    if weights.normed:
        say(HERE, "weights normed")
    return [composition_square(look, weights, names), summary(look, weights, names)]


def composition_square(look: Look, weights: HeadWeights, names: list[str]) -> Picture:
    """Draw which heads read which earlier ones, by the chosen way."""
    way = one_of(page_state.HEADS_WAY, page_state.HEADS_WAY.values, "the composition", label="Reads earlier heads by its")
    state.keep(page_state.HEADS_WAY, way, page_state.HEADS_WAY.values[0])
    values = weights.composition[WAYS.index(way)]
    numbers = Numbers(values.astype(np.float32), ("head", "earlier head"), {"head": names, "earlier head": names})
    drawing = Picture(
        recipes.composition,
        (look,),
        {"kind": look.kind, "way": way, "chosen": (look.layer, look.head)},
        "heads-composed",
        lambda: {"composition": numbers},
        title="Which earlier heads a head reads",
        takes=("model",),
        known={"weights": weights},
    )
    press(drawing, weights)
    if not np.isfinite(values).any():
        say(HERE, "composed one layer")
        return drawing
    head, earlier = divmod(int(np.nanargmax(values)), len(names))
    facts = {"head": names[head], "earlier": names[earlier], "most": f"{values[head, earlier]:.3f}"}
    say(HERE, "composed", way=way, random=f"{weights.random:.3f}", **facts)
    return drawing


def summary(look: Look, weights: HeadWeights, names: list[str]) -> Picture:
    """Draw copying, matching and ranks, a row for each head."""
    st.markdown("##### Copying, matching, ranks")
    columns = {name: weights.table[name].to_numpy(np.float32) for name in weights.table.columns[2:]}
    drawing = Picture(
        recipes.by_weights,
        (look,),
        {"kind": look.kind, "columns": COLUMNS},
        "heads-weights",
        lambda: {name: Numbers(each, ("head",), {"head": names}) for name, each in columns.items()},
        title="What heads are by their weights",
        takes=("model",),
        known={"weights": weights},
    )
    press(drawing, weights)
    say(HERE, "weights")
    return drawing


def press(drawing: Picture, weights: HeadWeights) -> None:
    """Place a picture; a click chooses the head of its row."""

    def choose_row() -> None:
        row = weights.table.iloc[int(choice(drawing.key)[0])]
        heads.choose(int(row["layer"]), int(row["head"]))

    show(drawing.drawn, drawing.key, choose_row)
