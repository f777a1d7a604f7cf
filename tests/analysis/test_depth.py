"""Gradients by depth equal autograd's, and a stack without residuals is the composition of its parts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from analysis.depth import ROWS, VARIANTS, gradients, gradients_by_depth, network_of
from models.training.live import inputs
from models.training.tasks import repeat


@pytest.mark.parametrize(("place", "residuals"), VARIANTS)
def test_a_stack_is_the_composition_of_its_parts(place, residuals):
    network = network_of(place, residuals, seed=1, layers=3).eval()
    ids = inputs(repeat().batch(np.random.default_rng(0), 2)[0])
    reading = network.reading(0, ids.shape[1], None, None)
    x = network.embedding(ids)
    for layer, block in enumerate(network.blocks):
        parts = (
            (block.attention_norm, lambda y, block=block, layer=layer: block.attention(y, reading, layer)),
            (block.feedforward_norm, block.feedforward),
        )
        for norm, part in parts:
            stays = x if residuals else 0
            x = stays + part(norm(x)) if place == "before" else norm(stays + part(x))
    torch.testing.assert_close(network(ids), network.unembed(x))


@pytest.mark.parametrize(("place", "residuals"), VARIANTS)
def test_the_norms_are_those_of_autograd(place, residuals):
    network = network_of(place, residuals, seed=2, layers=2)
    ids, known = repeat().batch(np.random.default_rng(2), ROWS)
    loss = F.cross_entropy(network(inputs(ids))[torch.from_numpy(known)], torch.from_numpy(ids[known]))
    expected = []
    for block in network.blocks:
        each = torch.autograd.grad(loss, list(block.parameters()), retain_graph=True, allow_unused=True)
        expected.append(sum(float(gradient.double().square().sum()) for gradient in each if gradient is not None) ** 0.5)
    np.testing.assert_allclose(gradients(network, 2), expected, rtol=1e-4)


def test_without_residuals_the_gradients_of_the_layers_differ_far_more():
    """Claims of page Train: in a stack of 12 layers, for each of the seeds."""
    values = gradients_by_depth()
    first_over_last = {variant: norms[:, 0] / norms[:, -1] for variant, norms in values.items()}
    assert all(norms.shape == (3, 12) for norms in values.values())
    for place in ("before", "after"):
        assert (first_over_last[place, False] > 3 * first_over_last[place, True]).all()
