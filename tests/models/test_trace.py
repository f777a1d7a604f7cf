"""A Trace equals the computation of its model, on any text."""

from __future__ import annotations

import dataclasses
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import models
from analysis import rollout
from models.attention.recorder import recording
from models.errors import ModelError
from models.huggingface.model import HuggingFaceModel
from models.scratch.decoder_model import DecoderModel
from tests.models.networks import network, tokenizer

anything = st.text(st.characters(codec=None), max_size=80) | st.text(
    st.sampled_from("the cat sat 👩‍👩‍👧 \n\té\0<|start|>\ud800"), max_size=80
)


@settings(max_examples=40, deadline=None)
@given(text=anything)
def test_attention_is_a_causal_distribution(writer, text):
    attention = writer.trace(text).attention["self"]
    for layer in range(attention.layers):
        weights = attention[layer]
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
        assert (weights >= 0).all()
        assert not np.triu(weights, 1).any(), "a token attends to one that comes after it"


@settings(max_examples=40, deadline=None)
@given(text=anything)
def test_offsets_cover_the_text_exactly(writer, text):
    tokens = writer.tokenize(text)
    covered = set()
    for before, token in itertools.pairwise(tokens):
        assert before.start <= token.start and before.end <= token.end
        covered.update(range(token.start, token.end))
    assert covered == set(range(len(text)))


@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=60))
def test_whole_tokens_spell_their_stretch_of_text(writer, text):
    for token in writer.tokenize(text):
        if not token.fragment and not token.special:
            assert token.text == text[token.start : token.end]


@settings(max_examples=25, deadline=None)
@given(text=st.text(max_size=60))
def test_the_recorder_changes_no_logit(writer, text):
    ids = torch.tensor([[token.id for token in writer.tokenize(text)][:256]])
    with torch.inference_mode():
        plain = writer.decoder(ids)
        with recording():
            recorded = writer.decoder(ids)
    assert torch.equal(plain, recorded)


@settings(max_examples=25, deadline=None)
@given(texts=st.lists(st.text(st.sampled_from("the cat sat on ,.é\n"), max_size=40), min_size=2, max_size=5))
def test_reusing_what_did_not_change_gives_what_reading_anew_gives(small, texts):
    fresh = DecoderModel(small.decoder, small.vocabulary.tokenizer, "fresh", "test")
    for text in texts:
        fresh.forget()
        ours, reread = small.trace(text), fresh.trace(text)
        assert ours.tokens == reread.tokens
        np.testing.assert_allclose(ours.hidden["self"], reread.hidden["self"], atol=1e-4, rtol=1e-4)
        for layer in range(3):
            np.testing.assert_allclose(ours.attention["self"][layer], reread.attention["self"][layer], atol=1e-5)
            for part in ("q", "k", "v", "scores"):
                mine, its = getattr(ours.attention["self"], part)(layer), getattr(reread.attention["self"], part)(layer)
                np.testing.assert_allclose(mine, its, atol=1e-4, rtol=1e-4)


def test_weights_are_the_softmax_of_the_scores(small):
    attention = small.trace("the cat sat on the mat").attention["self"]
    scores = np.where(np.tri(len(attention.queries), dtype=bool), attention.scores(1), -np.inf)
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(attention[1], raised / raised.sum(-1, keepdims=True), atol=1e-6)
    q, k = attention.q(1), attention.k(1)
    np.testing.assert_allclose(attention.scores(1), q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]), atol=1e-5)


def test_the_values_weighed_and_projected_are_what_the_block_adds(small):
    """The residual stream closes: stream + attention + feed-forward = stream after the block."""
    trace = small.trace("the cat sat")
    attention, block = trace.attention["self"], small.decoder.blocks[1]
    x = torch.tensor(trace.hidden["self"][1])
    mixed = torch.from_numpy(attention[1] @ attention.v(1)).transpose(0, 1).flatten(1)
    x = x + block.attention.output(mixed)
    x = x + block.feedforward(block.feedforward_norm(x))
    np.testing.assert_allclose(x.numpy(), trace.hidden["self"][2], atol=1e-4, rtol=1e-4)


def test_logits_and_predictions_are_the_models_own(writer):
    trace = writer.trace("Once upon a")
    with torch.inference_mode():
        logits = writer.decoder(torch.tensor([[token.id for token in trace.tokens]]))[0].numpy()
    np.testing.assert_allclose(trace.logits, logits, atol=1e-4)
    np.testing.assert_allclose(trace.logits_at(-1), logits[-1], atol=1e-4)
    everything = writer.predict("Once upon a", top=writer.info.vocabulary)
    assert sum(prediction.probability for prediction in everything) == pytest.approx(1)
    assert [prediction.probability for prediction in everything] == sorted(
        (prediction.probability for prediction in everything), reverse=True
    )
    assert everything[0].id == int(logits[-1].argmax())


def test_the_writer_writes_english(writer):
    assert writer.predict("Once upon a")[0].text == " time"


def test_temperature_sharpens_and_flattens(writer):
    logits = writer.trace("The cat").logits_at(-1)
    cold, plain, hot = (writer.top(logits, 0, 1, temperature)[0].probability for temperature in (0.5, 1.0, 2.0))
    assert cold > plain > hot
    with pytest.raises(ValueError, match="above 0"):
        writer.top(logits, 0, 1, 0.0)


def test_a_long_text_is_cut_from_the_left(writer):
    text = "The cat sat on the mat. " * 4000
    trace = writer.trace(text)
    assert len(trace.tokens) == writer.info.context
    assert trace.tokens[0].special and trace.tokens[-1].end == len(text)
    assert trace.cut == trace.tokens[1].start > 0


def test_a_trace_is_frozen(writer):
    trace = writer.trace("Hello")
    with pytest.raises(dataclasses.FrozenInstanceError):
        trace.text = "Bye"
    with pytest.raises(ValueError):
        trace.attention["self"][0][0, 0, 0] = 1


def test_threads_share_a_model(small):
    texts = [f"the cat sat on the {word}" for word in ("mat", "dog", "cat", "the sat", "a", "on on on", "", "mat mat")]
    alone = [small.trace(text).logits for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            for ours, serial in zip(pool.map(lambda text: small.trace(text).logits, texts), alone, strict=True):
                np.testing.assert_allclose(ours, serial, atol=1e-4)


def test_attention_from_arrays():
    tokens = [models.Token(1, "a", 0, 1), models.Token(2, "b", 1, 2)]
    weights = np.array([[[[1, 0], [0.25, 0.75]]]])
    attention = models.Attention.from_arrays(weights, tokens, tokens)
    assert (attention.layers, attention.heads) == (1, 1)
    np.testing.assert_array_equal(attention[0], weights[0])
    with pytest.raises(ValueError, match="computed elsewhere"):
        attention.scores(0)
    with pytest.raises(ValueError, match="2 queries"):
        models.Attention.from_arrays(weights[:, :, :1], tokens, tokens)


def changed(at: tuple[int, ...], value: float) -> np.ndarray:
    weights = np.full((2, 3, 2, 2), 0.5)
    weights[at] = value
    return weights


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.full((2, 3, 2, 2), 77.0), "row of query 0 in L0 H0 sums to 154"),
        (changed((1, 2, 1, 0), 0.6), "row of query 1 in L1 H2 sums to 1.1"),
        (changed((0, 1, 1), 0.0), "row of query 1 in L0 H1 sums to 0"),
        (changed((0, 0, 1), (1.5, -0.5)), "query 1 in L0 H0 holds a negative weight"),
        (changed((1, 0, 0, 1), np.nan), "query 0 in L1 H0 holds what is no number"),
        (changed((1, 0, 0, 1), np.inf), "query 0 in L1 H0 holds what is no number"),
        (np.full((3, 2, 2), 0.5), "must be .layers, heads, 2 queries, 2 keys.; they are .3, 2, 2."),
        (np.full((0, 3, 2, 2), 0.5), "they are .0, 3, 2, 2."),
        (None, "they are \\[\\]"),
        ("weights", "an array of numbers; they are str"),
        ([[1], [0.5, 0.5]], "an array of numbers; they are list"),
    ],
)
def test_what_is_no_attention_is_refused_in_a_sentence(weights, sentence):
    tokens = [models.Token(1, "a", 0, 1), models.Token(2, "b", 1, 2)]
    with pytest.raises(ValueError, match=sentence):
        models.Attention.from_arrays(weights, tokens, tokens)
    with pytest.raises(ValueError, match="must be tokens"):
        models.Attention.from_arrays(np.full((1, 1, 2, 2), 0.5), ["a", "b"], tokens)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64]))
def test_a_softmax_of_any_precision_is_an_attention(seed, dtype):
    rows = torch.randn(2, 3, 5, 400, generator=torch.Generator().manual_seed(seed)).mul(4).softmax(-1).to(dtype)
    queries, keys = ([models.Token(i, "a", 0, 1) for i in range(count)] for count in rows.shape[2:])
    expected = rows.float().numpy()
    for numbers in (rows, rows.clone().requires_grad_(), list(rows), expected, list(expected)):  # whatever holds the numbers
        attention = models.Attention.from_arrays(numbers, queries, keys)
        np.testing.assert_array_equal(attention.only(1)[0], attention[1])
        np.testing.assert_array_equal([attention[0], attention[1]], expected)


@pytest.mark.parametrize("share", [0.001, 0.4, 0.999])
def test_rows_may_sum_to_less_than_one_where_a_sink_takes_the_rest(share):
    """A softmax over the keys and one key more that brings nothing, as in GPT-OSS; the rest is given to no key."""
    tokens = [models.Token(i, "a", 0, 1) for i in range(5)]
    rows = torch.rand(2, 3, 5, 5).softmax(-1) * share
    attention = models.Attention.from_arrays(rows, tokens, tokens)
    np.testing.assert_allclose(attention[1].sum(-1), share, rtol=1e-5)
    np.testing.assert_allclose(rollout(attention).sum(-1), 1, atol=1e-6)
    rows *= 0
    assert attention[0].sum() > 0, "what is given may change afterwards"


def test_the_attention_of_a_model_with_sinks_is_taken_as_the_model_gives_it():
    model = HuggingFaceModel(network("GPT-OSS, sinks"), tokenizer("decoder"), "decoder", True, "sinks")
    attention = model.trace("the cat sat on the mat").attention["self"]
    maps = [attention[layer] for layer in range(attention.layers)]
    assert all((weights.sum(-1) < 0.99).any() for weights in maps), "a sink takes a share"
    again = models.Attention.from_arrays(maps, attention.queries, attention.keys)
    np.testing.assert_array_equal([again[layer] for layer in range(again.layers)], maps)


@pytest.mark.parametrize("wrong", [None, 3, b"the cat", ["the", "cat"]])
def test_what_is_no_text_is_refused_in_a_sentence(writer, wrong):
    for ask in (writer.trace, writer.predict, writer.tokenize):
        with pytest.raises(TypeError, match=r"The text (must be a str|holds)"):
            ask(wrong)
    with pytest.raises(TypeError, match=r"The second text (must be a str|holds)"):
        writer.trace("The cat", wrong)
    with pytest.raises(TypeError, match="A model is named by a str"):
        models.load(wrong)


@pytest.mark.parametrize("top", [0, -1, 2.5, "3", None])
def test_no_predictions_cannot_be_asked_for(writer, top):
    with pytest.raises(ValueError, match="top says how many predictions are wanted"):
        writer.predict("The cat", top=top)


@pytest.mark.parametrize("device", ["banana", "cuda:99", "meta"])
def test_a_device_that_is_none_is_refused_for_what_ships_too(device):
    with pytest.raises(ModelError, match=r"is not a device|has no device|computes on the CPU"):
        models.load("writer", device=device)
    assert models.load("writer", device="cpu").info.name == "writer"


def test_names_and_unknown_names():
    assert models.names()[0] == "writer"
    with pytest.raises(ValueError, match="“nobody at all” is not a model’s name"):
        models.load("nobody at all")


def test_info_tells_the_truth(writer):
    info = writer.info
    assert info.parameters == sum(p.numel() for p in writer.decoder.parameters())
    assert (info.name, info.kind, info.context) == ("writer", "decoder", 256)
    assert writer.trace("Hi").attention["self"].layers == info.layers
