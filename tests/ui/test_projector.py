"""Projector mode in the address and on the page."""

from __future__ import annotations

from tests.pages.opening import open_link, press
from tests.ui.rooms.app_visitors import back, choices, follow, lead


def test_a_link_begins_the_mode_and_a_button_on_every_page_ends_it():
    app = open_link("heads", "projector=1")
    app.query_params.clear()  # as a browser does on its way to another page
    assert back(app, "layers").query_params["projector"] == "1"
    press(app, "Leave projector mode")
    assert "projector" not in app.query_params
    assert "projector-leave" not in [button.key for button in app.button]


def test_the_page_of_rooms_begins_the_mode():
    app = open_link("room")
    press(app, "Projector mode")
    assert app.query_params["projector"] == "1" and "projector-leave" in [button.key for button in app.button]


def test_a_class_is_not_led_into_the_mode_of_its_teacher():
    app, room = lead("heads", "")
    app.session_state["projector"] = "1"
    app.run()
    assert choices(app, "projector") == ("1",)
    assert choices(follow(room), "projector") == ("",) and "projector" not in room.at
