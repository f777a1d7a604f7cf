"""Page "Flow": the way from one token back to the input, by every method side by side, and which of them to believe."""

from pathlib import Path

import pandas as pd
import streamlit as st

from pages.flow import choose
from pages.flow.believe import believe
from pages.flow.methods import layer_by_layer, side_by_side
from pages.flow.request import Request
from pages.flow.streams import streams_picture
from ui import shell, state
from ui.choices import scope
from ui.choices.widgets import one_of, slider, tabs
from ui.look import Look
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture, show_chart
from ui.words import say

HERE = Path(__file__).parent


def controls() -> tuple[tuple[str, object], ...]:
    """Place the controls of how heads are fused and layers followed back in the side bar, at the levels that have them."""
    if state.level() != "expert":
        state.later("expert", state.DISCARD, state.RESIDUAL)
    if state.level() == "beginner":
        state.later("intermediate", state.FUSION)
        return ()
    with st.sidebar:
        fusion = one_of(
            state.FUSION, state.FUSION.values, "heads of a layer as one by", label="Heads of a layer, as one", menu=True
        )
        if state.level() != "expert":
            return (("fusion", fusion),)
        discard = slider(
            state.DISCARD, "Discard", 0.0, 0.95, 0.05,
            help="In rollout and flow, this share of the keys that a query sees counts as 0, the weakest ones.",
        )  # fmt: skip
        residual = slider(
            state.RESIDUAL, "Residual", 0.0, 1.0, 0.05,
            help="The share r of the residual connection in rollout and flow: r · I + (1 − r) · A.",
        )  # fmt: skip
    return (("fusion", fusion), ("discard", discard), ("residual", residual))


def streams(request: Request) -> list[Picture]:
    pictures, facts, table = streams_picture(request)
    if pictures is None:
        return []
    show_chart(pictures.drawn, "streams")
    say(HERE, "streams", **facts)
    with st.expander("The numbers"):
        st.dataframe(pd.DataFrame(table), hide_index=True)
    return [pictures]


def draw(look: Look) -> None:
    scope.say_apart(look)
    position, trace = choose.position(look), look.trace
    choose.chips(look, position)
    if len(trace.tokens) + len(trace.target) == 1:
        say(HERE, "single")
        return
    left, right = (st.container(), st.container()) if look.beginner else st.columns([6, 3], vertical_alignment="bottom")
    with left:
        above = shell.above()
    with above:
        view = tabs(state.SHOW, "the view")
    with right:
        token = choose.token(look, position)
    request, pictures = Request(look, position, token, settings), []
    with picture(f"The view “{view}”"):
        pictures = dict(zip(state.SHOW.values, (side_by_side, layer_by_layer, streams, believe), strict=True))[view](request)
    with above, picture("“Take it away”"):
        take_away("flow", lambda: pictures)


scope.side_bar()
settings = controls()
shell.live(HERE, draw)
