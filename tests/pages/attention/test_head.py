"""The view "Head" of page Attention: which token's lines are held."""

from __future__ import annotations

import json

import pytest

import models
from pages.attention.views import head
from ui import state
from ui.look import Look
from viz.view import View


@pytest.fixture
def look(monkeypatch) -> Look:
    kept: dict = {}
    monkeypatch.setattr(state.Key, "get", lambda key: kept.get(key.name, key.default))
    monkeypatch.setattr(state.Key, "set", lambda key, value: kept.update({key.name: value}))
    writer = models.load("writer")
    return Look(writer, writer.trace("The cat sat"), level="expert", picked=(0, 0))


def chosen(view: View) -> list | None:
    size = int.from_bytes(view.data[:4], "little")
    return json.loads(view.data[4 : 4 + size])["chosen"]


@pytest.mark.parametrize(("told", "held"), [(["to", 2], ["to", 2]), (["from", 1], None), (None, None)])
def test_a_key_that_is_pressed_is_held_until_another_token_is_pressed(look, monkeypatch, told, held):
    monkeypatch.setattr(head, "choice", lambda key: {"token": told})
    state.KEPT_KEY.set(1)
    picture = head.lines(look)
    assert chosen(picture.drawn) == ["to", 1]
    picture.react()
    assert chosen(head.lines(look).drawn) == held


def test_a_key_that_a_shorter_text_has_not_is_let_go(look):
    state.KEPT_KEY.set(90)
    assert chosen(head.lines(look).drawn) is None
