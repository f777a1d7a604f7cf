"""Page Change with a classifier: its prediction is called a label, or a number, and never a token or a piece."""

from __future__ import annotations

import re

import pytest

import models
from models.language_model import LanguageModel
from pages.change import changes, figures
from pages.change.boards import switching
from pages.change.compose import HERE
from pages.change.settings import Settings
from tests.models.classifiers import TEXT, model
from tests.pages.opening import open_link, words_on
from ui import state
from ui.look import Look
from ui.picture.board import Draft


def look_of(network: LanguageModel, level: str) -> Look:
    return Look(network, network.trace(TEXT), level=level)


@pytest.mark.parametrize("level", state.LEVELS)
def test_what_is_said_of_a_prediction_is_said_of_labels(level):
    look = look_of(models.load("sorter"), level)
    (best, _) = look.model.predict(TEXT)
    for edits in ([], ["b0"], ["b0", "b1", "b2"]):
        draft, changed = Draft(HERE, look), changes.apply(look, edits)
        bars = figures.prediction(draft, changed, figures.predicted_position(look), "")
        assert best.text in bars.above and not re.search(r"\btokens?\b|\bpieces?\b|\bwords?\b", bars.above)
        assert draft.pictures[0].numbers()["after"].axes == ("label",)


@pytest.mark.parametrize("level", state.LEVELS)
@pytest.mark.parametrize(("name", "calls"), [("BERT", "label"), ("BERT, a number", "number|output")])
def test_what_is_said_of_effects_is_said_of_what_they_are_effects_on(level, name, calls):
    network = model(name)
    look = look_of(network, level)
    part_effects = figures.recipes.effects_of(
        network, look.trace, "self", figures.predicted_position(look), "", lambda share, words: None
    )
    below = figures.parts(Draft(HERE, look), changes.apply(look, []), figures.predicted_position(look), part_effects).below
    assert below and "{" not in below and "likeliest token" not in below
    assert level == "beginner" or re.search(calls, below)
    assert name == "BERT" or "probability" not in below


def test_beginners_are_asked_about_the_label():
    assert "the right label" in words_on(open_link("change", "model=sorter&text=Did+the+cat+sit&level=beginner"))
    assert "makes the same guess" in words_on(open_link("change", "text=Did+the+cat+sit&level=beginner"))


def test_beginners_press_for_the_label():
    look = look_of(models.load("sorter"), "beginner")
    assert "label" in switching.list_part(Draft(HERE, look), Settings()).below
