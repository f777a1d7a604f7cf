"""What page Train shows of a training is taken away with its numbers, for nobody can calculate them again."""

from __future__ import annotations

import numpy as np
import pytest

from models.scratch.config import TransformerConfig
from models.training.live import SIZES, Budget, Training
from models.training.tasks import TASKS
from pages.train import by_layer, display
from pages.train import state as page_state
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
    pictures = offered(monkeypatch, "train", f"level=expert&curves={look}")
    assert list(pictures) == [f"train-curves-{look}", "trained-heads", "trained-map"]
    for picture in pictures.values():
        assert_made_again(picture)
        caption_text = str(caption(picture))
        assert "repeat" in caption_text and "Model:" not in caption_text and "Text:" not in caption_text
    lines, heads, large = pictures.values()
    monkeypatch.setattr(state, "level", lambda: "expert")  # as on the page that was read
    assert set(table(lines)["curve"]) == set(lines.options["names"]) == set(display.curve_series(training, look)[0])
    np.testing.assert_array_equal(arrays(heads)["weights"], training.snapshots[-1].attention.astype(np.float32))
    layer, head = heads.options["chosen"]
    np.testing.assert_array_equal(arrays(large)["weights"], arrays(heads)["weights"][layer, head])
    rows = table(large)
    np.testing.assert_allclose(rows["weight"].to_numpy().reshape(len(large.options["texts"]), -1), arrays(large)["weights"])


@pytest.mark.parametrize("name", page_state.MEASURED.values)
def test_what_is_measured_in_each_layer_in_every_form(training, monkeypatch, name):
    monkeypatch.setattr(trainings, "mine", lambda: ("key", training))
    pictures = offered(monkeypatch, "train", f"level=expert&curves=By+layer&by-layer={name.replace(' ', '+')}")
    measure = by_layer.MEASURES[name]
    assert list(pictures) == [f"train-by-layer-{measure}", "trained-heads", "trained-map"]
    picture = pictures[f"train-by-layer-{measure}"]
    assert_made_again(picture)
    values, rows, steps = by_layer.measured(training, measure)
    numbers = table(picture)
    np.testing.assert_allclose(numbers[measure].to_numpy().reshape(len(rows), len(steps)), values)
    assert steps == ([0, 2, 4] if measure == "entropy" else [1, 3])


def test_a_picture_without_a_model_says_nothing_of_one():
    picture = Picture(lambda: None, (), {}, "x", dict, title="Steps")
    assert str(caption(picture)) == "Steps. Made with Headlight." and caption(picture).title == "Steps"
