"""A teacher's playlist: its file, and its entries on the pages of the app."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.opening import press
from tests.ui.rooms.app_visitors import back, choices, follow, lead, person, send
from ui.rooms.playlist import ENTRIES, LARGEST, NO_PLAYLIST, TOO_LARGE, VERSION, Entry, PlaylistError, read, write
from ui.rooms.questions import prepare

CAT = {"model": "writer", "text": "The cat", "level": "expert", "layer": "L4", "head": "H3", "view": "Heatmap"}
QUESTION = {"ask": "Which?", "kind": "choices", "choices": ["a", "b"], "right": "b", "model": "nothing"}


def test_a_saved_playlist_is_read_again_as_it_was():
    entries = (
        Entry("attention", CAT, prepare("Wo <b>?", "choices", ("ä", "“b”"), right="ä"), "what comes next"),
        Entry("heads", {"level": "beginner"}),
    )
    assert read(write(entries)) == entries
    assert read("\ufeff" + write(())) == ()


def of(*entries: object) -> str:
    return json.dumps({"kind": VERSION, "entries": entries})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, NO_PLAYLIST),
        ("", NO_PLAYLIST),
        ("[" * 100_000, NO_PLAYLIST),
        ("9" * 5000, NO_PLAYLIST),
        ('{"kind": "headlight playlist 1"}', NO_PLAYLIST),
        (json.dumps({"kind": "another", "entries": []}), NO_PLAYLIST),
        (" " * (LARGEST + 1), TOO_LARGE),
        (of(*[{"page": "type", "link": {}}] * (ENTRIES + 1)), TOO_LARGE),
        (of({"page": "type", "link": {}}, 3), "Entry 2 of this file"),
        (of({"page": "type", "link": {}, "script": "x"}), "no more than a “question”"),
        (of({"page": "room", "link": {}}), "needs a page"),
        (of({"page": ["type"], "link": {}}), "needs a page"),
        (of({"page": "type", "link": {"text": 1}}), "a name and a text"),
        (of({"page": "type", "link": {"text": "a" * 6001}}), "more than 6,000"),
        (of({"page": "type", "link": {"room": "ABCDEF"}}), "which no playlist sets"),
        (of({"page": "type", "link": {"trained": "key"}}), "which no playlist sets"),
        (of({"page": "type", "link": {"room-key": "x"}}), "has no choice"),
        (of({"page": "type", "link": {"level": "wizard"}}), "does not exist"),
        (of({"page": "type", "link": {"layer": "L9999999999"}}), "needs a number"),
        (of({"page": "type", "link": {"special": "perhaps"}}), "true or false"),
        (of({"page": "type", "link": {"bars": "9" * 5000}}), "needs a number"),
        (of({"page": "type", "link": {}, "question": {"ask": "Which?"}}), "question needs"),
        (of({"page": "type", "link": {}, "question": {**QUESTION, "right": "c"}}), "none of the choices"),
        (of({"page": "type", "link": {}, "question": {**QUESTION, "model": "__class__"}}), "question needs"),
        (of({"page": "type", "link": {}, "question": {**QUESTION, "choices": ["a", ["b"]]}}), "question needs"),
        (of({"page": "type", "link": {}, "question": {**QUESTION, "ask": "a" * 401}}), "more than 400"),
    ],
)
def test_a_damaged_or_hostile_file_gets_a_sentence(text, why):
    with pytest.raises(PlaylistError) as error:
        read(text)
    assert why in str(error.value) and len(str(error.value)) < 800


def page() -> None:
    import streamlit as st

    from ui.rooms import play

    st.button("open", on_click=lambda: play.open_file(st.session_state["file"]))


def test_a_file_that_is_refused_changes_nothing_and_one_that_is_read_takes_the_place_of_the_playlist():
    app = AppTest.from_function(page)
    app.session_state["file"] = of({"page": "heads", "link": {}})
    press(app.run(), "open")
    assert [entry.page for entry in app.session_state["playlist"]] == ["heads"] and not app.toast
    app.session_state["file"] = of({"page": "nowhere", "link": {}})
    press(app, "open")
    assert "Entry 1" in app.toast[0].value and [entry.page for entry in app.session_state["playlist"]] == ["heads"]


def test_a_view_is_added_and_a_click_leads_the_class_there_again(teacher):
    app, room = teacher
    press(app, "Add what I see")
    assert app.session_state["playlist"] == (Entry("attention", CAT),)
    app.text_input(key="text").set_value("A dog").run()
    app.selectbox(key="layer").set_value(1).run()
    press(app, f"Room {room.code}: code, questions")
    back(app, "room")
    other = follow(room)
    assert choices(other, "text", "layer") == ("A dog", 1)
    app.button(key="playlist-open-1").click().run()
    back(app, "attention")
    other.run()
    for visitor in (app, other):
        assert choices(visitor, "text", "level", "layer", "head", "view") == ("The cat", "expert", 4, 3, "Heatmap")
    assert person(other).follows


def test_next_goes_through_the_playlist_and_its_question_is_asked_with_the_right_answer(teacher):
    app, room = teacher
    other = follow(room)
    app.session_state["playlist"] = read(of({"page": "heads", "link": {}}, {"page": "type", "link": {}, "question": QUESTION}))
    app.run()
    for number, name, title in ((1, "heads", "Heads"), (2, "type", "Type")):
        press(app, f"Next, {number} of 2: {title}")
        back(app, name)
        send(other, name)
        assert room.at["page"] == name and person(other).follows
    press(app, "Ask the question")
    assert (room.question.words, room.question.choices, room.question.right) == ("Which?", ("a", "b"), "b")
    press(app, "Show the right answer")
    assert room.question.right_visible
    press(app, "End the question")
    labels = [button.label for button in app.button]
    assert "Ask the question" not in labels and not any(label.startswith("Next,") for label in labels)


def test_a_question_is_put_into_the_entry_that_was_added_last(teacher):
    app, room = teacher
    press(app, "Add what I see")
    press(app, f"Room {room.code}: code, questions")
    back(app, "room")
    app.text_input(key="room-ask").set_value("Which?").run()
    app.text_area(key="room-choices").set_value("a\nb").run()
    app.selectbox(key="room-right-choice").set_value("b").run()
    press(app, "Put it into the playlist")
    (entry,) = app.session_state["playlist"]
    assert entry.question == prepare("Which?", "choices", ("a", "b"), right="b") and room.question is None
    app.button(key="playlist-remove-1").click().run()
    assert app.session_state["playlist"] == () and app.session_state["playlist-at"] == 0


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("type", {"level": "expert", "bars": "10000", "temperature": "-5"}),
        ("build", {"level": "expert", "build-layers": "100000", "build-bias": "7", "build-norm": "x", "build-heads": "x"}),
    ],
    ids=["type", "build"],
)
def test_a_page_stands_though_values_are_out_of_its_bounds(page, link):
    app, room = lead("heads", "level=beginner")
    app.session_state["playlist"] = read(of({"page": page, "link": link}))
    press(app.run(), f"Next, 1 of 1: {page.capitalize()}")
    back(app, page)
    assert not app.exception and not app.error and room.at["page"] == page
