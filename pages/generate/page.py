"""Page "Generate": a model continues a text, token by token, and everything that decides the next one is on screen."""

from collections.abc import Callable, Sequence

import streamlit as st

import models
from models.generation.strategy import Strategy
from pages.generate import cache, choose, notices, parts, permalink, run, search, steps, wording
from pages.generate import state as page_state
from pages.generate.boards.branches import KEY as BRANCHES
from pages.generate.compose import HERE, compose
from pages.generate.continuation import Continuation, use
from pages.generate.settings import Above, Beginning, Branches, CannotGrow, Grown, Settings
from ui import shell, state
from ui.choices import heads, picker, text_boxes
from ui.escaping import plain
from ui.look import Look
from ui.memory import jobs, loaded
from ui.picture.mount import composed, mount_all
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import choice, picture
from ui.words import heading_for, words


def place_board(continuation: Continuation, look: Look, settings: Settings, grown: Grown) -> Sequence[Picture]:
    """Place the text, and beside it the next token's probabilities, or during a run those of the last token. grown: the present
    text.
    """

    def react() -> None:
        match choice(parts.BOARD):
            case {"part": "text" | "rows"} as click:
                parts.look_at(click, continuation, look)
            case {"part": "bars", "value": {"id": id}} if continuation.at is not None:
                continuation.branch(continuation.at, id)
            case {"part": "bars", "value": {"id": id}} if continuation.end_reason:
                continuation.branch(len(continuation.steps) - 1, id)
            case {"part": "bars", "value": {"id": id}}:
                continuation.go_on(settings.strategy, id)

    board = composed(compose, look, settings, grown)
    return mount_all(board, {} if continuation.run else {parts.BOARD: react})


def draw_meanwhile(continuation: Continuation, look: Look, settings: Settings) -> None:
    """Draw the text up to now, during a run."""
    if settings.strategy.method != "beam" and (continuation.steps or continuation.next_step):
        place_board(continuation, look, settings, continuation.grown())
        return
    before, steps = beginning_of(look), continuation.run and continuation.run.into
    st.markdown(f"{plain(before)} **{plain(steps[-1].text.strip()) if steps else '…'}**")


def place_branches(continuation: Continuation, look: Look, settings: Settings, grown: Grown) -> Sequence[Picture]:
    """Place a card for each branch, if there are several; a click on a branch shows it above. grown: the present text."""

    def react() -> None:
        continuation.current, continuation.at = int(choice(BRANCHES)["part"].removeprefix("branch ")), None

    return mount_all(composed(compose, look, settings, Branches(grown)), {BRANCHES: react})


def open_elsewhere(look: Look, text: str, chat: bool) -> None:
    """Place a button that puts the whole text into the box for every page; of a chat with the special tokens of its template."""
    before = look.model.as_chat(look.trace.text).written if chat else beginning_of(look)
    whole = before + (text if before else text.lstrip(" "))

    def write() -> None:
        has_target = look.model.info.kind == "encoder-decoder"
        text_boxes.change(state.TARGET if has_target else state.TEXT, whole)
        if has_target:
            state.SAID.set(whole)
        if chat:  # the box has all of the turn now
            page_state.GENERATE_CHAT.set(False)
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
    first = models.names()[0]
    mount_all(composed(compose, look, Settings(Strategy()), CannotGrow()))

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
        settings = Settings(*choose.strategy(look))
        beginning = Beginning(picker.in_use(), look.trace.text, "" if answer_is_own else look.second, chat)
        shell.by_itself(
            "generate-grown", lambda: use(beginning, lambda continuation: grow(continuation, look, settings, answer_is_own))
        )


def grow(continuation: Continuation, look: Look, settings: Settings, answer_is_own: bool) -> None:
    """Draw the buttons and the text; a click reruns only this part."""
    strategy, most = settings.strategy, settings.most
    beams = strategy.method == "beam"
    row, above = st.container(key="generate-buttons", horizontal=True, gap="small"), st.container()
    permalink.reopen(continuation, strategy, most)
    if beams:
        search.open_with_one(continuation, look, settings)
    with above:  # also when empty, so that what is below keeps its place
        if not continuation.run:
            run.show_trouble(continuation)
        mount_all(composed(compose, look, settings, Above(answer_is_own, bool(continuation.steps))))

    def buttons(cancel: Callable[[], None] | None = None) -> None:
        with row:
            run.buttons(continuation, strategy, most, cancel)

    if run.show_run(continuation, buttons, lambda: draw_meanwhile(continuation, look, settings)):
        return
    buttons()
    permalink.keep(continuation, beams)
    pictures = search.place(continuation, look, settings) if beams else body(continuation, look, settings)
    with st.container(horizontal=True, gap="small"):
        open_elsewhere(look, search.best_text(continuation) if beams else continuation.text, continuation.beginning.chat)
        take_away("generate", lambda: pictures, lambda picture: steps.offer(picture, continuation, look))


def body(continuation: Continuation, look: Look, settings: Settings) -> Sequence[Picture]:
    """Draw the text with its notices, branches and cache; return the pictures for download."""
    with jobs.place(run.TEXT):
        grown = continuation.grown()
        pictures = [*place_board(continuation, look, settings, grown)]
    notices.place_loop_notice(continuation, look, settings)
    pictures += place_branches(continuation, look, settings, grown)
    if not look.beginner:
        with picture("The cache"):
            pictures += cache.place(continuation, look, settings, grown)
    return pictures


if state.level() == "beginner":
    state.later("intermediate", page_state.GENERATE_CACHE)
heads.side_bar(picker.in_use())
shell.live(HERE, draw, answers=False, purpose=heading_for(HERE, "purpose", wording.heading_case(loaded.info(picker.in_use()))))
