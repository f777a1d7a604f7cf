"""Heads that do the same are alike, and only together do they matter; heads of one circuit are worth nothing alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis.importance import head_importance
from analysis.redundancy import head_likeness, lost_together
from tests.analysis.planted import SAID_TWICE, planted
from tests.models.edited import TEXT, model, stack, target

TWICE = [(SAID_TWICE, ""), ("qdfgzplhtw" * 2, "")]
PREVIOUS, INDUCTION, TWIN = 0, 2, 3  # heads of the planted model, whose last one does nothing at first


def twins():
    """The planted model, with its induction head twice."""
    built = planted()
    attention, size = built.network.blocks[1].attention, built.network.config.d_head
    with torch.no_grad():
        for linear in (attention.query, attention.key, attention.value):
            linear.weight[size:] = linear.weight[:size]
        attention.output.weight[:, size:] = attention.output.weight[:, :size]
    return built


def test_twins_are_alike_and_either_stands_in_for_the_other():
    built = twins()
    alike = head_likeness(built, TWICE)
    assert alike.maps[INDUCTION, TWIN] == pytest.approx(1, abs=1e-6) and alike.outputs[INDUCTION, TWIN] == pytest.approx(
        1, abs=1e-6
    )
    assert alike.maps[PREVIOUS, INDUCTION] < 0.5 and abs(alike.outputs[PREVIOUS, INDUCTION]) < 0.1
    importance = head_importance(built, TWICE)
    assert abs(importance.table["effect"][INDUCTION]) < 0.3, "alone neither is needed"
    losses = lost_together(built, importance, TWICE)
    assert losses.beyond[:, INDUCTION, TWIN].min() > 1


def test_heads_in_a_row_are_worth_little_without_each_other():
    built = planted()
    losses = lost_together(built, head_importance(built, TWICE), TWICE)
    beyond = losses.beyond.mean(0)
    assert losses.heads.tolist() == [0, 1, 2, 3] and np.isnan(np.diag(beyond)).all()
    assert beyond[PREVIOUS, INDUCTION] < -1 and abs(beyond[PREVIOUS, TWIN]) < 0.05
    np.testing.assert_array_equal(beyond, beyond.T)


@pytest.mark.parametrize("name", ["writer", "translator", "GPT-2", "BLOOM", "BERT", "T5"])
def test_likeness_is_a_correlation_and_a_share_on_models_of_every_kind(name):
    alike = head_likeness(model(name), [(TEXT, target(name))], stack(name))
    assert np.allclose(np.diag(alike.maps), 1) and (alike.maps >= 0).all() and (alike.maps <= 1).all()
    np.testing.assert_allclose(alike.maps, alike.maps.T, atol=1e-9)
    if name == "BLOOM":  # attends in its own way
        assert np.isnan(alike.outputs).all()
    else:
        assert np.allclose(np.diag(alike.outputs), 1) and (np.abs(alike.outputs) <= 1 + 1e-9).all()


def test_outputs_are_compared_as_numpy_compares_them():
    writer = model("writer")
    alike = head_likeness(writer, [(TEXT, "")])
    attention = writer.trace(TEXT).attention["self"]
    first, second = (
        (attention.out(layer)[head] @ writer.output_weights("self", layer)[head]) for layer, head in ((1, 3), (4, 5))
    )
    flat = [(output - output.mean(0)).ravel() for output in (first, second)]
    expected = np.dot(*flat) / np.prod([np.linalg.norm(vector) for vector in flat])
    assert alike.outputs[11, 37] == pytest.approx(expected, abs=1e-5)
