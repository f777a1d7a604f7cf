"""Page "Build": a transformer, chosen part by part, drawn, calculated, and measured on the typed text."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import streamlit as st

from pages.build import choose, parts, train_it
from pages.build import state as page_state
from ui import shell, state
from ui.choices.widgets import tabs
from ui.escaping import plain
from ui.look import Look
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture

HERE = Path(__file__).parent
PARTS: dict[str, Callable[..., list[Picture]]] = {
    "Architecture": parts.diagram,
    "Cost": parts.costs,
    "Masks": parts.masks,
    "Positions": parts.positions,
    "Why √d": parts.root,
}
COUNTED = ("Architecture", "Masks")  # their shapes are as long as the text


def draw(look: Look) -> None:
    trace = look.trace
    left, right = st.container(key="plan").columns([4, 8], gap="medium")
    with right:
        above, part = shell.above(), page_state.BUILD.default
        if look.beginner:  # who sees the architecture alone
            state.settle(page_state.BUILD, page_state.BUILD.values, (part,))
        else:
            with above:
                part = tabs(page_state.BUILD, "the part")
    with left:
        st.markdown("##### Its parts")
        first = st.container()  # many choices stand between this and the end of the page
        try:
            config = choose.config(part)
        except ValueError as error:
            sentence = str(error)
            if look.beginner:  # the number's label is “Width” here
                sentence = sentence.replace("d_model (", "The width (").replace("d_model", "the width")
            st.error(plain(sentence), icon=":material/report:")
            config = None
    if config is not None:
        with first:
            train_it.place(config)
    with right:
        pictures = []
        if config is None:
            st.info("These parts do not fit together yet. The sentence by the parts says why.")
            return
        with picture(f"The part “{part}”"):
            texts = {"texts": [token.text for token in trace.target or trace.tokens]} if part == "Masks" else {}
            pictures = PARTS[part](HERE, config, len(trace.tokens), len(trace.target) or len(trace.tokens), **texts)
        with above, picture("“Take it away”"):
            take_away(part, lambda: [replace(drawing, counted=look) if part in COUNTED else drawing for drawing in pictures])


shell.live(HERE, draw)
