"""Part "Tokens": the tokens of the text, moving from layer to layer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import streamlit as st

from pages.space import choose
from pages.space import state as page_state
from pages.space.boards.tokens import ABOUT, KEY, PATCHES
from pages.space.compose import compose
from pages.space.settings import Settings, Tokens
from ui.choices.widgets import one_of
from ui.look import Look
from ui.picture.mount import composed, mount, write_beside
from ui.picture.picture import Picture
from ui.show import choice


def draw(look: Look) -> Sequence[Picture]:
    trace = look.trace
    colour, arranged = page_state.COLOUR.default, None
    reads_picture = "image" in look.model.info.reads
    position, *of_tokens, norm, row, column = page_state.COLOUR.values
    of_words, of_patches = (position, *of_tokens, norm), (position, row, column, norm)

    def pick_colour() -> None:
        nonlocal colour
        colour = one_of(page_state.COLOUR, of_patches if reads_picture else of_words, "the colour")

    first = st.container()
    left, right = st.columns([7, 4])
    with left:
        stack = pick_stack(look)
        chosen = choose.projection(pick_colour)
        every = trace.target if stack == "decoder" else trace.tokens
        places = choose.thin_out(look.select(every).places, len(trace.hidden[stack]), chosen)
        if len(places) > 1:
            subject = (look.model.info.name, trace.text, look.second, stack, tuple(places))
            arranged = choose.arrange(subject, trace.hidden[stack][:, places], chosen)
        settings = Settings(chosen, choose.followed(KEY), colour)
        board = composed(compose, look, settings, Tokens(stack, places, arranged))
        clicks = {KEY: choose.follow(KEY), PATCHES: lambda: follow_patch(places)}
        for key in board.contents:
            with first if key == ABOUT else nullcontext():
                mount(board, key, clicks.get(key))
    with right:
        write_beside(board)
    return board.pictures


def pick_stack(look: Look) -> str:
    """Return the chosen stack of an encoder-decoder; "self" where there is only one."""
    stacks = tuple(look.trace.hidden)
    if len(stacks) == 1 or look.beginner:
        return stacks[0]
    return one_of(page_state.STACK, [name.capitalize() for name in stacks], "the stack").lower()


def follow_patch(places: list[int]) -> None:
    """Follow the point of the patch that was pressed; a second press lets it go."""
    position = choice(PATCHES)
    if position not in places:
        return
    point = places.index(position)
    page_state.FOLLOWED.set({**page_state.FOLLOWED.get(), KEY: None if point == choose.followed(KEY) else point})
