"""Page "Inside" on the line: what a message may ask, and what is left to a run of the page."""

from __future__ import annotations

import pytest

import models
from pages.inside import opened
from pages.inside.live import compose_from
from pages.inside.stops import AFTER, BEFORE, FOLLOWED, STRIP
from ui.look import Choices, Look, look_of

TEXT = "The cat sat on the mat"


def seen(text: str = TEXT, level: str = "intermediate", model: str = "writer", second: str = "") -> Look:
    network = models.load(model)
    return look_of(network, network.trace(text, second), second, Choices(level=level))


def test_a_number_that_a_shorter_text_does_not_have_gives_way_to_the_one_that_is_shown_first():
    values = {"stage": "weights", "cell": "1.5.2"}
    first = compose_from(seen(), {"stage": "weights"}).data
    assert compose_from(seen(), values).data != first
    short = seen("The cat")
    assert compose_from(short, values).data == compose_from(short, {"stage": "weights"}).data


def test_a_stage_that_the_model_does_not_have_is_closed():
    board = compose_from(seen(), {"stage": "cross weights"})
    assert board.data == compose_from(seen(), {}).data and AFTER not in board.contents


def test_a_beginner_follows_the_answer_or_the_text():
    look = seen("The cat sleeps.", "beginner", "translator", "Le chat")
    answer, text, number = (
        compose_from(look, values).data for values in ({}, {"text": True}, {"block": "encoder0", "text": True})
    )
    assert answer[FOLLOWED] != text[FOLLOWED] and STRIP not in answer
    assert number.keys() == text.keys()


def test_the_small_stages_are_unfolded_as_the_page_says():
    folded, unfolded = (compose_from(seen(), {"stage": "weights", "every": every}).data for every in (False, True))
    assert folded[BEFORE] != unfolded[BEFORE] and folded[STRIP] == unfolded[STRIP]


WRONG = [
    ({"stage": 5}, "“stage” is a text"),
    ({"trail": "x" * 20_000}, "“trail” is a text of at most 10,000 characters"),
    ({"stage": "feed-forward"}, "has controls"),
    ({"stage": "pieces", "word": -1}, "“word” is a whole number"),
    ({"stage": "pieces", "word": "2"}, "“word” is a whole number"),
    ({"stage": "order"}, "has controls"),
]


@pytest.mark.parametrize(("values", "sentence"), WRONG)
def test_what_is_not_allowed_is_answered_in_a_sentence(values, sentence):
    with pytest.raises(ValueError, match=sentence):
        compose_from(seen(), values)


def test_numbers_beyond_the_slider_that_a_run_has_placed_are_left_to_a_run(monkeypatch):
    """Of a long row there is a slider, which stands as the run has placed it."""
    monkeypatch.setattr(opened, "COLUMNS", 4)
    look, values = seen(), {"stage": "weights", "cell": "0.5.1"}
    with pytest.raises(ValueError, match="another slider"):
        compose_from(look, values)
    count = len(look.trace.tokens)
    placed = compose_from(look, values | {"columns": [count, 1, 4]}).data
    assert compose_from(look, values | {"columns": [count, 1, count]}).data != placed
    for other in ([count - 1, 1, 4], [count, 2, 4], [count, 1, count + 1], [count, 1, 3], "all"):
        with pytest.raises(ValueError, match="another slider"):
            compose_from(look, values | {"columns": other})
