"""The guess after each layer is the lens's likeliest token, of words and of labels."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis.lens import guesses, layer_scores, lens
from tests.models.huggingface.folders import save
from tests.models.networks import TEXTS, network


@pytest.mark.parametrize(
    "name, text, target",
    [
        ("writer", TEXTS[0], ""),
        ("filler", "The [MASK] sat", ""),
        ("translator", "The cat sleeps.", "Le chat"),
    ],
)
def test_a_guess_is_what_the_lens_sees(name, text, target):
    model = models.load(name)
    trace = model.trace(text, target)
    for position in {0, model.places(trace)[0]}:
        seen = lens(trace, [position], top=1)
        ids, probabilities, scores = guesses(model, layer_scores(trace, position))
        assert np.allclose(probabilities, seen.probabilities[:, 0, 0], atol=1e-6)
        assert (ids == seen.ids[:, 0, 0]).mean() >= 1 - 1 / len(ids), "two that are equally likely may change places"
        logits = trace.logits_at(position)
        assert logits is not None and scores[-1] == pytest.approx(logits.max(), abs=1e-4)


def test_the_last_guess_of_a_classifier_is_its_label():
    model = models.load("sorter")
    trace = model.trace("Did the dog see the cat")
    (place,) = model.places(trace)
    ids, probabilities, _ = guesses(model, layer_scores(trace, place))
    best = model.predict("Did the dog see the cat", top=1)[0]
    assert (ids[-1], pytest.approx(probabilities[-1], abs=1e-6)) == (best.id, best.probability)
    assert len(ids) == model.info.layers + 1


def test_a_model_without_a_head_has_no_guess(tmp_path):
    model = models.load(str(save(network("BERT without a head"), tmp_path)))
    with pytest.raises(ValueError, match="predicts nothing"):
        layer_scores(model.trace("The cat"), 0)
