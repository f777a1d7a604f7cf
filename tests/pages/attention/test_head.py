"""The view "Head" of page Attention: which token's lines are held."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import models
from pages.attention import clicks
from pages.attention.compose import compose
from pages.attention.settings import Settings
from ui import state
from ui.look import Look


@pytest.fixture
def look(monkeypatch) -> Look:
    session: dict = {}
    monkeypatch.setattr(state.Key, "get", lambda key: session.get(key.name, key.default))
    monkeypatch.setattr(state.Key, "set", lambda key, value: session.update({key.name: value}))
    writer = models.load("writer")
    return Look(writer, writer.trace("The cat sat"), level="expert", picked=(0, 0))


def chosen(look: Look) -> list | None:
    data = compose(look, Settings("Head", key=state.KEPT_KEY.get())).data["head-view"]
    return json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])["chosen"]


@pytest.mark.parametrize(("words", "held"), [(["to", 2], ["to", 2]), (["from", 1], None), (None, None)])
def test_a_key_that_is_pressed_is_held_until_another_token_is_pressed(look, monkeypatch, words, held):
    monkeypatch.setattr(clicks, "choice", lambda key: {"token": words})
    state.KEPT_KEY.set(1)
    assert chosen(look) == ["to", 1]
    clicks.on_lines(look)
    assert chosen(look) == held


def test_a_key_that_a_shorter_text_has_not_is_let_go(look):
    state.KEPT_KEY.set(90)
    assert chosen(look) is None


def test_a_beginner_begins_with_the_newest_token_and_a_chosen_one_comes_first(look):
    newcomer = replace(look, level="beginner")
    assert chosen(newcomer) == ["from", newcomer.newest]
    assert chosen(replace(newcomer, chosen_token=1)) == ["from", 1]
    state.KEPT_KEY.set(1)
    assert chosen(newcomer) == ["to", 1]
    state.KEPT_KEY.set(None)
    assert chosen(look) is None, "an expert sees all lines"


@pytest.mark.parametrize(
    ("heads", "of_head", "words"),
    [
        ((), None, "You see one head."),
        ((0,), 0, "You see one head."),
        ((0, 3), 0, "You see 2 of the 8 heads"),
        ((0, 3), 1, "You see one head."),
        (tuple(range(8)), 0, "You see all 8 heads"),
        ((), 0, "No head is on."),
    ],
)
def test_the_words_say_which_heads_are_seen(look, heads, of_head, words):
    board = compose(replace(look, level="intermediate"), Settings("Head", heads=heads, of_head=of_head))
    assert words in board.data["attention-words"].decode("utf-8", "ignore")
