"""The view “Query-key” of page Attention: which key is shown, and that a class is led to it."""

from __future__ import annotations

import numpy as np
import pytest

import models
from pages.attention import clicks
from pages.attention.compose import compose
from pages.attention.settings import Settings
from tests.pages.taking import header
from ui import state
from ui.look import Look
from ui.picture.picture import Picture


@pytest.fixture
def look(monkeypatch) -> Look:
    session: dict = {}
    monkeypatch.setattr(state.Key, "get", lambda key: session.get(key.name, key.default))
    monkeypatch.setattr(state.Key, "set", lambda key, value: session.update({key.name: value}))
    writer = models.load("writer")
    return Look(writer, writer.trace("The cat sat"), level="expert", picked=(0, 0), chosen_token=3)


def drawing(look: Look) -> Picture:
    (picture,) = compose(look, Settings("Query-key", key=state.KEPT_KEY.get())).pictures
    return picture


def test_a_key_that_is_pressed_stays_shown_and_is_led(look, monkeypatch):
    monkeypatch.setattr(clicks, "choice", lambda key: {"key": 1})
    strongest = int(np.argmax(look.attention[0][0, 3]))
    before = drawing(look)
    assert header(before.drawn)["chosen"] == strongest != 1
    clicks.REACTIONS[before.key](look)
    assert state.KEPT_KEY.led and state.KEPT_KEY.get() == 1
    after = drawing(look)
    assert header(after.drawn)["chosen"] == 1
    assert header(after.drawn)["link"] == "attention/to", "the end of the link by which the head view’s keys are pointed at"


def test_a_key_that_a_shorter_text_has_not_is_let_go(look):
    state.KEPT_KEY.set(90)
    assert "key" not in drawing(look).options
