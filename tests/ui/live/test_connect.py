"""What a page tells its browser of the line, and what it takes from it."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.pages.opening import finish, open_link
from ui import state
from ui.live import visits
from ui.live.visits import Visit

SESSION = "test session id"  # of every AppTest


def data_for_browser(app: AppTest) -> dict:
    """What a run tells the browser."""
    (data,) = [bytes(part.proto.bytes) for part in app.get("bidi_component") if part.proto.bytes.startswith(b'{"key"')]
    values: dict = json.loads(data)
    return values


def visit_of(app: AppTest) -> Visit:
    visit = visits.of_key(data_for_browser(app)["key"])
    assert visit is not None
    return visit


def typed(app: AppTest, text: str) -> str:
    """The message that a browser sends when somebody has typed a text."""
    page = data_for_browser(app)
    return json.dumps(
        {"number": 1, "text": text, "target": ""} | {name: page[name] for name in ("run", "page", "model", "choices")}
    )


def go_to(app: AppTest, page: str) -> AppTest:
    app._page_hash = calc_hash(page)
    app.run()
    return finish(app)


def test_a_run_tells_the_browser_what_is_chosen_and_another_run_something_newer():
    app = open_link("type", "text=One&level=expert&layer=L2&temperature=0.5")
    first = data_for_browser(app)
    assert (first["page"], first["model"], first["texts"]) == ("type", "writer", ["One", ""])
    assert first["choices"]["layer"] == 2 and first["values"] == {"temperature": 0.5, "bars": 10}
    app.run()
    assert data_for_browser(app) | {"run": 0} == first | {"run": 0} and data_for_browser(app)["run"] > first["run"]


@pytest.mark.parametrize("link", ["text=" + "x" * (state.LINKED + 1), "text=One&room=ABCDEF"])
def test_a_long_text_and_a_room_are_left_to_runs(link):
    app = open_link("type", link)
    assert data_for_browser(app) == {"key": ""}


def test_boxes_wait_for_a_rest_only_while_a_line_is_open():
    app = open_link("type", "text=One")
    box = app.text_input(key="text")
    assert box.proto.live_debounce_ms == 0
    visit_of(app).lines = 1
    app.run()
    assert app.text_input(key="text").proto.live_debounce_ms == 400
    go_to(app, "space")
    assert app.run().text_input(key="text").proto.live_debounce_ms == 0


@pytest.mark.parametrize("page", ["attention", "build"])
def test_what_was_typed_last_comes_along_to_another_page(page):
    """The browser sends the page that is asked for before it sends the text."""
    app = open_link("type", "text=Once")
    visit_of(app).newest = typed(app, "Once upon")
    go_to(app, page)
    assert app.session_state["text"] == "Once upon"
    go_to(app, "layers")
    assert app.text_input(key="text").value == "Once upon"


@pytest.mark.parametrize(("page", "there"), [("space", "type"), ("attention", "build")])
def test_what_a_page_sends_and_no_run_has_comes_along_to_another_page(page, there):
    """A request for a page takes the place of that of a key press before it."""
    app = open_link(page, "text=Once")
    visits.note_sent(SESSION, {"text": "Once upon", "level": "x"})
    visits.bring(SESSION, {}, False)
    go_to(app, there)
    go_to(app, "layers")
    assert app.text_input(key="text").value == "Once upon"


def test_a_line_that_is_late_does_not_undo_what_the_browser_said_as_it_left():
    app = open_link("type", "text=Once")
    visits.bring(SESSION, {"text": "Once upon"}, True)
    visit_of(app).newest = typed(app, "Once u")
    go_to(app, "space")
    assert app.text_input(key="text").value == "Once upon"
    app = open_link("type", "text=Once")
    visits.note_sent(SESSION, {"text": "Once upon"})
    app.text_input(key="text").set_value("Once upon").run()
    visits.bring(SESSION, {}, True)  # as the boxes have sent it
    visit_of(app).newest = typed(app, "Once u")
    go_to(app, "space")
    assert app.text_input(key="text").value == "Once upon"


def test_a_run_with_the_text_that_was_typed_leaves_nothing_to_restore():
    app = open_link("type", "text=Once")
    visit = visit_of(app)
    visit.newest = typed(app, "Once upon")
    app.text_input(key="text").set_value("Once upon").run()
    assert visit.newest == ""


def test_a_lesson_that_writes_into_the_box_is_not_undone_by_what_was_typed_before():
    app = open_link("type")
    visit = visit_of(app)
    visit.newest = typed(app, "Once upon")
    app.button(key="welcome-lesson").click().run()
    finish(app)
    text = app.text_input(key="text").value
    assert text != "Once upon" and visit.newest == ""
    go_to(app, "attention")
    assert app.text_input(key="text").value == text


def test_a_token_that_the_line_has_let_go_is_let_go_by_the_next_run():
    app = open_link("type", "text=One+two+three&level=intermediate&token=3")
    assert app.session_state["token"] == 3
    visit = visit_of(app)
    visit.lost = visit.run
    app.run()
    assert app.session_state["token"] is None and data_for_browser(app)["choices"]["token"] is None
