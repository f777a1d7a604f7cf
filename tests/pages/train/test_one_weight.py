"""The curves “One weight” of page Train: the sentence has the numbers of the step that is shown."""

from __future__ import annotations

import pytest

from pages.train.one_weight import written
from tests.pages.opening import open_link, words_on

SMALL = "train-layers=1&train-d_model=16&train-heads=2&train-steps=20"


@pytest.mark.parametrize("level", ["intermediate", "expert"])
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_the_sentence_has_the_numbers_of_the_shown_step(few_steps, level, optimizer):
    app = open_link("train", f"level={level}&train-task=Copy&curves=One+weight&train-optimizer={optimizer}&{SMALL}")
    app.button(key="train-start").click().run()
    (run,) = few_steps
    (weight,) = run.one_weights
    words = words_on(app)
    assert not app.exception and f"`{weight.name}`" in words
    assert all(written(getattr(weight, name)[2]) in words for name in ("gradient", "mean", "value", "moved"))
    assert (written(weight.root[2]) in words) == (optimizer == "adamw")
