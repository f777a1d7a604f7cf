"""Page "Generate": a model goes on with a text, token by token, and all that decides the next one is on screen."""

from pathlib import Path

import streamlit as st

from models.strategy import Strategy
from pages.generate import cache, choose, run, search, shown, told
from pages.generate.grown import Grown, mine
from ui import shell, state
from ui.choices import boxes, heads, picker
from ui.look import Look
from ui.show import choice, part, picture, show
from ui.text import plain
from ui.words import say, words
from viz import Card, board

HERE = Path(__file__).parent


def going_on(grown: Grown, look: Look, strategy: Strategy) -> None:
    """The text, and beside it what comes next."""
    step = grown.looked_at
    cards = [
        Card([part("The text", shown.text_part, grown, look)], words(HERE, "title text"), 6),
        Card(
            [part("What comes next", shown.bars, step, strategy, look, grown.at is not None or bool(grown.ended))],
            words(HERE, "title bars"),
            5,
        ),
    ]

    def react() -> None:
        match choice("generate"):
            case {"part": "text", "value": position}:
                number = shown.step_of(position, grown, look)
                grown.at = None if number == grown.at else number
            case {"part": "bars", "value": {"id": id}} if grown.at is not None:
                grown.branch(grown.at, id)
            case {"part": "bars", "value": {"id": id}} if grown.ended:
                grown.branch(len(grown.steps) - 1, id)
            case {"part": "bars", "value": {"id": id}}:
                grown.go_on(strategy, id)

    show(board(cards, "The text and what comes next"), "generate", react)


def open_elsewhere(grown: Grown, look: Look, text: str) -> None:
    """The grown text into the box, so that every page reads it."""
    both = look.model.info.kind == "encoder-decoder"
    before = grown.beginning[-1] if both else look.trace.text
    whole = before + (text if before else text.lstrip(" "))

    def write() -> None:
        boxes.change(state.TARGET if both else state.TEXT, whole)
        if both:
            state.SAID.set(whole)

    if text:
        st.button("Open this text on the other pages", icon=":material/open_in_new:", key="generate-open", on_click=write)


def draw(look: Look) -> None:
    info = look.model.info
    if info.kind == "encoder" or not info.predicts:
        st.info(words(HERE, "encoder" if info.kind == "encoder" else "headless", name=plain(info.name), mask=plain(info.mask)))
        return
    own = look.second and look.second == state.SAID.get()  # the model's own answer: here it is said again
    grown = mine((picker.in_use(), look.trace.text, "" if own else look.second))
    above = st.container()
    strategy, most = choose.strategy(look)
    beams = strategy.method == "beam"
    with above:
        if run.under_way(grown, lambda: going_on_now(grown, look)):
            return
        run.buttons(grown, look, strategy, most)
    run.trouble(grown)
    if own and not grown.steps:
        say(HERE, "own answer")
    if beams:
        search.place(grown, look)
    else:
        if look.kind == "encoder":
            say(HERE, "encoder rows")
        going_on(grown, look, strategy)
        told.what_happened(grown, look)
        told.branches(grown, look)
    open_elsewhere(grown, look, search.best(grown) if beams else grown.steps[-1].text if grown.steps else "")
    if not look.beginner and not beams:
        with picture("The cache"):
            cache.place(grown, look)


def going_on_now(grown: Grown, look: Look) -> None:
    """What was said up to now, while it goes on."""
    if grown.run and grown.run.into:
        before = grown.beginning[-1] if look.model.info.kind == "encoder-decoder" else look.trace.text
        st.markdown(f"{plain(before)} **{plain(grown.run.into[-1].text.strip())}**")


if state.level() == "beginner":
    state.later("intermediate", state.GENERATE_CACHE)
heads.side_bar(picker.in_use())
shell.live(HERE, draw)
