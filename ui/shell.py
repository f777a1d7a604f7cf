"""The frame of every page: its name, the text boxes, and the fragment that a keystroke reruns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import streamlit as st

import models
from ui import document, state
from ui.choices import examples, picker, picture_box, text_boxes
from ui.choices.chosen import look_at
from ui.choices.examples import Example
from ui.choices.token import current_token
from ui.escaping import display_name, plain
from ui.lessons import course, files
from ui.live import visits
from ui.live.connect import Live, connect, restore_typed
from ui.look import Look
from ui.memory import cached, jobs, loaded, visitors
from ui.memory.measured import press
from ui.memory.turns import LONG, turn
from ui.parts import complaint
from ui.rooms import play, seat
from ui.serving.sending import wait_until_sent
from ui.show import picture
from ui.words import mark_again, words

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from models.info import ModelInfo
    from models.language_model import LanguageModel
    from models.trace import Trace

SHOWN = 60  # characters of a wrong value that a sentence repeats

# Seconds after which a stage is drawn again. A browser that was cut off and comes back asks for its page if there is a timer on
# it, else only for what is pressed; and the server has let go of what its presses did (`ui.memory.visitors.hold`).
AGAIN = 3600


def heading(folder: Path, reads: bool = True, purpose: str = "purpose") -> DeltaGenerator:
    """Draw the page's name and its purpose, or what to look for in an example, and on a page that reads a text the example menu.

    purpose: the heading of the words about the page's purpose. Returns the place below, for content that is not always there, so
    that the content after it keeps its place and never appears twice for a moment.
    """
    restore_typed(folder.name)
    with st.container(key="chosen"):  # where the side bar is closed, as on a phone
        st.markdown(f"Level: {state.level()} · Model: {plain(picker.shorten(picker.in_use()))}")
    info = loaded.info(picker.in_use())
    example = example_on(folder.name, info) if reads else None
    with st.container(key="heading", horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        purpose_text = examples.as_markdown(example) if example else words(folder, purpose)
        st.markdown(f"# {words(folder, 'title')}\n\n{purpose_text}", width="stretch")
        if reads:
            text_boxes.example_menu(info)
    below = st.container()
    if example:
        with below:
            lead_on(example)
    return below


def example_on(page: str, info: ModelInfo) -> Example | None:
    """Return the example that a page shows; None while a lesson's step shows its text and asks about it."""
    text, lesson = text_boxes.current_text(state.TEXT), course.current()
    if lesson and (step := lesson.steps[state.LESSON_STEP.get() - 1]).page == page and step.link.get(state.TEXT.name) == text:
        return None
    return examples.example_on_page(info, page, text)


def lead_on(example: Example) -> None:
    """Draw the button that continues an example: to a writer's head like a trained one, or to a lesson."""
    like, lesson = examples.find_counterpart(example), files.find(example.then) if example.then else None
    if like:
        st.button(
            "Find this head in the writer",
            key="example-then",
            type="tertiary",
            icon=":material/arrow_forward:",
            on_click=examples.open_example,
            args=(like,),
        )
    elif lesson:
        st.button(
            f"Lesson: {plain(lesson.title)}",
            key="example-then",
            type="tertiary",
            icon=":material/school:",
            on_click=course.begin,
            args=(lesson, 1, {state.MODEL.name: lesson.model}),
        )


def read_or_complain(name: str, text: str, second: str) -> tuple[LanguageModel, Trace] | None:
    """Return a model and its reading of the texts; None after the page has said why there is none."""
    try:
        trace = loaded.read(name, text, second)
        return loaded.model(name), trace
    except Exception as error:
        what = "This picture" if "image" in loaded.info(name).reads else "This text"
        st.error(plain(complaint(what, error, "read")), icon=":material/report:")
        return None


def still(folder: Path, draw: Callable[[], None], purpose: str = "purpose") -> None:
    """Render a page that has no text box: its heading, and `draw` in a fragment below.

    An interaction reruns only the fragment, as on other pages; `ui.serving.leaving` relies on that. purpose: as in `heading`.
    """

    explained: set[str] = set()
    drawn_before = False

    @st.fragment(run_every=AGAIN)
    def stage() -> None:
        nonlocal drawn_before
        with_the_page, drawn_before = not drawn_before, True
        if state.LESSON_NEXT.is_set or state.WHOLE_PAGE.pop():
            st.rerun()
        with seat.follow_room(with_the_page, play.row):
            with mark_again(explained), picture("This page"):
                draw()
            keep_address(texts=False)  # which are kept all the same

    jobs.here()
    with heading(folder, reads=False, purpose=purpose):
        picker.show_trouble()
    early, complaints = begin_complaints()
    stage()
    if more := take_complaints():  # of what is chosen on the page itself
        with complaints.container():
            show_complaints(early | more)
    picker.about()


def live(
    folder: Path,
    draw: Callable[[Look], Live | None],
    reads: bool = True,
    answers: bool = True,
    purpose: str = "purpose",
    beneath: Callable[[], None] = lambda: None,
    reads_model: bool = True,
    hides_boxes: Callable[[], bool] = lambda: False,
    reads_images: bool = False,
) -> None:
    """Render a page with text boxes: a keystroke reruns the boxes and `draw`, but not the heading.

    folder: that of the page's words; draw: returns the page's part for the line, None without one; reads: whether the page shows
    results of the model for the text, so that it matters how much of it the model can read; answers: whether a button beside an
    answer continues it; purpose: as in `heading`; beneath: places content between heading and boxes, which a keystroke does not
    change; reads_model: whether the page depends on the model in use, and so shows nothing while a link's model is loading;
    hides_boxes: asks whether the page, as it is set, uses no text; reads_images: whether the page shows images too."""

    drawn_before = told_with_the_page = False
    explained: set[str] = set()

    @st.fragment(run_every=AGAIN)
    def stage() -> None:
        nonlocal drawn_before
        with_the_page, drawn_before = not drawn_before, True
        again = state.AGAIN.pop()
        with nullcontext(0.0) if with_the_page else alone(folder.name, first=again or seat.goes_first()) as waited:
            if waited > LONG and not again and state.TYPING.get():
                state.AGAIN.set(True)
                st.rerun(scope="fragment")  # with the newest text: the one that this run began with is an old one by now
            with seat.follow_room(with_the_page, play.row), mark_again(explained):
                answer(with_the_page)

    def answer(with_the_page: bool) -> None:
        nonlocal told_with_the_page
        jobs.here()
        name = picker.in_use()
        if state.LESSON_NEXT.is_set or state.WHOLE_PAGE.pop() or picker.model_has_left():
            st.rerun()
        text, second, below = write_boxes(loaded.info(name), folder.name, answers, hides_boxes())
        if reads_model and not has_input(folder, name, reads_images):
            return
        with nullcontext() if name in loaded.shelf else st.spinner("Preparing the model …"):
            reading = read_or_complain(name, text, second)
        if reading is None:
            return
        model, trace = reading
        if trace.cut and reads:
            say_what_is_cut(below, name, len(trace.tokens), trace.cut, len(text))
        with picture("This page"):
            connect(folder.name, draw(look_at(model, trace, second)), whole=not trace.cut)
        if (more := take_complaints()) or any(state.LATER.get().values()):
            if not (told_with_the_page := told_with_the_page or with_the_page):
                tell_with_the_page(early | more)
            with complaints.container():
                show_complaints(early | more)  # of what is chosen beside and on this page, as one
                show_later()
        keep_address()

    with heading(folder, purpose=purpose):
        beneath()
        picker.show_trouble()
        say_numbering(reads_model)
    drop_unsettled_complaints()
    early, complaints = begin_complaints()
    stage()
    picker.about()
    if cached.names(cached.FRESH) != state.LISTED.get():
        st.rerun()  # the picker of a server's first visitor is drawn before the cache of the Hub is listed


def write_boxes(info: ModelInfo, page: str, answers: bool, hidden: bool) -> tuple[str, str, DeltaGenerator]:
    """Place the text boxes (see `boxes.write`). Where the line answers each key, they send what is typed when it rests. hidden:
    out of sight, where they keep the text for other pages, or the name of a picture."""
    hidden = hidden or "image" in info.reads
    current_token()  # one that the line has let go is gone from here on
    with st.container(key="unused-boxes") if hidden else nullcontext():
        return text_boxes.write(info, answers, text_boxes.REST if visits.is_open(page) else text_boxes.PAUSE)


@contextmanager
def alone(page: str, first: bool) -> Iterator[float]:
    """Run a stage without its page: count it, wait for its turn, and send it to the browser before the next run begins.

    Yields the seconds that it has waited for its turn; first: as in `turn`.
    """
    try:
        with press(page), turn(first) as waited:
            yield waited
    finally:  # also of a run that another one cuts off: of what it has drawn the next would take out all but the parts' own
        wait_until_sent()


def has_input(folder: Path, name: str, reads_images: bool) -> bool:
    """Return whether the page can show what the model reads, with the choice of a picture for a model of images; otherwise say
    why not. reads_images: as in `live`."""
    if "image" in loaded.info(name).reads:
        if not reads_images:
            say_no_images(folder, name)
            return False
        picture_box.place(name)
    if awaited := picker.awaited_model():
        st.info(f"“{plain(display_name(awaited))}” is loading. Its answer will appear here.", icon=":material/hourglass_top:")
    return not awaited


def say_no_images(folder: Path, name: str) -> None:
    """Say that the model reads pictures, which this page does not show, with the ways on."""
    title, model = words(folder, "title"), plain(display_name(name))
    with st.container(key="no-images"):
        st.info(
            f"“{model}” reads pictures, and page {title} shows texts only. Page Type shows what this model does with a picture.",
            icon=":material/image:",
        )
        with st.container(horizontal=True, gap="small"):
            st.button("Open page Type", icon=":material/arrow_forward:", on_click=open_type)
            first = models.names()[0]
            st.button(f"Use the model “{first}” here", on_click=use_model, args=(first,))
    keep_address()


def open_type() -> None:
    state.LESSON_NEXT.set(("type", None))
    state.run_whole_page_next()


def use_model(name: str) -> None:
    state.ask_for_model(name)
    state.run_whole_page_next()


def say_numbering(reads_model: bool) -> None:
    """Say which layers of the network have attention, if some have none: the boards of a page only name those that have."""
    if reads_model and (numbering := loaded.info(picker.in_use()).numbering):
        st.caption(numbering)


def say_what_is_cut(place: DeltaGenerator, name: str, most: int, cut: int, characters: int) -> None:
    """Say in a place how many tokens a model reads of a text, and how many characters it leaves out."""
    place.info(
        f"“{plain(display_name(name))}” reads at most {most:,} tokens at a "
        f"time, so the first {cut:,} of {characters:,} characters are left out here.",
        icon=":material/content_cut:",
    )


def by_itself(key: str, draw: Callable[[], None]) -> None:
    """Draw a part of the page in its own fragment: an interaction with it reruns only this part.

    A change that concerns the rest of the page calls `state.run_whole_page_next`. key: of the container.
    """
    drawn_before, held = False, visitors.hold(draw)
    explained: set[str] = set()

    def place() -> None:
        with mark_again(explained), st.container(key=key):
            held()

    @st.fragment
    def part() -> None:
        nonlocal drawn_before
        if not drawn_before:  # with the rest, in whose turn it is
            drawn_before = True
            return place()
        try:
            with turn(first=seat.goes_first()):
                jobs.here()
                if state.WHOLE_PAGE.pop():
                    st.rerun()
                seat.run_part()
                with picture("This page"):
                    place()
                keep_address()
                seat.settle()
        finally:
            wait_until_sent()

    part()


def keep_address(texts: bool = True) -> None:
    """Put all choices into the address. texts: whether the page has the text boxes."""
    typing = state.TYPING.pop()  # Streamlit puts into the address by itself what is typed
    values = {**state.ADDRESS.get(), **picker.in_address()}
    page = state.LINK.get()[0]
    if typing and state.IN_ADDRESS.get() == (page, values):
        return
    state.IN_ADDRESS.set((page, values))
    boxes = {key.name: key.default for key in (state.TEXT, state.TARGET)} if texts else {}
    document.keep_address(page, values | state.texts_in_address() if texts else values, boxes, state.LINKED)


def above() -> DeltaGenerator:
    """Return the row above a picture: its options on the left, "Take it away" on the right."""
    return st.container(key="above", horizontal=True, horizontal_alignment="distribute", wrap=False)


def begin_complaints() -> tuple[dict[str, tuple[str, str]], DeltaGenerator]:
    """Show the invalid values of the link; return them, and the place for later ones."""
    early, complaints = take_complaints(), st.empty()
    if early:
        with complaints.container():
            show_complaints(early)
    return early, complaints


def drop_unsettled_complaints() -> None:
    """Forget complaints about layers and heads while the model is not settled: the values may be valid for the next model."""
    if not picker.is_settled():
        for choice in (state.LAYER, state.HEAD):
            (state.COMPLAINTS.get() or {}).pop(choice.name, None)


def take_complaints() -> dict[str, tuple[str, str]]:
    """Return the link's invalid values, once; none while its model loads, because the next page would remove the message."""
    return {} if state.JOB.get() else state.COMPLAINTS.pop() or {}


def show_complaints(complaints: dict[str, tuple[str, str]]) -> None:
    """Show a sentence for each value in the link that does not exist."""
    if not complaints:
        return
    wishes = [f"{meaning} “{plain(value[:SHOWN])}”, which does not exist here." for meaning, value in complaints.values()]
    sentences = [f"The link {'also ' if i else ''}asks for {wish}" for i, wish in enumerate(wishes)]
    end = "You see the default instead." if len(wishes) == 1 else "You see the defaults instead."
    st.warning(" ".join([*sentences, end]), icon=":material/link_off:")


def tell_with_the_page(complaints: dict[str, tuple[str, str]]) -> NoReturn:
    """Run the whole page if there are new complaints: a stage that runs alone can place outside itself only what it placed with
    its page before.
    """
    state.COMPLAINTS.set(complaints)
    st.rerun()


def show_later() -> None:
    """Say which choices of the link need a higher level: a sentence for each of these levels."""
    for level, waiting in state.LATER.get().items():
        names = {name: re.sub("^(build|train|generate)-", "", name).replace("-", " ") for name in waiting}
        wishes = [f"{names[name]} “{value[:SHOWN]}”" for name, value in waiting.items()]
        if wishes:
            both = plain(" and ".join([*filter(None, [", ".join(wishes[:-1])]), wishes[-1]]))
            sentence = f"The link also asks for {both}. Choose the level “{level.capitalize()}” to see that."
            st.info(sentence, icon=":material/school:")
