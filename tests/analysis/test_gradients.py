"""Slopes of a logit, calculated without a matrix of weights, against autograd through eager attention; and their uses."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch

from analysis import paths
from analysis.gradients import gradient_rollout, relevance, relevances, summed_relevance
from analysis.values import value_weights
from models.attention.weight_formula import causal_mask, expand
from models.huggingface.model import HuggingFaceModel
from tests.models.conftest import small, writer  # noqa: F401
from tests.models.networks import NETWORKS, network, tokenizer

TEXTS = {"encoder": "The <mask> sat on the mat.", "decoder": "The cat sat on the mat, and", "encoder-decoder": "The cat sat."}
NAMES = {"self": "attentions", "encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
PREDICTS = [name for name in NETWORKS if "without" not in name and name != "XLNet"]
FEW = ["GPT-2", "Llama, grouped-query", "Gemma 2, soft-capped", "GPT-OSS, sinks", "BERT", "T5", "BART"]


@cache
def opened(name: str) -> HuggingFaceModel:
    kind = NETWORKS[name][0]
    return HuggingFaceModel(network(name), tokenizer(kind), kind, name in PREDICTS, name=name)


def read(model: HuggingFaceModel):
    trace = model.trace(TEXTS[model.kind], "the dog" if model.kind == "encoder-decoder" else "")
    place = model.places(trace)[0]
    return trace, place, int(trace.logits_at(place).argmax())


def autograd(name: str, model: HuggingFaceModel, trace, place: int, token: int) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
    """Weights and slopes of every layer, from transformers' own eager attention: [heads, query, key]."""
    eager = network(name)
    eager.get_input_embeddings().weight.requires_grad_(True)
    inputs = {"input_ids": torch.tensor([[piece.id for piece in trace.tokens]])}
    if trace.target:
        inputs["decoder_input_ids"] = torch.tensor([[piece.id for piece in trace.target]])
    if model.kind != "encoder":
        inputs["use_cache"] = False
    out = eager(**inputs, output_attentions=True, return_dict=True)
    results = {}
    for kind in trace.attention:
        weights = getattr(out, NAMES[kind])
        slopes = torch.autograd.grad(out.logits[0, place, token], weights, retain_graph=True)
        results[kind] = [(w[0].detach().numpy(), s[0].numpy()) for w, s in zip(weights, slopes, strict=True)]
    return results


@pytest.mark.parametrize("name", PREDICTS)
def test_attention_times_gradient_is_autograd_through_eager_attention(name):
    model = opened(name)
    trace, place, token = read(model)
    slopes_of, expected = model.gradients(trace, place, token), autograd(name, model, trace, place, token)
    assert slopes_of.keys() == expected.keys() == trace.attention.keys()
    for kind, layers in expected.items():
        assert slopes_of[kind].layers == len(layers)
        for layer, (weights, slopes) in enumerate(layers):
            ours = trace.attention[kind][layer] * slopes_of[kind][layer]
            assert np.abs(weights * slopes).max() > 1e-4, "a slope of nothing would agree with anything"
            np.testing.assert_allclose(ours, weights * slopes, atol=1e-5)


def test_the_writers_slopes_are_autograd_through_softmax_attention(small, monkeypatch):  # noqa: F811
    """The from-scratch decoder, its attention written out in the place of the fused kernel."""
    trace = small.trace("the cat sat on the mat")
    place, token = len(trace.tokens) - 1, 7
    slopes_of, recorded = small.gradients(trace, place, token)["self"], []

    def written_out(query, key, value, mask=None, scale=None, **others):
        scores = query @ expand(key, query.shape[1]).transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
        weights = scores.masked_fill(~causal_mask(*scores.shape[-2:]), float("-inf")).softmax(-1)
        recorded.append(weights.requires_grad_() if not weights.requires_grad else weights)
        return (recorded[-1] @ expand(value, query.shape[1])).transpose(1, 2)

    monkeypatch.setattr("models.scratch.transformer.attend", written_out)
    with torch.enable_grad():
        hidden = small.decoder.hidden(torch.tensor([[piece.id for piece in trace.tokens]]))
        slopes = torch.autograd.grad(small.decoder.unembed(hidden[0, place])[token], recorded)
    assert len(recorded) == slopes_of.layers
    for layer, (weights, slope) in enumerate(zip(recorded, slopes, strict=True)):
        np.testing.assert_allclose(trace.attention["self"][layer], weights[0].detach(), atol=1e-5)
        np.testing.assert_allclose(slopes_of[layer] * trace.attention["self"][layer], (slope * weights)[0].detach(), atol=1e-5)


def test_a_position_is_moved_by_nothing_after_it(writer):  # noqa: F811
    trace = writer.trace("The dog ran into the house")
    slopes = writer.gradients(trace, 3, 100)["self"]
    for layer in range(slopes.layers):
        assert np.abs(slopes[layer][:, 4:]).max() == 0 and np.abs(slopes[layer][:, :4]).max() > 0


def test_looking_back_leaves_no_trace_of_itself(writer):  # noqa: F811
    """Reading for gradients changes nothing for those who read on."""
    trace = writer.trace("The dog ran into the")
    before = trace.logits_at(-1).copy()
    writer.gradients(trace, -1, int(before.argmax()))
    again = writer.trace("The dog ran into the house")
    assert not any(parameter.requires_grad for parameter in writer.decoder.parameters())
    np.testing.assert_allclose(again.logits_at(len(trace.tokens) - 1), before, atol=1e-4)


@pytest.mark.parametrize("name", ["GPT-2", "BERT", "T5", "BLOOM"])
def test_positions_may_be_counted_from_the_end(name):
    model = opened(name)
    trace, _, token = read(model)
    count = len(trace.read)
    for place in (count - 1, 1):
        from_start, from_end = (model.gradients(trace, at, token) for at in (place, place - count))
        for kind in from_start:
            for layer in range(from_start[kind].layers):
                np.testing.assert_allclose(from_end[kind][layer], from_start[kind][layer], atol=1e-7)
        assert max(np.abs(layers[0]).max() for layers in from_end.values()) > 0
    for nowhere in (count, -count - 1):
        with pytest.raises(ValueError, match=f"There is no position {nowhere}"):
            model.gradients(trace, nowhere, token)


def test_without_a_head_there_is_no_slope():
    model = opened("BERT without a head")
    trace = model.trace("The cat sat.")
    with pytest.raises(ValueError, match="no language-model head"):
        model.gradients(trace, 1, 5)
    with pytest.raises(ValueError, match="no language-model head"):
        model.logits_of([trace.tokens])


@pytest.mark.parametrize("name", ["GPT-2", "BERT", "T5", "BLOOM", "Gemma 2, soft-capped"])
def test_texts_read_together_give_what_each_gives_alone(name):
    model = opened(name)
    trace, place, _ = read(model)
    swapped = [*trace.tokens[:1], trace.tokens[2], trace.tokens[1], *trace.tokens[3:]]
    position = place if model.kind == "encoder" else -1
    logits = model.logits_of([trace.tokens, swapped, trace.tokens], position, trace.target)
    np.testing.assert_allclose(logits[0], trace.logits_at(place), atol=1e-4)
    np.testing.assert_allclose(logits[2], logits[0], atol=1e-5)
    np.testing.assert_allclose(logits[1], model.logits_of([swapped], position, trace.target)[0], atol=1e-5)
    assert np.abs(logits[1] - logits[0]).max() > 1e-3


def test_relevance_is_the_mean_of_what_raises_the_logit():
    weights = np.array([[[0.5, 0.5]], [[1.0, 0.0]]])
    slopes = np.array([[[2.0, -4.0]], [[1.0, 9.0]]])
    np.testing.assert_allclose(relevance(weights, slopes), [[(1.0 + 1.0) / 2, 0.0]])


@pytest.mark.parametrize("name", ["GPT-2", "Llama, grouped-query", "BERT", "T5", "BLOOM"])
def test_gradient_rollout_is_the_rule_written_out(name):
    """R ← R + Ā R over source and target together (Chefer et al. 2021, eq. 6), from autograd's own slopes."""
    model = opened(name)
    trace, place, token = read(model)
    ways, expected = paths(trace), autograd(name, model, trace, place, token)
    count = len(ways.tokens)
    relevance_matrix, sums = np.eye(count), np.zeros(count)
    for step in ways.steps:
        weights, slopes = expected[step.kind][step.layer]
        matrix = np.zeros((count, count))
        matrix[step.queries, step.keys] = np.maximum(weights * slopes, 0).mean(0)
        relevance_matrix, sums = relevance_matrix + matrix @ relevance_matrix, sums + matrix.sum(0)
    relevant = relevances(ways, model.gradients(trace, place, token))
    row = (relevance_matrix - np.eye(count))[ways.place(place)]
    np.testing.assert_allclose(gradient_rollout(ways, relevant, place), row, atol=1e-5, rtol=1e-4)
    np.testing.assert_allclose(summed_relevance(ways, relevant), sums, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", [*FEW, "Phi", "OPT", "DeepSeek-V3", "ModernBERT", "ALBERT", "Marian"])
def test_value_weights_are_the_lengths_of_what_is_added(name):
    """The vectors themselves: each head's value through its part of the projection, by the network's own module."""
    model = opened(name)
    trace, _, _ = read(model)
    for kind, attention in trace.attention.items():
        for layer in range(attention.layers):
            call = [i for i, call_kind in enumerate(model.followed.layout.calls) if call_kind == kind][layer]
            module = model.followed.output_maps.maps[call]
            weights, values = torch.tensor(attention[layer]), torch.tensor(attention.v(layer))
            heads, keys, width = values.shape
            brought = torch.zeros(heads, keys, heads, width)
            for head in range(heads):
                brought[head, :, head] = values[head]
            with torch.no_grad():
                through = module(brought.flatten(2)) - module(torch.zeros(heads * width))  # without the bias
            expected = torch.einsum("hqk,hkd->qkd", weights, through).norm(dim=-1)
            np.testing.assert_allclose(value_weights(model, trace, (kind, layer))[0], expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("name", ["GPT-2", "T5", "Llama, grouped-query"])
def test_heads_through_their_weights_are_what_attention_adds(name):
    """What a head brought, times its W_O, summed over the heads, is the output of the network's own projection."""
    model = opened(name)
    trace, _, _ = read(model)
    kind = next(iter(trace.attention))
    attention = trace.attention[kind]
    for layer in range(attention.layers):
        call = [i for i, call_kind in enumerate(model.followed.layout.calls) if call_kind == kind][layer]
        module, out = model.followed.output_maps.maps[call], attention.calls[layer].out
        with torch.no_grad():
            expected = module(out.clone().flatten(1)) - module(torch.zeros(out[0].numel()))
        sums = np.einsum("hqk,hkd,hdm->qm", attention[layer], attention.v(layer), model.output_weights(kind, layer))
        np.testing.assert_allclose(sums, expected, atol=1e-4)


def test_what_a_model_does_not_show_is_a_sentence():
    model = opened("BLOOM")
    trace, _, _ = read(model)
    with pytest.raises(ValueError, match="values"):
        value_weights(model, trace, ("self", 0))
    with pytest.raises(ValueError, match="could not be found"):
        model.output_weights("self", 0)
