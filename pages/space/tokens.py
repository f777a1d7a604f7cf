"""The tokens of the text, moving from layer to layer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import streamlit as st

from analysis import words
from models.tokens import Token
from pages.space import scene, take_away
from ui import state
from ui.choices.widgets import one_of
from ui.look import Look
from ui.words import say
from viz.views.space_view import short


def draw(folder: Path, look: Look) -> None:
    model, trace = look.model, look.trace
    colour = state.COLOUR.default

    def pick_colour() -> None:
        nonlocal colour
        colour = one_of(state.COLOUR, state.COLOUR.values, "the colour")

    left, right = st.columns([7, 4])
    with left:
        stack = pick_stack(look)
        chosen = scene.choose(pick_colour)
        tokens = trace.target if stack == "decoder" else trace.tokens
        called = look.written(tokens)
        places = scene.thinned(look.shown(tokens).places, len(trace.hidden[stack]), chosen)
        if len(places) < 2:
            st.info("One token has no place among others: a projection shows how tokens lie relative to each other. Type a word.")
            return
        tokens, hidden = [called[i] for i in places], trace.hidden[stack][:, places]
        made = scene.arranged((model.info.name, trace.text, look.second, stack, tuple(places)), hidden, chosen)
        if made:
            colours = coloured(colour, tokens, places, hidden)
            names = [token.text for token in tokens]
            scene.view(made, names, "space-view", notes=[f"position {place}" for place in places], **colours)
            columns = {"token": [short(one) for one in names], "position": places, "part": parts(tokens)}
            take_away.draw("tokens", made, names, hidden, columns, colours["values"], [(model, trace)])
    with right:
        st.markdown("##### In words")
        say(folder, "tokens", layers=len(hidden) - 1, d=model.info.d_model)
        if made:
            scene.faith(folder, made, chosen)
            if colour == "Norm" and chosen.measure == "cosine":
                say(folder, "norm")


def pick_stack(look: Look) -> str:
    """Which stack of an encoder-decoder; "self" where there is one."""
    stacks = tuple(look.trace.hidden)
    if len(stacks) == 1 or look.beginner:
        return stacks[0]
    return one_of(state.STACK, [one.capitalize() for one in stacks], "the stack").lower()


def coloured(colour: str, tokens: list[Token], places: list[int], hidden: np.ndarray) -> dict:
    """What the view takes for a choice of colours."""
    match colour:
        case "Token":
            names = [short(token.text) for token in tokens]
            count = Counter(names)
            return {"values": [name if count[name] > 1 else "" for name in names], "quantity": "tokens that come twice or more"}
        case "Part of word":
            return {"values": parts(tokens), "quantity": "part of word"}
        case "Norm":
            norms = np.linalg.norm(hidden, axis=-1)
            return {"values": norms, "quantity": "norm", "log": bool(norms.min() > 0)}
    return {"values": np.array(places), "quantity": "position"}


def parts(tokens: list[Token]) -> list[str]:
    """Where each token stands in its word."""
    found = ["" for _ in tokens]
    for group in words(tokens):
        for i in group:
            if tokens[i].special:
                found[i] = "special"
            elif not any(character.isalnum() for character in tokens[i].text):
                found[i] = "no letter or digit"
            else:
                found[i] = "whole word" if len(group) == 1 else "first part" if i == group[0] else "later part"
    return found
