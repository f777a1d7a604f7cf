"""The from-scratch encoder as a model to look into: what it says of a text is what its network did."""

from __future__ import annotations

import itertools
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.attention.recorder import recording
from models.scratch.encoder_model import EncoderModel
from models.scratch.model_folder import from_folder
from models.scratch.signs import MASK, START
from models.scratch.write_weights import write_weights
from models.training.corpus import train_tokenizer, with_mask
from tests.models.ours import small

TOKENIZER = with_mask(train_tokenizer(["the cat sat on the mat and the dog sat on the cat"] * 3, 280))
TEXT = f"the {MASK} sat on the mat"
CLOSE = {"atol": 1e-4, "rtol": 1e-4}
VARIANTS = [
    {},
    {"kv_heads": 2},
    {"positions": "sinusoidal"},
    {"positions": "learned", "norm": "layer", "norm_place": "after"},
    {"positions": "alibi", "bias": True},
    {"positions": "relative", "tied": False},
    {"pattern": "window"},
    {"pattern": "bigbird"},
    {"head_transform": True, "embedding_norm": True},
    {"score": "additive"},
    {"score": "multiplicative"},
    {"experts": 3},
]
pieces = st.sampled_from(["the ", "cat", " ", "👩‍👩‍👧", "\n", "é", "\0", START, MASK, "\ud800", "[", "MASK"])
anything = st.text(st.characters(codec=None), max_size=60) | st.lists(pieces, max_size=12).map("".join)
few = settings(max_examples=50)


def build_model(**choices) -> EncoderModel:
    network = small(kind="encoder", **{"vocabulary": TOKENIZER.get_vocab_size(), "context": 64} | choices)
    return EncoderModel(network, TOKENIZER, "small filler", "test")


@pytest.fixture(scope="module")
def filler() -> EncoderModel:
    return build_model()


def its_logits(model: EncoderModel, tokens) -> np.ndarray:
    """[position, vocabulary], by the network alone."""
    with torch.inference_mode():
        return model.network(torch.tensor([[token.id for token in tokens]]))[0].numpy()


@few
@given(text=anything)
def test_tokens_cover_the_text_and_spell_it(filler, text):
    tokens = filler.tokenize(text)
    assert (tokens[0].text, tokens[0].start, tokens[0].end) == (START, 0, 0)
    covered, bytes_hold = set(), re.sub("[\ud800-\udfff]", "\ufffd", text)
    for before, token in itertools.pairwise(tokens):
        assert before.start <= token.start and before.end <= token.end
        covered.update(range(token.start, token.end))
        if not token.fragment and not token.special:
            assert token.text == bytes_hold[token.start : token.end]
    assert covered == set(range(len(text)))


@few
@given(text=anything)
def test_only_the_mask_can_be_typed_as_a_sign(filler, text):
    signs = [token for token in filler.tokenize(text)[1:] if token.special]
    assert len(signs) == text.count(MASK)
    for token in signs:
        assert token.text == MASK == text[token.start : token.end].lstrip(), "with the space before it"
        assert token.start == 0 or not text[token.start - 1].isspace()


@few
@given(texts=st.lists(st.sampled_from([MASK, "the", "cat", "é"]), max_size=12).map(" ".join), top=st.integers(1, 400))
def test_predictions_stand_at_each_mask_the_likeliest_first(filler, texts, top):
    trace, predictions = filler.trace(texts), filler.predict(texts, top=top)
    masks = [i for i, token in enumerate(trace.tokens) if token.text == MASK]
    top = min(top, filler.info.vocabulary)
    assert filler.places(trace) == masks
    assert [prediction.position for prediction in predictions] == [place for place in masks for _ in range(top)]
    logits = torch.from_numpy(its_logits(filler, trace.tokens)).double().softmax(-1)
    for number, place in enumerate(masks):
        at_mask = predictions[number * top : (number + 1) * top]
        shares = [prediction.probability for prediction in at_mask]
        assert shares == sorted(shares, reverse=True) and sum(shares) <= 1 + 1e-9
        assert sum(shares) == pytest.approx(1) or top < filler.info.vocabulary
        assert shares == pytest.approx(logits[place].sort(descending=True).values[:top].tolist(), abs=1e-5)
        assert [prediction.text for prediction in at_mask] == [filler.token_text(prediction.id) for prediction in at_mask]


@pytest.mark.parametrize("choices", VARIANTS, ids=str)
def test_a_trace_is_what_the_network_did(choices):
    model = build_model(**choices)
    trace = model.trace(TEXT)
    attention, count = trace.attention["self"], len(trace.tokens)
    assert attention.queries == attention.keys == trace.tokens == trace.read and not trace.target
    assert (attention.layers, attention.heads) == (model.info.layers, model.info.heads) == (2, 4)
    for layer in range(attention.layers):
        weights = attention[layer]
        assert weights.shape == (4, count, count) and (weights >= 0).all()
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
        assert np.triu(weights, 1).max() > 0.01, "an encoder looks ahead"
    np.testing.assert_allclose(trace.logits, its_logits(model, trace.tokens), **CLOSE)
    np.testing.assert_allclose(trace.logits_at([0, -1]), trace.logits[[0, -1]], **CLOSE)
    np.testing.assert_allclose(model.logits_of([trace.tokens] * 2, 2), trace.logits[[2, 2]], **CLOSE)
    assert trace.hidden["self"].shape == (3, count, 16)
    is_rotary = choices.get("positions", "rotary") == "rotary"
    assert (attention.rotary(0) is not None) == is_rotary


@pytest.mark.parametrize("choices", [{}, {"kv_heads": 2, "bias": True}, {"pattern": "longformer"}], ids=str)
def test_what_heads_bring_is_what_the_block_adds(choices):
    """The stream closes: stream + Σ heads (weights · values · W_O) + feed-forward = stream after the block."""
    model = build_model(**choices)
    trace = model.trace(TEXT)
    attention = trace.attention["self"]
    for layer, block in enumerate(model.network.blocks):
        x = torch.tensor(trace.hidden["self"][layer])
        heads = attention[layer] @ attention.v(layer)
        x = x + torch.from_numpy(np.einsum("hqd,hdm->qm", heads, model.output_weights("self", layer)))
        x = x + (block.attention.output.bias if choices.get("bias") else 0)
        x = x + block.feedforward(block.feedforward_norm(x))
        np.testing.assert_allclose(x.numpy(), trace.hidden["self"][layer + 1], **CLOSE)


def test_the_stream_begins_with_the_embedding(filler):
    trace = filler.trace(TEXT)
    np.testing.assert_array_equal(filler.embedding([token.id for token in trace.tokens]), trace.hidden["self"][0])
    assert filler.embedding().shape == (filler.info.vocabulary, filler.info.d_model)


@few
@given(text=anything)
def test_the_recorder_changes_no_logit(filler, text):
    ids = torch.tensor([[token.id for token in filler.tokenize(text)][:64]])
    with torch.inference_mode():
        plain = filler.network(ids)
        with recording():
            assert torch.equal(plain, filler.network(ids))


def test_a_changed_word_changes_what_stands_on_both_sides(filler):
    first, second = (filler.trace(f"the {word} sat on the mat").hidden["self"][-1] for word in ("cat", "mat"))
    assert (np.abs(first - second).max(-1) > 1e-3).all()


@pytest.mark.parametrize("choices", VARIANTS[:5], ids=str)
def test_a_text_that_was_typed_is_the_text_that_was_pasted(choices):
    typing = build_model(**choices)
    for typed in [TEXT[:end] for end in range(0, len(TEXT) + 1, 2)] + ["the", TEXT]:
        trace, fresh = typing.trace(typed), build_model(**choices).trace(typed)
        assert trace.tokens == fresh.tokens
        np.testing.assert_array_equal(trace.hidden["self"], fresh.hidden["self"])
        np.testing.assert_array_equal(trace.attention["self"][1], fresh.attention["self"][1])


@pytest.mark.parametrize("at_most", [None, 10])
def test_a_long_text_is_cut_from_the_left_and_the_start_stays(at_most):
    model, text = build_model(), f"{MASK} sat. " + "the cat sat on " * 40 + f"the {MASK}."
    model.at_most = at_most
    trace = model.trace(text)
    assert len(trace.tokens) == (at_most or 64) == model.room
    assert trace.tokens[0].text == START and trace.tokens[-1].end == len(text)
    assert trace.cut == trace.tokens[1].start > 0
    left = model.tokenize(text[trace.cut :])
    assert [token.id for token in trace.tokens] == [token.id for token in left], "as if only the rest had been typed"
    assert len(model.places(trace)) == 1, "what is cut off has no place"
    assert {prediction.position for prediction in model.predict(text)} == set(model.places(trace))
    fits = model.trace("the cat")
    assert fits.cut == 0


def test_no_text_is_a_start_alone_and_asks_for_nothing(filler):
    trace = filler.trace("")
    assert [token.text for token in trace.tokens] == [START] and trace.cut == 0
    assert filler.predict("") == filler.predict("the cat sat") == []
    np.testing.assert_array_equal(trace.attention["self"][0], np.ones((4, 1, 1)))


def test_a_second_text_and_what_is_no_edit_are_refused_with_a_sentence(filler):
    with pytest.raises(ValueError, match="small filler reads one text at a time"):
        filler.trace("the cat", "sat")
    with pytest.raises(TypeError, match=r"values of models\.edits"):
        filler.trace("the cat", edits=[1])


def test_info_tells_the_truth(filler):
    info = filler.info
    assert (info.kind, info.mask, info.context, info.d_model, info.decoder_layers) == ("encoder", MASK, 64, 16, 0)
    assert info.vocabulary == TOKENIZER.get_vocab_size() == filler.trace("the").logits.shape[1]
    assert info.parameters == sum(parameter.numel() for parameter in filler.network.parameters())
    assert filler.is_special(TOKENIZER.token_to_id(MASK)) and not filler.is_special(TOKENIZER.token_to_id("a"))


@pytest.mark.parametrize("choices", [{}, {"kv_heads": 1}, {"positions": "alibi"}, {"pattern": "window"}], ids=str)
def test_slopes_are_autograd_through_attention_written_out(choices, monkeypatch):
    model = build_model(**choices)
    trace = model.trace(TEXT)
    place, token, weight_tensors = model.places(trace)[0], 7, []
    gradients = model.gradients(trace, place, token)["self"]
    monkeypatch.setattr("models.scratch.transformer.attend", write_out(weight_tensors))
    with torch.enable_grad():
        logits = model.network(torch.tensor([[token.id for token in trace.tokens]]))
        slopes = torch.autograd.grad(logits[0, place, token], weight_tensors)
    assert len(weight_tensors) == gradients.layers
    for layer, (weights, slope) in enumerate(zip(weight_tensors, slopes, strict=True)):
        np.testing.assert_allclose(trace.attention["self"][layer], weights[0].detach(), atol=1e-5)
        assert slope.abs().max() > 1e-4, "a slope of nothing would agree with anything"
        np.testing.assert_allclose(gradients[layer] * trace.attention["self"][layer], (slope * weights)[0].detach(), **CLOSE)
    assert not any(parameter.requires_grad for parameter in model.network.parameters())


def write_out(weight_tensors: list[torch.Tensor]):
    """Attention with its matrix of weights, which is kept, so that autograd knows it."""

    def attend(query, key, value, mask=None, scale=None, bias=None, future=False, **_):
        key, value = (tensor.repeat_interleave(query.shape[1] // tensor.shape[1], 1) for tensor in (key, value))
        scores = query @ key.transpose(-1, -2) * scale + (0 if bias is None else bias)
        if mask is None and not future:
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        weights = (scores if mask is None else scores.masked_fill(~mask, float("-inf"))).softmax(-1)
        weight_tensors.append(weights if weights.requires_grad else weights.requires_grad_())
        return (weights @ value).transpose(1, 2)

    return attend


@pytest.mark.parametrize("place", [99, -99])
def test_a_position_that_is_not_there_is_a_sentence(filler, place):
    with pytest.raises(ValueError, match=r"no position .*99"):
        filler.gradients(filler.trace(TEXT), place, 7)


@pytest.mark.parametrize("choices", [*VARIANTS, {"computed": "linformer"}], ids=str)
def test_a_folder_gives_the_model_back(choices, tmp_path):
    """The weights are written as float16, so a network whose weights fit in those comes back as it was."""
    model = build_model(**choices)
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.copy_(parameter.half())
    write_weights(model.network, model.network.config, tmp_path)
    TOKENIZER.save(str(tmp_path / "tokenizer.json"))
    back = from_folder(tmp_path)
    assert isinstance(back, EncoderModel) and back.info.name == tmp_path.name
    ours, its = model.trace(TEXT), back.trace(TEXT)
    assert ours.tokens == its.tokens
    np.testing.assert_array_equal(ours.logits, its.logits)
    assert model.predict(TEXT) == back.predict(TEXT)


def test_threads_share_a_model(filler):
    texts = [f"the {MASK} sat on the {word}" for word in ("mat", "dog", "cat", "the sat", "a", "on on on", "", "mat mat")]
    alone = [filler.trace(text).logits for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            for ours, serial in zip(pool.map(lambda text: filler.trace(text).logits, texts), alone, strict=True):
                np.testing.assert_allclose(ours, serial, atol=1e-4)
