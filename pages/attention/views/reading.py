"""View "Reading": the text as a paragraph, shaded by where a token looks, or by a number of each token."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.attention import recipes
from ui import state
from ui.choices.token import press
from ui.choices.widgets import one_of
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.show import choice

UNITS = {"entropy": "nats", "surprise": "bits"}


def reading(look: Look) -> Picture | None:
    shade = state.SHADE.default
    if look.beginner:
        state.later("intermediate", state.SHADE)
    else:
        shade = one_of(state.SHADE, state.SHADE.values, "the shade by", label="Shade by")
    one_text, forwards = look.kind != "cross", not look.both_ways
    if (shade in ("rollout", "entropy", "surprise") and not one_text) or (shade == "surprise" and not forwards):
        st.info(
            f"There is no {shade} for this attention. Rollout, entropy and surprise need a single text. "
            "Surprise also needs a decoder."
        )
        return None
    options = {"kind": look.kind, "shade": shade, "layer": look.layer, "head": look.head, "target": look.second}
    if shade in ("entropy", "surprise"):

        def numbers() -> dict[str, Numbers]:
            values = recipes.token_numbers(look.trace, look.scope, shade, look.layer, look.head)
            return {f"{shade}_{UNITS[shade]}": Numbers(values.astype(np.float32), ("token",))}

        return Picture(recipes.quantity, (look,), options, "reading-view", numbers, words=shade)
    chosen = look.chosen_token
    options |= {"causal": look.causal, "chosen": None if chosen is None else look.scope.queries.index(chosen)}
    start = len(look.scope.keys.tokens) if look.kind == "cross" else 0  # the source stands before the target there

    def react() -> None:
        if (position := choice("reading-view") - start) >= 0:
            press(look.scope.queries.groups[position][0], look.newest)

    def weights() -> dict[str, np.ndarray]:
        return {"weights": recipes.shades(look.scope, shade, look.layer, look.head)}

    return Picture(recipes.reading, (look,), options, "reading-view", weights, react, shade)
