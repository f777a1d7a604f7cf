"""The model that a press requests, also where its visitor goes on before the browser knows of it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.pages.opening import finish, open_link
from ui.memory import loaded


def requested() -> AppTest:
    """Page Type once a press has requested the filler."""
    loaded.model("filler")
    app = open_link("type", "text=One")
    app.session_state["choose"] = "filler"
    finish(app.run())
    assert app.session_state["model"] == app.session_state["in-use"] == "filler"
    return app


def sends(app: AppTest, model: str, page: str) -> AppTest:
    """The page for which a browser asks, whose picker has this model."""
    app.selectbox(key="model").set_value(model)
    app._page_hash = calc_hash(page)
    return finish(app.run())


def test_another_page_has_it_though_the_browser_still_has_the_one_before():
    app = sends(requested(), "writer", "attention")
    assert app.session_state["model"] == app.session_state["in-use"] == "filler"
    assert sends(app, "filler", "layers").session_state["in-use"] == "filler"


def test_a_choice_in_the_picker_counts_from_then_on():
    app = sends(requested(), "writer", "type")
    assert app.session_state["in-use"] == "writer"
    assert sends(app, "writer", "attention").session_state["in-use"] == "writer"
