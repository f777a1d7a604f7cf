"""Part "Lens": what the model would predict if it stopped after a layer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import streamlit as st

from analysis.lens import lens, translator
from pages.layers import lens_training, recipes
from pages.layers import state as page_state
from pages.layers.boards.lens import MORE
from pages.layers.compose import compose
from pages.layers.live import WINDOW, compose_lens, is_quick, positions_of
from pages.layers.settings import Predictions, Settings
from ui import state
from ui.choices.token import keep
from ui.choices.widgets import one_of
from ui.escaping import plain
from ui.live.connect import Live
from ui.look import Look
from ui.memory import jobs
from ui.picture.mount import composed, mount
from ui.picture.picture import Picture
from ui.show import choice
from ui.words import say
from viz.views.grid_view.layers import LENS

HERE = Path(__file__).parent
KINDS = page_state.LENS.values
COLOURS = dict(zip(page_state.LENS_COLOUR.values, LENS, strict=True))
LENS_HELP = (
    "The logit lens reads each layer as if it were the last one. The tuned lens first translates the layer with a small helper, "
    "which was trained for that. So the upper rows make more sense through the tuned lens."
)
COLOUR_HELP = (
    "The colour of a cell can say how probable the likeliest token is there, how high the model’s final answer ranks, or how far "
    "the layer still is from the final prediction."
)


def draw(look: Look) -> tuple[Sequence[Picture], Live | None]:
    model, trace = look.model, look.trace
    if trace.unembed is None:
        say(HERE, look.without_words, name=plain(model.info.name))
        return [], None
    places = positions_of(look)
    if not places:
        say(HERE, "unmasked" if model.info.mask else "maskless", mask=plain(model.info.mask))
        return [], None
    if look.beginner:  # the lens of page Overview, so that both pages have the same guesses
        _keep_for_later()
        own, tuned, kind, colour = None, None, KINDS[0], "probability"
    else:
        own = translator(model)
        tuned = lens_training.draw(HERE, model) if own is None else own
        kind, colour = _choose(tuned is not None)
    positions = _window(places)
    translate = tuned if kind == KINDS[1] else None
    subject = (lens_training.mine(model), trace.text, look.second, tuple(positions), kind)
    if translate is not None:
        lens_training.say_trained(HERE, model)
    predictions = jobs.result(
        ("lens", *subject), lambda report: lens(trace, positions, recipes.TOP, translate, report), "Looking through every layer"
    )
    if predictions is None:
        return [], None
    settings = Settings(lens_layer=page_state.LENS_LAYER.get(), lens_token=page_state.LENS_TOKEN.get(), colour=colour)
    board = composed(compose, look, settings, Predictions(tuple(positions), predictions, translate is not None))
    for key in board.contents:
        with st.expander("More about this token") if key == MORE else nullcontext():
            mount(board, key, partial(_react, look, key, positions, int(look.beginner)))
    values = {"tuned": translate is not None, "colour": colour, "layer": settings.lens_layer, "token": settings.lens_token}
    is_live = is_quick(look, places) and (translate is None or own is not None)
    return board.pictures, Live(compose_lens, board, values) if is_live else None


def _react(look: Look, key: str, positions: list[int], first: int) -> None:
    """Handle a click on the board. first: the row of the lens that is drawn first."""
    match choice(key):
        case {"part": "lens", "value": [row, place]}:
            page_state.LENS_LAYER.set(row + first)
            token = positions[place]
            page_state.LENS_TOKEN.set((token, look.trace.read[token].id))
            keep(token)
        case {"part": "layers" | "answer", "value": [row, _]}:
            page_state.LENS_LAYER.set(row + first)


def _keep_for_later() -> None:
    """Keep the choices of this part that beginners do not have."""
    state.later("intermediate", page_state.LENS_COLOUR)
    if state.linked_value(page_state.LENS) != KINDS[0]:
        state.later("intermediate", page_state.LENS)
    if page_state.LENS.is_set:
        state.keep(page_state.LENS, page_state.LENS.get(), page_state.LENS.default)


def _choose(tuned: bool) -> tuple[str, str]:
    """Return the chosen lens, and the quantity that colours its cells. tuned: whether there is a tuned lens."""
    kind = KINDS[tuned]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if tuned:
            kind = one_of(
                page_state.LENS, KINDS, "the lens", label="Look through", default=page_state.LENS.default, help=LENS_HELP
            )
            state.keep(page_state.LENS, kind, page_state.LENS.default)
        by = one_of(page_state.LENS_COLOUR, tuple(COLOURS), "the colour by", label="Colour by", help=COLOUR_HELP)
        state.keep(page_state.LENS_COLOUR, by, page_state.LENS_COLOUR.values[0])
    return kind, COLOURS[by]


def _window(positions: list[int]) -> list[int]:
    """Return a window of neighbouring positions."""
    if len(positions) <= WINDOW:
        return positions
    last = st.slider(
        "Positions up to",
        WINDOW,
        len(positions),
        len(positions),
        key=page_state.LENS_WINDOW.name,
        persist_state="session",
        help=f"{WINDOW} positions are shown at a time.",
    )
    return positions[last - WINDOW : last]
