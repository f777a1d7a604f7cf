"""Page "Generate": a model goes on with a text, token by token, and all that decides the next one is on screen."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

import models
from models.strategy import Strategy
from pages.generate import branches, cache, choose, doing, linked, run, search, shown, steps, told
from pages.generate.grown import Beginning, Grown, use
from ui import shell, state
from ui.choices import boxes, heads, picker
from ui.look import Look
from ui.memory import jobs, loaded
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import choice, part, picture, show
from ui.text import plain
from ui.words import headed, say, words
from viz import Card, board

HERE = Path(__file__).parent


def going_on(grown: Grown, look: Look, strategy: Strategy, pictures: list[Picture]) -> None:
    """The text, and beside it what comes next, or what chose the last token while it grows by itself."""
    cards = [
        Card(shown.the_text(grown, look, pictures), words(HERE, headed(HERE, "title text", doing.written(look.model.info))), 6),
        Card([part("What comes next", shown.bars, grown, strategy, look, pictures)], words(HERE, "title bars"), 5),
    ]

    def react() -> None:
        match choice(shown.BOARD):
            case {"part": "text" | "rows"} as pressed:
                shown.look_at(pressed, grown, look)
            case {"part": "bars", "value": {"id": id}} if grown.at is not None:
                grown.branch(grown.at, id)
            case {"part": "bars", "value": {"id": id}} if grown.ended:
                grown.branch(len(grown.steps) - 1, id)
            case {"part": "bars", "value": {"id": id}}:
                grown.go_on(strategy, id)

    drawn = board(cards, "The text and what comes next", later=["grid_view"])  # the rows come with the second token
    show(drawn, shown.BOARD, None if grown.run else react)


def meanwhile(grown: Grown, look: Look, strategy: Strategy) -> None:
    """What was said up to now, while it goes on."""
    if strategy.method != "beam" and (grown.steps or grown.ahead):
        return going_on(grown, look, strategy, [])
    before, said = beginning_of(look), grown.run and grown.run.into
    st.markdown(f"{plain(before)} **{plain(said[-1].text.strip()) if said else '…'}**")


def open_elsewhere(look: Look, text: str, chat: bool) -> None:
    """The grown text into the box, so that every page reads it; of a chat with the signs of its template."""
    before = look.model.as_chat(look.trace.text).written if chat else beginning_of(look)
    whole = before + (text if before else text.lstrip(" "))

    def write() -> None:
        both = look.model.info.kind == "encoder-decoder"
        boxes.change(state.TARGET if both else state.TEXT, whole)
        if both:
            state.SAID.set(whole)
        if chat:  # the box has all of the turn now
            state.GENERATE_CHAT.set(False)
        state.run_whole_page_next()
        state.DONE.set(words(HERE, headed(HERE, "opened", doing.written(look.model.info))))

    if text:
        st.button("Open this text on the other pages", icon=":material/open_in_new:", key="generate-open", on_click=write)


def beginning_of(look: Look) -> str:
    """What the model goes on from, as it is written."""
    if look.model.info.kind != "encoder-decoder":
        return look.trace.text
    return "" if look.second == state.SAID.get() else look.second


def does_not(look: Look) -> None:
    """Why this model does not go on with a text, and a way to one that does."""
    info, first = look.model.info, models.names()[0]
    why = "labels" if info.labels else "encoder" if info.kind == "encoder" else "elsewhere" if info.predicts else "headless"
    st.info(words(HERE, why, name=plain(info.name), mask=plain(info.mask)))

    def switch() -> None:
        state.ask_for_model(first)
        state.run_whole_page_next()

    st.button(f"Switch to the {first}", icon=":material/edit_note:", type="primary", key="generate-switch", on_click=switch)


def draw(look: Look) -> None:
    if not look.model.grows:
        return does_not(look)
    own = linked.own_answer(look.second)  # here it is said again
    with st.container(key="generate"):
        with st.container():  # also where it holds nothing: what grows below keeps its place
            chat = choose.chat(look)
        strategy, most = choose.strategy(look)
        beginning = Beginning(picker.in_use(), look.trace.text, "" if own else look.second, chat)
        shell.by_itself("generate-grown", lambda: use(beginning, lambda grown: grow(grown, look, strategy, most, own)))


def grow(grown: Grown, look: Look, strategy: Strategy, most: int, own: bool) -> None:
    """The buttons, and all that grows by them: a press draws these alone."""
    beams = strategy.method == "beam"
    row, above = st.container(key="generate-buttons", horizontal=True, gap="small"), st.container()
    linked.reopen(grown, strategy, most)
    with above:  # also where it holds nothing: what stands below keeps its place
        say_before(grown, look, strategy, own)

    def buttons(cancel: Callable[[], None] | None = None) -> None:
        with row:
            run.buttons(grown, strategy, most, cancel)

    if run.under_way(grown, buttons, lambda: meanwhile(grown, look, strategy)):
        return
    buttons()
    linked.keep(grown, beams)
    pictures: list[Picture] = []
    if beams:
        search.place(grown, look, strategy, most, pictures)
    else:
        body(grown, look, strategy, pictures)
    with st.container(horizontal=True, gap="small"):
        open_elsewhere(look, search.best(grown) if beams else grown.text, grown.beginning.chat)
        take_away("generate", lambda: pictures, lambda made: steps.offer(made, grown, look))


def say_before(grown: Grown, look: Look, strategy: Strategy, own: bool) -> None:
    """What is told above the text, while it grows too."""
    if not grown.run:
        run.trouble(grown)
    if own and not grown.steps:
        say(HERE, "own answer")
    if look.kind == "encoder" and strategy.method != "beam":
        say(HERE, "encoder rows")


def body(grown: Grown, look: Look, strategy: Strategy, pictures: list[Picture]) -> None:
    """What has grown, and what is told of it."""
    with jobs.place(run.TEXT):
        going_on(grown, look, strategy, pictures)
    told.going_round(grown, look)
    branches.place(grown, look, pictures)
    if not look.beginner:
        with picture("The cache"):
            cache.place(grown, look, pictures)


if state.level() == "beginner":
    state.later("intermediate", state.GENERATE_CACHE)
heads.side_bar(picker.in_use())
shell.live(HERE, draw, answers=False, purpose=headed(HERE, "purpose", doing.case(loaded.info(picker.in_use()))))
