"""Every number on the way from a query and a key to a weight, compared with the formula and the forward pass."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import models
from analysis.one_weight import query_key
from models import Attention, Token
from models import edits as E
from models.attention.undo_rotary import Rotary
from models.huggingface.model import HuggingFaceModel
from models.scratch.positions import rotary_turns, rotate
from tests.models.networks import NETWORKS, network, tokenizer

TEXT = "The cat sat on the mat, and the dog sat on the cat."
NAMES = [
    "GPT-2",
    "Llama, grouped-query",
    "Mistral, sliding window",
    "Gemma 2, soft-capped",
    "GPT-OSS, sinks",
    "BERT",
    "T5",
    "writer",
]


@cache
def trace(name: str):
    if name == "writer":
        return models.load("writer").trace(TEXT)
    kind = NETWORKS[name][0]
    model = HuggingFaceModel(network(name), tokenizer(kind), kind, NETWORKS[name][1] != "BertModel", name)
    return model.trace(TEXT, "Once upon a time" if kind == "encoder-decoder" else "")


def all_heads(name: str):
    """(attention, layer, head, query, parts) for some places in each kind of attention of a model."""
    for attention in trace(name).attention.values():
        last = len(attention.queries) - 1
        for layer in {0, attention.layers - 1}:
            for head in range(attention.heads):
                for query in {0, last // 2, last}:
                    yield attention, layer, head, query, query_key(attention, layer, head, query)


def softmax(values: np.ndarray, sink: float | None) -> np.ndarray:
    values = np.concatenate([values.astype(np.float64), [] if sink is None else [sink]])
    powers = np.exp(values - values.max())
    return (powers / powers.sum())[: len(values) - (sink is not None)]


@pytest.mark.parametrize("name", NAMES)
def test_the_dimensions_add_up_to_the_product(name):
    for attention, layer, head, query, parts in all_heads(name):
        assert parts.products.shape == (len(attention.keys), attention.q(layer).shape[-1])
        np.testing.assert_allclose(parts.products, attention.q(layer)[head, query] * attention.k(layer)[head], atol=1e-6)
        size = np.abs(parts.products).sum(-1)
        assert (np.abs(parts.products.sum(-1) - parts.raw) <= 1e-6 * size + 1e-6).all()


@pytest.mark.parametrize("name", NAMES)
def test_product_scale_cap_and_bias_give_the_score(name):
    for attention, layer, head, query, parts in all_heads(name):
        score = parts.raw * parts.scale
        if parts.softcap is not None:
            score = parts.softcap * np.tanh(score / parts.softcap)
        if parts.bias is not None:
            score = score + parts.bias
        np.testing.assert_allclose(parts.score, score, atol=2e-5)
        np.testing.assert_allclose(parts.score, attention.scores(layer)[head, query], atol=2e-5)
    assert (parts.softcap is not None) == ("soft-capped" in name)
    if name == "T5":
        biases = [head_parts[-1].bias for head_parts in all_heads(name)]
        assert any(np.ptp(bias) > 0.01 for bias in biases if bias is not None), "no position bias was seen"


@pytest.mark.parametrize("name", NAMES)
def test_the_softmax_of_score_and_mask_is_the_weight(name):
    for attention, layer, head, query, parts in all_heads(name):
        assert np.array_equal(parts.weight, attention[layer][head, query])
        np.testing.assert_allclose(softmax(parts.score + parts.mask, parts.sink), parts.weight, atol=2e-6)
        if parts.sink is None:
            alone = softmax(parts.score[parts.allowed], None)
            np.testing.assert_allclose(alone, parts.weight[parts.allowed], atol=2e-6)
        assert (parts.weight[~parts.allowed] == 0).all()


@pytest.mark.parametrize("name", ["writer", "Gemma 2, soft-capped", "GPT-OSS, sinks", "T5", "BERT"])
def test_what_was_edited_is_in_the_numbers_and_in_the_formula(name):
    """A temperature divides the score, a cut masks, a row that was put in follows from no score; other heads are as they were."""
    kind = "encoder" if name == "T5" else "self"
    row = np.eye(len(trace(name).attention[kind].keys))[1]
    edits = [
        E.Temperature(1, 2, 0.5, kind=kind),
        E.Cut(3, 1, kind=kind),
        E.Row(1, 3, 3, row, kind=kind),
        E.Head(1, 0, 0.5, kind=kind),
    ]
    model = trace(name).model
    edited_attention = model.trace(TEXT, "Once upon a time" if name == "T5" else "", edits=edits).attention[kind]
    plain = model.trace(TEXT, "Once upon a time" if name == "T5" else "", edits=[E.Head(1, 0, 0.5, kind=kind)]).attention[kind]
    for head in range(4):
        parts = query_key(edited_attention, 1, head, 3)
        assert parts.mask[1] == -np.inf and parts.replaced == (True if head == 3 else None)
        if head == 3:
            np.testing.assert_array_equal(parts.weight, row)
            continue
        np.testing.assert_allclose(softmax(parts.score + parts.mask, parts.sink), parts.weight, atol=2e-6)
        np.testing.assert_allclose(parts.score, edited_attention.scores(1)[head, 3], atol=2e-5)
        assert parts.temperature == (0.5 if head == 2 else None)
    assert query_key(edited_attention, 1, 2, 2).allowed[1] == query_key(plain, 1, 2, 2).allowed[1], (
        "another query looks where it looked"
    )
    formula_parts = edited_attention.formula(1).partition(" (edited: ")
    assert formula_parts[0] == trace(name).attention[kind].formula(1)
    assert formula_parts[2] == "scores of H2 ÷ 0.5, row 3 of H3 replaced, what H0 gives × 0.5, 1 cut)"
    assert edited_attention.formula(0) == trace(name).attention[kind].formula(0) + " (edited: 1 cut)"


def test_in_a_batch_each_reading_knows_its_own_edits_alone():
    edit_lists = [[E.Temperature(1, 2, 0.5)], [], [E.Cut(3, 1)]]
    formulas = [read_trace.attention["self"].formula(1) for read_trace in models.load("writer").traces(TEXT, edit_lists)]
    plain = trace("writer").attention["self"].formula(1)
    assert formulas == [f"{plain} (edited: scores of H2 ÷ 0.5)", plain, f"{plain} (edited: 1 cut)"]


@pytest.mark.parametrize("name", ["GPT-2", "Llama, grouped-query", "Gemma 2, soft-capped", "writer"])
def test_a_decoder_may_look_at_itself_and_back(name):
    for attention, layer, _, query, parts in all_heads(name):
        window = 8 if "Gemma" in name and layer % 2 == 0 else len(attention.keys)  # every second layer has one
        assert np.flatnonzero(parts.allowed).tolist() == list(range(max(0, query - window + 1), query + 1))


def test_an_encoder_may_look_everywhere():
    assert all(parts.allowed.all() for *_, parts in all_heads("BERT"))


def test_heads_of_a_group_share_their_keys():
    attention = trace("Llama, grouped-query").attention["self"]
    k = [query_key(attention, 1, head, -1).k for head in range(4)]
    assert np.array_equal(k[0], k[1]) and np.array_equal(k[2], k[3]) and not np.array_equal(k[1], k[2])


def test_places_count_from_the_end_too():
    attention = trace("writer").attention["self"]
    near, far = query_key(attention, -1, -1, -1), query_key(attention, 5, 7, len(attention.queries) - 1)
    assert np.array_equal(near.q, far.q) and np.array_equal(near.weight, far.weight)


@pytest.mark.parametrize("place", [(6, 0, 0), (0, 8, 0), (0, 0, 999), (-7, 0, 0)])
def test_a_place_that_is_not_there_is_a_sentence(place):
    with pytest.raises(ValueError, match=r"There are \d+ \w+, counted from 0"):
        query_key(trace("writer").attention["self"], *place)


def test_models_and_arrays_without_queries_are_a_sentence():
    with pytest.raises(ValueError, match="queries"):
        query_key(trace("BLOOM").attention["self"], 0, 0, 0)
    tokens = [Token(1, "a", 0, 1)]
    with pytest.raises(ValueError, match="computed elsewhere"):
        query_key(Attention.from_arrays(np.ones((1, 1, 1, 1)), tokens, tokens), 0, 0, 0)


def test_without_rotary_positions_the_product_is_of_what_was_there_before():
    """The writer's own projections, before they are turned, give what undoing the turns says."""
    writer, before = models.load("writer"), {}
    attention = writer.decoder.blocks[2].attention
    names = ("query_norm", "key_norm") if attention.config.qk_norm else ("query", "key")
    hooks = [
        getattr(attention, name).register_forward_hook(lambda _, __, out, name=name: before.update({name: out})) for name in names
    ]
    try:
        attention_ = writer.trace("A text that nobody has read before, and so no part of it is remembered.").attention["self"]
    finally:
        for hook in hooks:
            hook.remove()
    q, k = (out if out.dim() == 4 else attention.split(out) for out in before.values())
    if q.shape[2] != len(attention_.queries):
        pytest.fail("The forward did not read the whole text.")
    config = attention.config
    np.testing.assert_allclose(
        attention_.rotary(2).frequencies, 10_000.0 ** (-np.arange(0, config.d_head, 2) / config.d_head), rtol=1e-5
    )
    for head, query in ((0, 3), (5, -1)):
        parts = query_key(attention_, 2, head, query)
        np.testing.assert_allclose(parts.unturned, (k[0, head] @ q[0, head, query]).numpy(), atol=1e-3)
        assert np.abs(parts.unturned - parts.raw).max() > 0.01


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.integers(1, 12), st.integers(0, 6), st.integers(0, 2**31))
def test_turning_back_undoes_the_turn(pairs, length, rest, seed):
    """And dimensions beyond the pairs (partial rotary) stay as they are."""
    x = np.random.default_rng(seed).normal(size=(length, 2 * pairs + rest)).astype(np.float32)
    rotated = x.copy()
    rotated[:, : 2 * pairs] = rotate(torch.from_numpy(x[None, None, :, : 2 * pairs]), rotary_turns(2 * pairs, length))[0, 0]
    frequencies = 10_000.0 ** (-np.arange(0, 2 * pairs, 2) / (2 * pairs))
    np.testing.assert_allclose(Rotary(frequencies).undone(rotated, np.arange(length)), x, atol=1e-5)
    order = np.arange(2 * pairs).reshape(2, pairs).T.ravel()  # neighbours instead of halves
    halves = np.concatenate([rotated[:, order], rotated[:, 2 * pairs :]], axis=1)
    restored = Rotary(frequencies, "neighbours").undone(halves, np.arange(length))
    np.testing.assert_allclose(restored[:, : 2 * pairs], x[:, order], atol=1e-5)


def test_rotary_positions_that_do_not_fit_are_a_sentence():
    with pytest.raises(ValueError, match="do not fit 4 dimensions"):
        Rotary(np.ones(3)).undone(np.ones((1, 4)), np.arange(1))
