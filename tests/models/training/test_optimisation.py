"""One step of learning against torch's own and the formulas; and what must not change when memory or precision is saved."""

from __future__ import annotations

import math
from copy import deepcopy

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from models.scratch.config import KINDS
from models.training.optimisation import IGNORED, DivergedError, adamw, muon_and_adamw, smoothed_loss, update
from models.training.optimizers import Adam, AdamW, GradientDescent, Muon, Optimizer
from tests.models.ours import VOCABULARY, answer, small, texts

VARIANTS = [
    {},
    {"positions": "relative"},
    {"positions": "alibi", "pattern": "bigbird"},
    {"score": "additive"},
    {"score": "multiplicative"},
    {"computed": "performer"},
    {"experts": 3},
    {"norm": "layer", "norm_place": "after", "kv_heads": 1},
]


@given(st.floats(0, 1), st.integers(0, 2**31), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_the_smoothed_loss_is_that_of_torch(smoothing, seed, ignored):
    generator = torch.Generator().manual_seed(seed)
    logits, targets = torch.randn(2, 3, 7, generator=generator), torch.randint(7, (2, 3), generator=generator)
    targets.view(-1)[:ignored] = IGNORED
    expected = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, label_smoothing=smoothing)
    torch.testing.assert_close(smoothed_loss(logits, targets, smoothing), expected)


def test_the_smoothed_loss_is_the_sum_over_its_definition():
    logits, share = torch.randn(5, dtype=torch.float64), 0.1
    wanted = torch.full((5,), share / 5, dtype=torch.float64)
    wanted[3] += 1 - share
    expected = -(wanted * (logits.exp() / logits.exp().sum()).log()).sum()
    torch.testing.assert_close(smoothed_loss(logits[None], torch.tensor([3]), share), expected)
    logits.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: smoothed_loss(x[None], torch.tensor([3]), share), logits)


def test_a_loss_that_cannot_be_says_why():
    with pytest.raises(ValueError, match=r"from 0 to 1; it is 1\.5"):
        smoothed_loss(torch.zeros(1, 3), torch.tensor([0]), 1.5)
    with pytest.raises(ValueError, match="every target is ignored"):
        smoothed_loss(torch.zeros(1, 3), torch.tensor([IGNORED]))


def test_a_step_is_that_of_the_paper():
    """AdamW written out, over three steps: matrices shrink, biases do not; a long gradient is cut to its norm."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2).double()
    x, rate, decay, (b1, b2) = torch.randn(5, 3, dtype=torch.float64), 0.01, 0.1, (0.9, 0.95)
    optimizer = adamw(model, decay=decay, betas=(b1, b2))
    weights = [parameter.detach().clone() for parameter in model.parameters()]
    means, squares = [torch.zeros_like(weight) for weight in weights], [torch.zeros_like(weight) for weight in weights]
    for step in range(1, 4):
        y = x @ weights[0].T + weights[1]
        gradients = [2 * y.T @ x, 2 * y.sum(0)]  # of the sum of squares
        norm = math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients))
        assert norm > 0.5
        for i, gradient in enumerate(gradient * 0.5 / norm for gradient in gradients):
            weights[i] *= 1 - rate * decay * (i == 0)
            means[i] = b1 * means[i] + (1 - b1) * gradient
            squares[i] = b2 * squares[i] + (1 - b2) * gradient**2
            weights[i] -= rate * (means[i] / (1 - b1**step)) / ((squares[i] / (1 - b2**step)).sqrt() + 1e-8)
        assert update(model, [(optimizer, rate)], model(x).square().sum(), clip=0.5) == pytest.approx(norm)
        for parameter, expected in zip(model.parameters(), weights, strict=True):
            torch.testing.assert_close(parameter.detach(), expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda weights: AdamW([(weights[0], 0.1), (weights[1], 0.0)]), [("AdamW", 0, {"weight_decay": 0.1}), ("AdamW", 1, {})]),
        (lambda weights: Muon((weight, 0.05) for weight in weights), [("Muon", 0, {}), ("Muon", 1, {})]),
        (lambda weights: Adam([(weights[0], 0.1), (weights[1], 0.0)]), [("Adam", 0, {"weight_decay": 0.1}), ("Adam", 1, {})]),
        (
            lambda weights: GradientDescent([(weights[0], 0.1), (weights[1], 0.0)]),
            [("SGD", 0, {"weight_decay": 0.1}), ("SGD", 1, {})],
        ),
    ],
    ids=["AdamW", "Muon", "Adam", "SGD"],
)
def test_steps_are_those_of_torch(ours, theirs):
    """At rates that change, with a weight that has no gradient at some steps, and from a state that was stored by either."""
    generator = torch.Generator().manual_seed(0)
    mine = [torch.randn(4, 7, generator=generator), torch.randn(6, 3, generator=generator)]
    other = [weight.clone() for weight in mine]
    settings = {
        "AdamW": {"betas": (0.9, 0.95), "weight_decay": 0.0},
        "Adam": {"betas": (0.9, 0.95)},
        "Muon": {"weight_decay": 0.05},
        "SGD": {"momentum": 0.9},
    }
    peers = [
        getattr(torch.optim, name)([{"params": [other[number]]}], **settings[name] | choices) for name, number, choices in theirs
    ]
    optimizer = ours(mine)
    for step in range(50):
        for number, (weight, peer) in enumerate(zip(mine, other, strict=True)):
            weight.grad = None if number and step in (0, 3, 30) else torch.randn(weight.shape, generator=generator)
            peer.grad = weight.grad
        rate = 0.1 / (step + 1)
        optimizer.step(rate)
        for peer in peers:
            peer.param_groups[0]["lr"] = rate
            peer.step()
        for weight, expected in zip(mine, other, strict=True):
            torch.testing.assert_close(weight, expected, atol=0, rtol=1e-6)
        stored = {number: deepcopy(peer.state_dict()["state"].get(0)) for number, peer in enumerate(peers)}
        state = optimizer.state_dict() if step % 2 else {"state": {number: values for number, values in stored.items() if values}}
        optimizer = ours(mine)
        optimizer.load_state_dict(state)


def test_each_weight_has_an_optimizer_and_only_matrices_decay():
    network = small()
    every = {id(parameter) for parameter in network.parameters()}
    optimizers: list[tuple[Optimizer, ...]] = [(adamw(network),), muon_and_adamw(network)]
    for parts in optimizers:
        assert sorted(id(weight) for part in parts for weight, _ in part.weights) == sorted(every)
        assert all(weight.dim() >= 2 for part in parts for weight, decay in part.weights if decay)
    muon, rest = muon_and_adamw(network)
    assert len(muon.weights) > 4 and all(weight.dim() == 2 for weight, _ in muon.weights)
    assert id(network.embedding.weight) in {id(weight) for weight, _ in rest.weights}


def test_a_step_that_diverges_is_not_taken():
    network = small()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    optimizer = adamw(network)
    for wrong in (math.nan, math.inf):
        with pytest.raises(DivergedError, match="Try a lower learning rate"):
            update(network, [(optimizer, 0.1)], network(texts()).mean() * wrong)
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())
    assert update(network, [(optimizer, 0.1)], network(texts()).square().mean()) > 0, "and one can go on"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("choices", VARIANTS, ids=str)
def test_checkpointing_gives_the_same_gradients(kind, choices):
    gradients = []
    for checkpointing in (False, True):
        network = small(kind=kind, checkpointing=checkpointing, **choices).train()
        answer(network, texts()).square().mean().backward()
        gradients.append({name: parameter.grad for name, parameter in network.named_parameters() if parameter.grad is not None})
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient, msg=lambda message, name=name: f"{name}: {message}")


def test_checkpointing_computes_blocks_again_and_only_when_gradients_are_wanted():
    network, runs = small(checkpointing=True).train(), []
    network.blocks[0].attention.register_forward_hook(lambda *_: runs.append(1))
    network(texts()).mean().backward()
    assert len(runs) == 2
    with torch.no_grad():
        network(texts())
    assert len(runs) == 3


def test_checkpointing_drops_the_same_when_it_computes_again():
    gradients = []
    for checkpointing in (False, True):
        network = small(checkpointing=checkpointing, dropout=0.3).train()
        torch.manual_seed(5)
        network(texts()).square().mean().backward()
        gradients.append(network.embedding.weight.grad)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("choices", [*VARIANTS, {"computed": "linformer"}], ids=str)
def test_in_bfloat16_it_learns_and_says_nearly_the_same(kind, choices):
    if choices.get("computed") == "linformer" and kind != "encoder":
        pytest.skip("a linformer sees the future")
    network = small(kind=kind, **choices)
    exact = answer(network, texts())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        coarse = answer(network, texts())
    assert coarse.dtype == torch.bfloat16
    if choices != {"experts": 3}:  # a token on the edge between two experts may go to the other
        assert (coarse - exact).norm() < 0.1 * exact.norm()
    smoothed_loss(coarse, texts(seed=2)).backward()
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters() if parameter.grad is not None)


def test_dropout_is_for_training_alone():
    network = small(dropout=0.5)
    torch.testing.assert_close(network(texts()), small()(texts()))
    network.train()
    assert not torch.allclose(network(texts()), network(texts()))


def test_with_these_parts_a_transformer_learns():
    """To write again what it has just read: from a guess to certainty."""
    network = small(d_model=32, d_ff=64, initialisation="xavier").train()
    generator, optimizer, losses = torch.Generator().manual_seed(0), adamw(network), []
    for step in range(1, 81):
        half = torch.randint(VOCABULARY, (16, 8), generator=generator)
        ids = torch.cat([half, half], 1)
        loss = smoothed_loss(network(ids[:, :-1])[:, 7:], ids[:, 8:])
        update(network, [(optimizer, 0.1 * min(step / 40, 1))], loss)
        losses.append(loss.item())
    assert losses[0] > 3 and min(losses) < losses[0] / 2
