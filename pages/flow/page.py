"""Page "Flow": the path from one token back to the input, by every method side by side, and which of them to believe."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from pages.flow import choose
from pages.flow import state as page_state
from pages.flow.believe import believe
from pages.flow.boards.question import CHIPS, SINGLE, candidates
from pages.flow.compose import HERE, compose
from pages.flow.request import position_of
from pages.flow.settings import Followed, Settings, Tokens
from pages.flow.views import layer_by_layer, side_by_side, streams
from ui import shell, state
from ui.choices import picker, scope
from ui.choices.widgets import one_of, slider, tabs
from ui.look import Look
from ui.memory import loaded
from ui.picture.mount import composed, mount_all
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture
from ui.words import say

VIEWS = dict(zip(page_state.SHOW.values, (side_by_side, layer_by_layer, streams, believe), strict=True))

OF_IMAGES = tuple(view for view in page_state.SHOW.values if view != "Streams")  # the views of a picture


def controls() -> Settings:
    """Place the controls for fusing heads and following layers back in the side bar, at the levels that have them."""
    if state.level() != "expert":
        state.later("expert", page_state.DISCARD, page_state.RESIDUAL)
    if state.level() == "beginner":
        state.later("intermediate", page_state.FUSION)
        return Settings()
    with st.sidebar:
        fusion = one_of(
            page_state.FUSION, page_state.FUSION.values, "heads of a layer as one by", label="Heads of a layer, as one", menu=True
        )
        if state.level() != "expert":
            return Settings(choices=(("fusion", fusion),))
        discard = slider(
            page_state.DISCARD,
            "Discard",
            0.0,
            0.95,
            0.05,
            help="In rollout and flow, this share of the keys that a query sees, the weakest ones, counts as 0.",
        )
        residual = slider(
            page_state.RESIDUAL,
            "Residual",
            0.0,
            1.0,
            0.05,
            help="The share r of the residual connection in rollout and flow: r · I + (1 − r) · A.",
        )
    return Settings(choices=(("fusion", fusion), ("discard", discard), ("residual", residual)))


def draw(look: Look) -> None:
    if not of_images:
        board = composed(compose, look, Settings(), Tokens())
        mount_all(board, {CHIPS: partial(choose.react, look)})
        if SINGLE in board.contents:
            return
    left, right = (st.container(), st.container()) if look.beginner else st.columns([6, 3], vertical_alignment="bottom")
    with left:
        above = shell.above()
    view = page_state.SHOW.values[0]
    if look.beginner:
        state.later("intermediate", page_state.SHOW)
    else:
        with above:
            view = tabs(page_state.SHOW, "the view", OF_IMAGES if of_images else None)
    with right:
        chosen = replace(settings, token=follow(look))
    pictures: Sequence[Picture] = ()
    with picture(f"The view “{view}”"):
        pictures = VIEWS[view](look, chosen)
    with above, picture("“Take it away”"):
        take_away("flow", lambda: pictures)
    if of_images:
        say(HERE, "texts only image")


def follow(look: Look) -> int | None:
    """Say which prediction is followed, place its menu, and return its id; None if there is none."""
    position = position_of(look)
    offered = candidates(look, position)
    mount_all(composed(compose, look, Settings(), Followed(offered)))
    return choose.token(look, position, offered)


of_images = "image" in loaded.info(picker.in_use()).reads
if not of_images:
    scope.side_bar()
settings = controls()
shell.live(HERE, draw, purpose="purpose image" if of_images else "purpose", reads_images=True)
