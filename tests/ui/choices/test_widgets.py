"""Whatever number a link asks for, the page stands and says what does not exist."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.opening import open_link, words_on


@pytest.mark.parametrize("asked", ["inf", "-1e999", "nan", "zzz"])
@pytest.mark.parametrize(
    ("page", "key"), [("build?build=Architecture", "build-layers"), ("train?", "train-steps"), ("generate?", "generate-seed")]
)
def test_no_number_without_an_end_is_taken_from_a_link(page, key, asked):
    page, link = page.split("?")
    app, plain = (open_link(page, f"level=expert&{link}{more}") for more in (f"&{key}={asked}", ""))
    assert "which does not exist here" in words_on(app)
    assert app.number_input(key=key).value == plain.number_input(key=key).value


def switch_page() -> None:
    from ui import state
    from ui.choices.widgets import switch

    switch(state.SPECIAL, "Special tokens", value=True)


@pytest.mark.parametrize(("link", "on"), [({}, True), ({"special": "false"}, False), ({"special": "true"}, True)])
def test_a_switch_stands_as_its_link_says_and_pages_read_it_by_its_key(link, on):
    app = AppTest.from_function(switch_page, default_timeout=60)
    app.query_params.update(link)
    app.run()
    assert app.toggle[0].value is on and app.session_state["special"] is on
