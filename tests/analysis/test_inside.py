"""The way of a text through a model: every number follows from those before it, back to the ids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@settings(max_examples=60)
@given(data=st.data())
def test_the_terms_of_any_number_sum_to_it_and_lead_back_to_the_ids(way, data):
    stage = data.draw(st.sampled_from(way.stages))
    place = stage.place(*[data.draw(st.integers(0, size - 1)) for size in stage.shape])
    while place.stage != "ids":
        cell = way.explain(*place)
        total = sum(term.product for term in cell.terms)
        assert total == cell.value or total == pytest.approx(cell.value, abs=1e-4, rel=1e-4), place
        place = data.draw(st.sampled_from([term.source for term in cell.terms if term.source]))
