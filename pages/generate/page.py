"""Page "Generate": a model continues a text, token by token, and all that decides the next one is on screen."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

import models
from models.strategy import Strategy
from pages.generate import branches, cache, choose, notices, parts, permalink, run, search, steps, wording
from pages.generate.continuation import Beginning, Continuation, use
from ui import shell, state
from ui.choices import boxes, heads, picker
from ui.look import Look
from ui.memory import jobs, loaded
from ui.parts import part
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import choice, picture, show
from ui.text import plain
from ui.words import heading_for, say, words
from viz import Card, board

HERE = Path(__file__).parent


def place_board(continuation: Continuation, look: Look, strategy: Strategy, pictures: list[Picture]) -> None:
    """Place the text, and beside it what comes next, or during a run what chose the last token."""
    cards = [
        Card(
            parts.text_and_rows(continuation, look, pictures),
            words(HERE, heading_for(HERE, "title text", wording.output_kind(look.model.info))),
            6,
        ),
        Card([part("What comes next", parts.bars, continuation, strategy, look, pictures)], words(HERE, "title bars"), 5),
    ]

    def react() -> None:
        match choice(parts.BOARD):
            case {"part": "text" | "rows"} as click:
                parts.look_at(click, continuation, look)
            case {"part": "bars", "value": {"id": id}} if continuation.at is not None:
                continuation.branch(continuation.at, id)
            case {"part": "bars", "value": {"id": id}} if continuation.end_reason:
                continuation.branch(len(continuation.steps) - 1, id)
            case {"part": "bars", "value": {"id": id}}:
                continuation.go_on(strategy, id)

    text_board = board(cards, "The text and what comes next", later=["grid_view"])  # the rows come with the second token
    show(text_board, parts.BOARD, None if continuation.run else react)


def draw_meanwhile(continuation: Continuation, look: Look, strategy: Strategy) -> None:
    """Draw the text up to now, during a run."""
    if strategy.method != "beam" and (continuation.steps or continuation.next_step):
        return place_board(continuation, look, strategy, [])
    before, steps = beginning_of(look), continuation.run and continuation.run.into
    st.markdown(f"{plain(before)} **{plain(steps[-1].text.strip()) if steps else '…'}**")


def open_elsewhere(look: Look, text: str, chat: bool) -> None:
    """Place a button that puts the whole text into the box for every page; of a chat with the special tokens of its template."""
    before = look.model.as_chat(look.trace.text).written if chat else beginning_of(look)
    whole = before + (text if before else text.lstrip(" "))

    def write() -> None:
        has_target = look.model.info.kind == "encoder-decoder"
        boxes.change(state.TARGET if has_target else state.TEXT, whole)
        if has_target:
            state.SAID.set(whole)
        if chat:  # the box has all of the turn now
            state.GENERATE_CHAT.set(False)
        state.run_whole_page_next()
        state.DONE.set(words(HERE, heading_for(HERE, "opened", wording.output_kind(look.model.info))))

    if text:
        st.button("Open this text on the other pages", icon=":material/open_in_new:", key="generate-open", on_click=write)


def beginning_of(look: Look) -> str:
    """Return the text that the model continues."""
    if look.model.info.kind != "encoder-decoder":
        return look.trace.text
    return "" if look.second == state.SAID.get() else look.second


def offer_another_model(look: Look) -> None:
    """Say why this model does not continue a text, and offer one that does."""
    info, first = look.model.info, models.names()[0]
    why = "labels" if info.labels else "encoder" if info.kind == "encoder" else "elsewhere" if info.predicts else "headless"
    st.info(words(HERE, why, name=plain(info.name), mask=plain(info.mask)))

    def switch() -> None:
        state.ask_for_model(first)
        state.run_whole_page_next()

    st.button(f"Switch to the {first}", icon=":material/edit_note:", type="primary", key="generate-switch", on_click=switch)


def draw(look: Look) -> None:
    if not look.model.grows:
        return offer_another_model(look)
    answer_is_own = permalink.own_answer(look.second)  # then this page generates it again
    with st.container(key="generate"):
        with st.container():  # also when empty, so that what is below keeps its place
            chat = choose.chat(look)
        strategy, most = choose.strategy(look)
        beginning = Beginning(picker.in_use(), look.trace.text, "" if answer_is_own else look.second, chat)
        shell.by_itself(
            "generate-grown", lambda: use(beginning, lambda continuation: grow(continuation, look, strategy, most, answer_is_own))
        )


def grow(continuation: Continuation, look: Look, strategy: Strategy, most: int, answer_is_own: bool) -> None:
    """Draw the buttons and the text; a click reruns only this part."""
    beams = strategy.method == "beam"
    row, above = st.container(key="generate-buttons", horizontal=True, gap="small"), st.container()
    permalink.reopen(continuation, strategy, most)
    with above:  # also when empty, so that what is below keeps its place
        say_before(continuation, look, strategy, answer_is_own)

    def buttons(cancel: Callable[[], None] | None = None) -> None:
        with row:
            run.buttons(continuation, strategy, most, cancel)

    if run.show_run(continuation, buttons, lambda: draw_meanwhile(continuation, look, strategy)):
        return
    buttons()
    permalink.keep(continuation, beams)
    pictures: list[Picture] = []
    if beams:
        search.place(continuation, look, strategy, most, pictures)
    else:
        body(continuation, look, strategy, pictures)
    with st.container(horizontal=True, gap="small"):
        open_elsewhere(look, search.best_text(continuation) if beams else continuation.text, continuation.beginning.chat)
        take_away("generate", lambda: pictures, lambda picture: steps.offer(picture, continuation, look))


def say_before(continuation: Continuation, look: Look, strategy: Strategy, answer_is_own: bool) -> None:
    """Place the notices above the text, also during a run."""
    if not continuation.run:
        run.show_trouble(continuation)
    if answer_is_own and not continuation.steps:
        say(HERE, "own answer")
    if look.kind == "encoder" and strategy.method != "beam":
        say(HERE, "encoder rows")


def body(continuation: Continuation, look: Look, strategy: Strategy, pictures: list[Picture]) -> None:
    """Draw the text with its notices, its branches and its cache."""
    with jobs.place(run.TEXT):
        place_board(continuation, look, strategy, pictures)
    notices.place_loop_notice(continuation, look)
    branches.place(continuation, look, pictures)
    if not look.beginner:
        with picture("The cache"):
            cache.place(continuation, look, pictures)


if state.level() == "beginner":
    state.later("intermediate", state.GENERATE_CACHE)
heads.side_bar(picker.in_use())
shell.live(HERE, draw, answers=False, purpose=heading_for(HERE, "purpose", wording.heading_case(loaded.info(picker.in_use()))))
