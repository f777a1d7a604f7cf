"""The choices of "Switch off" as a message on the line brings them."""

from __future__ import annotations

import json

import pytest

import models
from models.edits import Head
from pages.change.live import compose_from, settings_of, values_of
from pages.change.settings import Settings
from tests.pages.opening import header_of
from ui.look import Choices, look_of
from ui.memory import visitors

TEXT = "The cat sat on the"


@pytest.mark.parametrize("settings", [Settings(), Settings(("h2.3", "f4"), True)])
def test_settings_come_back_as_they_were(settings):
    assert settings_of(json.loads(json.dumps(values_of(settings, "The dog")))) == (settings, "The dog")


WRONG = [
    ("changes", "h2.3"),
    ("changes", ["h2.3", 1]),
    ("changes", ["off"]),
    ("changes", ["h2.3"] * 501),
    ("undo", 1),
    ("other", None),
    ("other", "x" * 6001),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_is_not_allowed_is_named_in_a_sentence(name, value):
    with pytest.raises(ValueError, match=f"“{name}” is .*\\.$"):
        settings_of({name: value})


def test_a_text_is_answered_with_what_the_changed_model_says_of_it():
    writer = models.load("writer")
    look = look_of(writer, writer.trace(TEXT), "", Choices(level="expert"))
    with visitors.acting_for("a session of this test"):
        board = compose_from(look, {"changes": ["h4.5", "h99.0"]})
    bars = next(picture for picture in board.pictures if picture.part == "bars")
    after = writer.trace(TEXT, edits=[Head(4, 5)]).logits_at(-1)
    shares = bars.numbers()["after"].values
    assert shares.max() == pytest.approx(float(writer.chances(after).max()), rel=1e-4)
    assert list(board.contents) == ["unfit 0", "change"] and header_of(board.data["change"])
