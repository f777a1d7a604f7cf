"""The mean of a head over a reference set of texts."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis import feedforward_means, head_means
from analysis.inside.sample import passages
from analysis.references import PASSAGES


def test_a_mean_is_that_over_all_tokens_of_the_texts():
    model, texts = models.load("writer"), ["The cat sat on the mat.", "A dog"]
    outs = [model.trace(text, remember=False).attention["self"].out(4)[6, 1:] for text in texts]  # without the sign for the start
    np.testing.assert_allclose(head_means(model, texts=texts)[4, 6], np.concatenate(outs).mean(0), atol=1e-5)


def test_a_mean_of_a_feed_forward_is_too():
    model, texts = models.load("writer"), ["The cat sat on the mat.", "A dog"]
    outputs = [model.trace(text, remember=False).parts["self"]["feedforward"][4, 1:] for text in texts]
    np.testing.assert_allclose(feedforward_means(model, texts=texts)[4], np.concatenate(outputs).mean(0), atol=1e-5)
    with pytest.raises(ValueError, match="not known"):
        feedforward_means(model, "cross", texts)


def test_no_texts_is_the_built_in_sample_read_once(monkeypatch):
    model = models.load("writer")
    means = head_means(model)
    np.testing.assert_allclose(means, head_means(model, texts=passages()[:PASSAGES]), atol=1e-6)
    monkeypatch.setattr(model, "trace", lambda *texts, **options: pytest.fail("it is known already"))
    assert head_means(model) is means


def test_each_kind_of_an_encoder_decoder_has_its_own():
    model = models.load("translator")
    for kind in ("encoder", "decoder", "cross"):
        assert head_means(model, kind, ["The cat."]).shape == (3, 4, 64)
    with pytest.raises(ValueError, match='no "self" attention'):
        head_means(model, "self", ["The cat."])
