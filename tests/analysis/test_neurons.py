"""The neurons of a feed-forward: their sum is what it adds, and each fires where it should."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import models
from analysis import inside
from analysis.inside.sample import passages
from models.huggingface.model import HuggingFaceModel
from tests.models.networks import network, tokenizer

TEXT = "Once upon a time there was a little cat."


@pytest.fixture(scope="module")
def way():
    writer = models.load("writer")
    return inside.follow(writer, writer.trace(TEXT), 2)


@pytest.fixture(scope="module")
def mixture():
    model = HuggingFaceModel(network("Mixtral"), tokenizer("decoder"), "decoder", True, "Mixtral")
    return inside.follow(model, model.trace("The cat sat on the mat."), 1)


def test_all_neurons_together_are_what_the_feed_forward_adds(way):
    active = inside.neurons(way, 4, top=10_000, elsewhere=False)
    assert len(active.neurons) == active.count == 704
    fires = np.zeros(active.count)
    for neuron in active.neurons:
        fires[neuron.number] = neuron.fires
    np.testing.assert_allclose(way.stage("feed-forward").rule.weight @ fires, way.stage("feed-forward").values[4], atol=1e-4)


def test_the_strongest_come_first_and_lie_on_the_curve(way):
    strongest = inside.neurons(way, -1, top=20, elsewhere=False)
    sizes = [abs(neuron.fires) for neuron in strongest.neurons]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] == pytest.approx(np.abs(way.stage("gated").values[-1]).max())
    for neuron in strongest.neurons:
        assert strongest.curve(np.array([neuron.before], np.float32))[0] == pytest.approx(neuron.after, abs=1e-6)


def test_the_curve_is_the_activation_of_torch_and_a_gate_multiplies_what_it_gives(way):
    strongest = inside.neurons(way, 3, top=20, elsewhere=False)
    x = torch.linspace(-6, 6, 101)
    np.testing.assert_allclose(strongest.curve(x.numpy()), torch.nn.functional.silu(x).numpy(), atol=1e-6)
    for neuron in strongest.neurons:
        assert neuron.factor == pytest.approx(float(way.stage("up").values[3, neuron.number]), abs=1e-6)
        assert neuron.after * neuron.factor == pytest.approx(neuron.fires, abs=1e-5)


def test_one_more_neuron_comes_last_and_none_twice(way):
    first = inside.neurons(way, -1, top=3, elsewhere=False, pushed=False).neurons
    again = inside.neurons(way, -1, top=3, elsewhere=False, also=(None, first[1].number)).neurons
    more = inside.neurons(way, -1, top=3, elsewhere=False, also=(None, 700)).neurons
    assert [neuron.number for neuron in again] == [neuron.number for neuron in first]
    assert [neuron.number for neuron in more] == [*(neuron.number for neuron in first), 700] and more[3].towards
    assert len(inside.neurons(way, -1, top=3, elsewhere=False, also=(None, 704)).neurons) == 3, "there is none of that number"


def test_the_numbers_beside_a_firing_are_those_of_its_neighbours(way):
    neuron = inside.neurons(way, -1, top=1).neurons[0]
    for firing in neuron.elsewhere:
        text = next(text for text in passages() if tuple(token.text for token in way.model.tokenize(text)) == firing.texts)
        values = inside.follow(way.model, way.model.trace(text), 2, around=firing.at).stage("gated").rows(None)[:, neuron.number]
        reach = len(firing.near) // 2
        assert firing.near[reach] == firing.value
        for step, value in zip(range(-reach, reach + 1), firing.near, strict=True):
            at = firing.at + step
            stands_for_text = 0 <= at < len(firing.texts) and not firing.texts[at].startswith("<|")
            assert value == pytest.approx(float(values[at]), abs=1e-2) if stands_for_text else np.isnan(value)


def test_a_neuron_pushes_towards_what_its_row_raises_through_the_unembedding(way):
    neuron = inside.neurons(way, -1, top=1, elsewhere=False).neurons[0]
    row = way.stage("feed-forward").rule.weight[:, neuron.number] * np.sign(neuron.fires)
    scale = way.model.network.final_norm.weight.numpy()
    logits = way.model.embedding() @ (row / np.sqrt(np.square(row).mean()) * scale)  # RMSNorm, then the tied unembedding
    assert neuron.towards[0].id == logits.argmax() and neuron.away[0].id == logits.argmin()
    assert [push.score for push in neuron.away] == pytest.approx(np.sort(logits)[: len(neuron.away)].tolist(), abs=1e-3)
    assert [push.score for push in neuron.towards] == pytest.approx(
        np.sort(logits)[::-1][: len(neuron.towards)].tolist(), abs=1e-3
    )


def test_elsewhere_is_where_it_fires_most_in_the_sample(way):
    neuron = inside.neurons(way, -1, top=1).neurons[0]
    firings = []
    for text in passages():
        trace = way.model.trace(text)
        values = inside.follow(way.model, trace, 2, around=0).stage("gated").rows(None)[:, neuron.number]
        firings += [
            (abs(float(value)), token.text) for value, token in zip(values, trace.tokens, strict=True) if not token.special
        ]
    firings.sort(reverse=True)
    assert [abs(firing.value) for firing in neuron.elsewhere] == pytest.approx([size for size, _ in firings[:6]], rel=1e-2)
    assert neuron.elsewhere[0].texts[neuron.elsewhere[0].at] == firings[0][1]


def test_the_sample_is_read_once_for_a_layer(way, monkeypatch):
    inside.neurons(way, -1, top=1)
    monkeypatch.setattr(type(way.model), "watch", lambda *_: pytest.fail("it reads the sample again"))
    assert inside.neurons(way, 0, top=2).neurons[0].elsewhere


def test_reading_the_sample_can_be_stopped(way):
    def stop(share: float, words: str) -> None:
        raise InterruptedError(words)

    fresh_way = inside.follow(way.model, way.trace, 4)
    with pytest.raises(InterruptedError, match="Passage 1"):
        inside.neurons(fresh_way, report=stop)


def test_in_a_mixture_the_experts_that_took_the_token_are_named(mixture):
    for position in range(len(mixture.tokens)):
        active = inside.neurons(mixture, position, top=10_000)
        assert sum(share for _, share in active.experts) == pytest.approx(1, abs=1e-5)
        shares = mixture.stage("router shares").values[position]
        assert dict(active.experts) == pytest.approx({int(expert): float(shares[expert]) for expert in np.flatnonzero(shares)})
        total = np.zeros(64)
        down = mixture.model.network.model.layers[1].mlp.experts.down_proj
        for neuron in active.neurons:
            total += dict(active.experts)[neuron.expert] * neuron.fires * down[neuron.expert, :, neuron.number].numpy()
        np.testing.assert_allclose(total, mixture.stage("feed-forward").values[position], atol=1e-4)


def test_a_model_without_a_head_pushes_towards_nothing():
    model = HuggingFaceModel(network("BERT without a head"), tokenizer("encoder"), "encoder", False, "BERT")
    active = inside.neurons(inside.follow(model, model.trace("The cat")), 1, top=3, elsewhere=False)
    assert len(active.neurons) == 3 and all(neuron.towards == () for neuron in active.neurons)
