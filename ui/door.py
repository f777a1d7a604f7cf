"""The frame of every page: page config, navigation, and the side bar that all pages share."""

import streamlit as st

from ui import document, menu, projector, state
from ui.choices import gallery, picker, strength, text_boxes
from ui.choices.widgets import one_of
from ui.lessons import course, ending, panel
from ui.lexicon import follow
from ui.memory import jobs, loaded
from ui.memory.turns import turn
from ui.rooms import open_button, seat
from ui.serving import leaving

# Choices that a step of a lesson, or an entry of a playlist, leaves as they are
KEPT = (
    state.LESSON,
    state.LESSON_STEP,
    state.LESSON_LANGUAGE,
    state.MODEL,
    state.TRAINED,
    state.ROOM,
    state.PROJECTOR,
)


def side_bar(page: str) -> None:
    """Place the choice of level and model, which is on every page and in every link."""
    jobs.here()
    state.open_page(page)
    with st.sidebar:
        level = one_of(
            state.LEVEL,
            state.LEVELS,
            "the level",
            width="stretch",
            wrap=False,
            disabled=seat.is_fixed(state.LEVEL),
            help="How much each page shows and explains. The facts stay the same.",
        )
        state.keep(state.LEVEL, level, state.LEVELS[0])
        picker.side_bar(page, fixed=seat.is_fixed(state.MODEL))
        strength.side_bar(fixed=seat.is_fixed(state.MODEL))
    state.keep(state.ROOM, state.ROOM.get(), "")
    projector.keep_in_address()
    gallery.button()
    open_button.button()
    if picker.in_use() in loaded.shelf:
        text_boxes.side_bar(loaded.model(picker.in_use()).info)


def open_step(here: str) -> None:
    """Go to the page that a lesson's step asks for, with its choices and no others, as if its link had been opened. here: the
    open page's name in an address."""
    course.arrive()
    if not (there := state.LESSON_NEXT.pop()):
        return
    page, link = there
    if link is None:  # to the list of lessons or to the room, and what is chosen stays
        leaving.open_page(page)
    for key in (*state.linked_keys(), *state.numbered_keys()):
        if key in KEPT:
            continue
        if page == here and key not in (state.TEXT, state.TARGET):
            state.forget(key)
        else:
            key.pop()
    for key in state.keys_cleared_by_step():
        key.pop()
    for key in (state.TEXT, state.TARGET):
        text_boxes.change(key, link.pop(key.name, key.default))
    if other := link.pop(state.OTHER_TEXT.name, ""):
        text_boxes.change(state.OTHER_TEXT, other)
    state.LESSON_MODEL.pop()
    if (model := link.pop("model", "")) and model != picker.in_use():
        state.ask_for_model(model)
        state.LESSON_MODEL.set(model)
        state.OPENED.set({key.name: link.get(key.name, "") for key in (state.LAYER, state.HEAD)})
    state.take(page, link)
    leaving.open_page(page)


with turn(first=seat.goes_first()):
    st.set_page_config(page_title="Headlight", page_icon=document.ICON, layout="wide", initial_sidebar_state=256)
    st.logo(document.ICON, size="large")
    document.prepare(projector.is_on())
    seat.arrive()
    page = st.navigation(menu.pages(hidden=seat.hidden()), expanded=True)  # after an icon is set: its own is fetched from outside
    leaving.opens(page.url_path)
    seat.enter(page.url_path or menu.FIRST)
    open_step(page.url_path or menu.FIRST)
    title = menu.TITLES[page.url_path or menu.FIRST]  # the first page's address has no name
    st.set_page_config(page_title=f"{title} · Headlight")
    side_bar(page.url_path)
    follow.bring()
    draw_lesson = panel.show(
        page.url_path or menu.FIRST, picker.in_use(), panel.Endings(ending.close, ending.finish), hidden=seat.has_notes()
    )
    page.run()
    draw_lesson()
    projector.leave_button()
    if done := state.DONE.pop():
        st.toast(done, icon=":material/check:")
