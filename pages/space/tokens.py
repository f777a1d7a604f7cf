"""Part "Tokens": the tokens of the text, moving from layer to layer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from pages.space import recipes, scene
from ui import state
from ui.choices.widgets import one_of
from ui.look import Look
from ui.picture.picture import Picture
from ui.words import say


def draw(folder: Path, look: Look) -> list[Picture]:
    model, trace = look.model, look.trace
    colour, pictures = state.COLOUR.default, list[Picture]()

    def pick_colour() -> None:
        nonlocal colour
        colour = one_of(state.COLOUR, state.COLOUR.values, "the colour")

    left, right = st.columns([7, 4])
    with left:
        stack = pick_stack(look)
        chosen = scene.choose(pick_colour)
        every = trace.target if stack == "decoder" else trace.tokens
        places = scene.thin_out(look.select(every).places, len(trace.hidden[stack]), chosen)
        if len(places) < 2:
            st.info("One token has no place among others: the picture shows how tokens lie beside each other. Type a word.")
            return []
        spelled, hidden = look.spell_tokens(every), trace.hidden[stack][:, places]
        tokens = [spelled[place] for place in places]
        arranged = scene.arrange((model.info.name, trace.text, look.second, stack, tuple(places)), hidden, chosen)
        if arranged:
            names = [token.text for token in tokens]
            columns: dict[str, Sequence] = {"token": names, "position": places, "part": recipes.word_parts(tokens)}
            picture = scene.place(
                "space-view", "Tokens as points", recipes.tokens, (look,), {"stack": stack, "places": places, "colour": colour},
                chosen, arranged, takes=("model", "trace"), names=names, hidden=hidden, columns=columns,
                values=recipes.colour_options(colour, tokens, places, hidden)["values"],
            )  # fmt: skip
            pictures.append(picture)
    with right:
        st.markdown("##### In words")
        say(folder, "tokens", layers=len(hidden) - 1, d=model.info.d_model)
        if arranged:
            scene.faith(folder, arranged, chosen)
            if colour == "Norm" and chosen.measure == "cosine":
                say(folder, "norm")
    return pictures


def pick_stack(look: Look) -> str:
    """Return the chosen stack of an encoder-decoder; "self" where there is only one."""
    stacks = tuple(look.trace.hidden)
    if len(stacks) == 1 or look.beginner:
        return stacks[0]
    return one_of(state.STACK, [name.capitalize() for name in stacks], "the stack").lower()
