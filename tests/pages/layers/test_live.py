"""The choices of "Evolution" and "Lens" as a message on the line brings them, and the texts that are left to a run."""

from __future__ import annotations

import json

import pytest

import models
from analysis.lens import CELLS
from pages.layers.live import WINDOW, compose_lens, is_quick, positions_of, settings_of, values_of
from pages.layers.settings import Settings
from ui.look import Choices, Look, look_of


@pytest.mark.parametrize("settings", [Settings(), Settings((4, 17), True)])
def test_settings_come_back_as_they_were(settings):
    assert settings_of(json.loads(json.dumps(values_of(settings)))) == settings


WRONG = [
    ("film", 1),
    ("film", None),
    ("pair_key", [0]),
    ("pair_key", [None, 3]),
    ("pair_key", [-1, 3]),
    ("pair_key", [10**12, 3]),
    ("pair_key", {}),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_is_not_allowed_is_named_in_a_sentence(name, value):
    with pytest.raises(ValueError, match=f"“{name}” is .*\\.$"):
        settings_of({name: value})


def seen(text: str = "The cat sat on the mat", model: str = "writer") -> Look:
    network = models.load(model)
    return look_of(network, network.trace(text), "", Choices(level="expert"))


def test_a_text_with_one_window_of_quick_predictions_is_shown_through_the_lens():
    look = seen()
    count, each = len(positions_of(look)), (len(look.trace.numbers) + 1) * look.model.info.vocabulary
    assert is_quick(look, positions_of(look)) and compose_lens(look, {}).data
    assert count < WINDOW and not is_quick(look, list(range(WINDOW + 1))) and not is_quick(look, [0] * (CELLS // each + 1))


@pytest.mark.parametrize(("text", "model"), [("the cat sat " * 30, "writer"), ("No mask here.", "filler"), ("A text.", "sorter")])
def test_a_text_with_controls_or_words_of_its_own_is_left_to_a_run(text, model):
    with pytest.raises(ValueError, match="a run of the page shows it"):
        compose_lens(seen(text, model), {})


WRONG_LENS = [
    {"tuned": 1},
    {"colour": "green"},
    {"colour": ["kl"]},
    {"layer": -1},
    {"layer": "2"},
    {"layer": True},
    {"token": [1]},
    {"token": [-1, 2]},
]


@pytest.mark.parametrize("values", WRONG_LENS)
def test_what_is_not_allowed_of_a_lens_is_named_in_a_sentence(values):
    with pytest.raises(ValueError, match=f"“{next(iter(values))}”"):
        compose_lens(seen(), values)
