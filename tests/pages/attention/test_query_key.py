"""The view “Query-key” of page Attention: which key is shown, and that a class is led to it."""

from __future__ import annotations

import numpy as np
import pytest

import models
from pages.attention.views import query_key
from tests.pages.taking import header
from ui import state
from ui.look import Look


@pytest.fixture
def look(monkeypatch) -> Look:
    session: dict = {}
    monkeypatch.setattr(state.Key, "get", lambda key: session.get(key.name, key.default))
    monkeypatch.setattr(state.Key, "set", lambda key, value: session.update({key.name: value}))
    monkeypatch.setattr(query_key.st, "selectbox", lambda *given, **more: 3)
    writer = models.load("writer")
    return Look(writer, writer.trace("The cat sat"), level="expert", picked=(0, 0), chosen_token=3)


def test_a_key_that_is_pressed_stays_shown_and_is_led(look, monkeypatch):
    monkeypatch.setattr(query_key, "choice", lambda key: {"key": 1})
    strongest = int(np.argmax(look.attention[0][0, 3]))
    before = query_key.numbers(look)
    assert header(before.drawn)["chosen"] == strongest != 1
    before.react()
    assert state.KEPT_KEY in state.LED and state.KEPT_KEY.get() == 1
    after = query_key.numbers(look)
    assert header(after.drawn)["chosen"] == 1
    assert header(after.drawn)["link"] == "attention/to", "the end of the link by which the head view’s keys are pointed at"


def test_a_key_that_a_shorter_text_has_not_is_let_go(look):
    state.KEPT_KEY.set(90)
    assert "key" not in query_key.numbers(look).options
