"""What page Train shows of a training is taken away with its numbers, for nobody can calculate them again."""

from __future__ import annotations

import numpy as np
import pytest

from models.scratch.config import TransformerConfig
from models.training.live import SIZES, Budget, Training
from models.training.tasks import TASKS
from pages.train import shown
from tests.pages.taking import arrays, assert_made_again, offered, table
from ui import state
from ui.memory import trainings
from ui.picture.caption import caption
from ui.picture.picture import Picture


@pytest.fixture(scope="module")
def training() -> Training:
    task = TASKS["repeat"](length=24)
    training = Training(task, TransformerConfig(**SIZES | {"context": 24}), Budget(rows=1, steps=4, every=2))
    training.advance(4)
    return training


@pytest.mark.parametrize("look", ["Answers and heads", "Loss", "Entropy", "Rate and gradient"])
def test_a_training_in_every_form(training, monkeypatch, look):
    monkeypatch.setattr(trainings, "mine", lambda: ("key", training))
    found = offered(monkeypatch, "train", f"level=expert&curves={look}")
    assert list(found) == [f"train-curves-{look}", "trained-heads", "trained-map"]
    for made in found.values():
        assert_made_again(made)
        said = str(caption(made))
        assert "repeat" in said and "Model:" not in said and "Text:" not in said
    lines, heads, one = found.values()
    monkeypatch.setattr(state, "level", lambda: "expert")  # as on the page that was read
    assert set(table(lines)["curve"]) == set(lines.options["names"]) == set(shown.noted(training, look)[0])
    np.testing.assert_array_equal(arrays(heads)["weights"], training.snapshots[-1].attention.astype(np.float32))
    layer, head = heads.options["chosen"]
    np.testing.assert_array_equal(arrays(one)["weights"], arrays(heads)["weights"][layer, head])
    rows = table(one)
    np.testing.assert_allclose(rows["weight"].to_numpy().reshape(len(one.options["texts"]), -1), arrays(one)["weights"])


def test_a_picture_without_a_model_says_nothing_of_one():
    made = Picture(lambda: None, (), {}, "x", dict, title="Steps")
    assert str(caption(made)) == "Steps. Made with Headlight." and caption(made).title == "Steps"
