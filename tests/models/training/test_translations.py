"""Many sentences side by side come out as each by itself, and a name survives where an answer says it as a word."""

from __future__ import annotations

import pytest

from bin.model_card import held_out_names
from bin.model_card.translations import translations
from models.catalog import load

TEXTS = ["I am tired.", "The cat is black.", "", "Where is the station?", "I don't want to go to school.", "I am tired.", "Go!"]


@pytest.mark.parametrize("width", [1, 4])
def test_sentences_side_by_side_are_translated_as_each_by_itself(width):
    model = load("translator")
    assert translations(model, TEXTS, width) == [model.text_of(model.translate(text, width)[0]) for text in TEXTS]


def test_a_name_survives_as_a_word_letter_by_letter(monkeypatch):
    translations_by_text = {
        "I see Ann.": "Je vois Ann.",
        "Ann's cat": "Le chat d'Ann",
        "I see Bo.": "Je vois Bob.",
        "Bo's cat": "le chat de bo",
    }
    monkeypatch.setattr(
        held_out_names, "translations", lambda model, texts, width: [translations_by_text[text] for text in texts]
    )
    assert held_out_names.survivals(None, ["Ann", "Bo"], ["I see {}.", "{}'s cat"], 4) == [[True, True], [False, False]]
