"""Page "Attention" on the line: what a message may ask, and what is left to a run of the page."""

from __future__ import annotations

import pytest

import models
from pages.attention import state as page_state
from pages.attention import window
from pages.attention.compose import compose
from pages.attention.live import OPTIONS, compose_from, settings_of, values_of
from pages.attention.settings import Settings
from pages.attention.window import MAP, Window
from ui.look import Choices, Look, look_of


def seen(text: str, level: str = "intermediate", **choices: object) -> Look:
    model = models.load("writer")
    return look_of(model, model.trace(text), "", Choices(level=level, **choices))  # type: ignore[arg-type]


def test_the_values_of_a_message_are_the_settings_of_the_page():
    chosen = Settings("Reading", "rollout", "entropy", "itself", heads=(1, 3), of_head=1, single=4, key=2)
    chosen = Settings(**vars(chosen) | {"window": Window((0, 9, 5, 9), "self", (10, 10))})
    assert settings_of("expert", values_of(chosen)) == chosen
    for key in (page_state.SHADE, page_state.ORDER, page_state.ONLY):
        assert OPTIONS[key.name] == key.values


def test_the_window_of_a_longer_text_is_the_one_to_which_a_run_moves_it(monkeypatch):
    """A window on the end of a text stays there."""
    monkeypatch.setattr(window, "LONG", 20)
    look, before = seen("a b " * 30), Window((10, 29, 10, 29), "self", (30, 30))
    count = len(look.attention.queries)
    board = compose_from(look, values_of(Settings(window=before)))
    moved = Window((count - 20, count - 1, count - 20, count - 1), "self", (count, count))
    assert count > 30 and MAP in board.data and board.data == compose(look, Settings(window=moved)).data


WRONG = [
    ("expert", {"view": "Heatmap"}, "“view” is one of"),
    ("beginner", {"view": "Model"}, "for beginners"),
    ("expert", {"shade": "green"}, "“shade” is one of"),
    ("expert", {"heads": [-1]}, "“heads” is a list"),
    ("expert", {"heads": 3}, "“heads” is a list"),
    ("expert", {"heads": [1] * 2000}, "“heads” is a list"),
    ("expert", {"key": "2"}, "“of_head”, “single” and “key”"),
    ("expert", {"of_head": True}, "“of_head”, “single” and “key”"),
    ("beginner", {"single": "H2"}, "“of_head”, “single” and “key”"),
    ("expert", {"window": [0, 1, 0, 1]}, "“window” has edges"),
    ("expert", {"window": {"edges": [0, 9, 0, 9], "kind": "self", "counts": [5, 20]}}, "“window” has edges"),
]


@pytest.mark.parametrize(("level", "values", "sentence"), WRONG)
def test_what_is_not_allowed_is_answered_in_a_sentence(level, values, sentence):
    with pytest.raises(ValueError, match=sentence):
        compose_from(seen("The cat", level), values)


def test_tokens_that_cannot_be_joined_to_words_are_left_to_a_run():
    with pytest.raises(ValueError, match="a run of the page says"):
        compose_from(seen("猫坐在垫子上", whole_words=True), {})


def test_a_beginner_looks_through_the_chosen_head_in_every_view():
    look = seen("The cat sat on the mat", "beginner")
    other = (look.head + 3) % look.attention.heads
    for view in ("Head", "Reading"):
        board = compose(look, Settings(view, single=other))
        assert board.data == compose(look.at(look.layer, other), Settings(view)).data != compose(look, Settings(view)).data
    assert compose(look, Settings(single=99)).data == compose(look, Settings()).data, "the layer has no such head"
    expert = seen("The cat sat on the mat", "expert")
    assert compose(expert, Settings(single=other)).data == compose(expert, Settings()).data
