"""Logits that a model bends at its end, as Gemma 2 does: what its parts wrote sums to them as they were before."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis import head_sources, logit_attribution
from tests.models.edited import model

TEXT, CAPPED = "The cat sat on the mat", "Gemma 2, soft-capped"


def before_the_cap(position: int) -> np.ndarray:
    """The logits as the network's own parts make them, without the cap: float64 [vocabulary]."""
    net = model(CAPPED)
    network, rows = net.network, torch.from_numpy(net.trace(TEXT).hidden["self"][-1].copy())
    with torch.no_grad():
        return network.lm_head(network.model.norm(rows[position][None]))[0].double().numpy()


@pytest.mark.parametrize("position", [1, -1])
def test_contributions_sum_to_the_logit_before_the_cap(position):
    net = model(CAPPED)
    trace, plain = net.trace(TEXT), before_the_cap(position)
    np.testing.assert_allclose(net.cap * np.tanh(plain / net.cap), trace.logits[position], atol=1e-4)
    for token in (int(plain.argmax()), 7):
        table = logit_attribution(net, trace, token, position)
        assert table["contribution"].sum() == pytest.approx(plain[token], abs=2e-3)
    two = logit_attribution(net, trace, 7, position, against=9)
    assert two["contribution"].sum() == pytest.approx(plain[7] - plain[9], abs=2e-3)


def test_a_model_without_a_cap_has_none():
    assert model("GPT-2").cap is None and model("writer").cap is None


def test_what_a_head_wrote_is_told_by_its_keys_under_a_cap_too():
    net = model(CAPPED)
    trace = net.trace(TEXT)
    try:
        by_key = head_sources(net, trace, 1, 2, 7)
    except ValueError as error:
        assert "could not be found" in str(error)
        return
    assert np.isfinite(by_key).all() and len(by_key) == len(trace.tokens)
