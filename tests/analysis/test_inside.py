"""The way of a text through a model: every number follows from those before it, back to the ids."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis import inside

TEXT = "Once upon a time there was a little cat."


@pytest.fixture(scope="module")
def way():
    writer = models.load("writer")
    return inside.follow(writer, writer.trace(TEXT), 2, 3)


def test_every_stage_follows_from_those_before_it(way):
    for stage in way.stages[1:]:
        assert stage.missing is None
        np.testing.assert_allclose(stage.calculated(), stage.values, atol=1e-4, err_msg=stage.name)


def test_what_was_recorded_of_the_text_is_what_is_shown(way):
    attention, hidden = way.trace.attention["self"], way.trace.hidden["self"]
    for name, expected in (
        ("stream", hidden[2]),
        ("output", hidden[3]),
        ("turned queries", attention.q(2)),
        ("turned keys", attention.k(2)),
        ("values", attention.v(2)),
        ("scores", attention.scores(2)),
        ("weights", attention[2]),
        ("logits", way.trace.logits),
    ):
        np.testing.assert_allclose(way.stage(name).values, expected, atol=1e-4, err_msg=name)


def test_the_last_stage_is_the_prediction(way):
    first = way.model.predict(TEXT, top=1)[0]
    assert way.stages[-1].values[-1] == first.id
    assert way.stage("probabilities").values[-1, first.id] == pytest.approx(first.probability, abs=1e-6)


@pytest.mark.parametrize("text", ["", "a", "Cat"])
@pytest.mark.parametrize("name", models.names())
def test_an_empty_text_and_a_single_token_have_their_way(name, text):
    model = models.load(name)
    trace = model.trace(text)
    for stack in trace.hidden:
        path = inside.follow(model, trace, stack=stack)
        assert all(stage.missing is None for stage in path.stages)
        for stage in path.stages[1:]:
            np.testing.assert_allclose(stage.calculated(), stage.values, atol=1e-4, err_msg=stage.name)


def test_of_a_long_text_a_window_is_shown_and_all_of_it_can_be_traced(way):
    writer = way.model
    trace = writer.trace("The cat sat on the mat and looked at the dog. " * 40)
    assert len(trace.tokens) == writer.info.context
    for around in (0, 100, len(trace.tokens) - 1):
        path = inside.follow(writer, trace, 1, around=around)
        assert around in path.window and len(path.window) == 64
        assert path.stage("weights").values.shape == (8, 64, len(trace.tokens))
        np.testing.assert_allclose(path.stage("weights").values, trace.attention["self"][1][:, path.window], atol=1e-6)
        np.testing.assert_allclose(path.stage("logits").values, trace.logits[path.window], atol=1e-4)
        for stage in path.stages[1:]:
            np.testing.assert_allclose(stage.calculated(), stage.values, atol=1e-4, err_msg=stage.name)
    elsewhere = path.explain("attention", (3, 5), 1)  # a token that the window does not show
    assert sum(term.product for term in elsewhere.terms) == pytest.approx(elsewhere.value, abs=1e-4)


def test_a_mask_hides_and_a_hidden_key_has_no_weight(way):
    cell = way.explain("masked scores", (0, 2, 5), 2)
    assert cell.value == -np.inf and [term.product for term in cell.terms][1] == -np.inf
    assert way.explain("weights", (0, 2, 5), 2).value == 0


def test_to_be_followed_disturbs_no_other_reading(way):
    """The modules that are watched are a copy: the model remembers what it read, and reads on from there."""
    writer = way.model
    before, condition = writer.trace(TEXT), writer.condition
    inside.follow(writer, before, 1)
    assert writer.condition == condition is not None
    np.testing.assert_array_equal(writer.trace(TEXT).logits, before.logits)


@pytest.mark.parametrize(
    ("ask", "complaint"),
    [
        (lambda way: inside.follow(way.model, way.trace, 6), "6 layers"),
        (lambda way: inside.follow(way.model, way.trace, 0, 8), "8 heads"),
        (lambda way: inside.follow(way.model, way.trace, stack="decoder"), "no stack"),
        (lambda way: inside.follow(way.model, way.trace, around=99), "positions"),
        (lambda way: way.explain("soul", (0,)), "no stage"),
        (lambda way: way.explain("stream", (0,)), "2 dimensions"),
        (lambda way: way.explain("stream", (0, 256)), "which has 256"),
        (lambda way: inside.neurons(way, 99), "positions"),
        (lambda way: inside.neurons(way, 0, top=0), "from 1 on"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(way, ask, complaint):
    with pytest.raises(ValueError, match=complaint):
        ask(way)
