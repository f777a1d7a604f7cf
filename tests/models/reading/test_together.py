"""Texts that are read in one pass have the numbers that each has alone."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import models
from models.attention.side_by_side import Part
from models.language_model import LanguageModel
from models.reading import together
from models.reading.prefix import reading_for
from models.reading.requests import NEW, Request, Trial
from models.scratch.decoder_model import DecoderModel
from models.scratch.signs import END, START
from models.tokens import Token
from models.trace import Trace
from models.training.corpus import train_tokenizer
from tests.models.ours import small

TOKENIZER = train_tokenizer(["the cat sat on the mat and the dog sat on the cat"] * 3, 280, (START, END))
CLOSE = 2e-5
VARIED = [
    {"positions": "learned", "norm": "layer", "norm_place": "after", "kv_heads": 1},
    {"positions": "none", "experts": 3},
    {"positions": "sinusoidal", "kv_heads": 2, "embedding_scale": True},
    {"score": "multiplicative"},
]
APART = [
    {"positions": "alibi"},
    {"positions": "relative"},
    {"pattern": "window"},
    {"score": "additive"},
    {"computed": "performer"},
]
TOGETHER = ("writer", "GPT-2", "Llama, grouped-query", "OPT", "Mixtral", "Gemma 2, soft-capped", "GPT-OSS, sinks")
WIDE = ("Gemma 2, soft-capped", "GPT-OSS, sinks")  # whose window is wider here than in other tests
ONE_BY_ONE = ("Mistral, sliding window", "BLOOM")


def ours(**choices) -> LanguageModel:
    return DecoderModel(small(vocabulary=TOKENIZER.get_vocab_size(), **choices), TOKENIZER, "small", "test")


@cache
def model(name: str) -> LanguageModel:
    if name == "writer":
        return models.load("writer")
    from models.huggingface.model import HuggingFaceModel
    from tests.models.networks import NETWORKS, network, tokenizer

    usual = NETWORKS[name]
    NETWORKS[name] = (*usual[:3], usual[3] | {"sliding_window": 4096}) if name in WIDE else usual
    try:
        return HuggingFaceModel(network(name), tokenizer("decoder"), "decoder", name=name)
    finally:
        NETWORKS[name] = usual


def requests_for(reader: LanguageModel, texts: list[str]) -> list[Request]:
    """A request for each text, each of a visitor of their own."""
    requests = []
    for number, text in enumerate(texts):
        with reading_for(number):
            requests.append(reader.request(text))
    return requests


def agree(together_read: Trace | Exception, alone: Trace) -> None:
    """Everything in a trace is that of the same text read alone, in the same shapes."""
    assert isinstance(together_read, Trace), together_read
    assert together_read.text == alone.text and together_read.tokens == alone.tokens
    attention, expected = together_read.attention["self"], alone.attention["self"]
    size = max(1.0, float(np.abs(alone.hidden["self"]).max()))
    np.testing.assert_allclose(together_read.hidden["self"], alone.hidden["self"], atol=CLOSE * size)
    assert attention.counts == expected.counts
    for layer in range(expected.layers):
        np.testing.assert_allclose(attention[layer], expected[layer], atol=CLOSE)
        call, other = attention.calls[layer], expected.calls[layer]
        assert call.mask is None and other.mask is None and (call.scale, call.softcap) == (other.scale, other.softcap)
        for a, b in zip(call.tensors(), other.tensors(), strict=True):
            torch.testing.assert_close(a, b, atol=CLOSE * size, rtol=CLOSE)
    scores = alone.logits_at(-1)
    np.testing.assert_allclose(together_read.logits_at(-1), scores, atol=CLOSE * max(1.0, float(np.abs(scores).max())))


WORDS = ("the", "cat", "sat", "on", "dog", "mat", "é", "👩‍🚀", "qx", ".")
BEGINNINGS = ("", "the cat", "the cat sat on the mat", "a dog sat")
texts = st.builds(
    lambda beginning, words: " ".join([beginning, *words]),
    st.sampled_from(BEGINNINGS),
    st.lists(st.sampled_from(WORDS), max_size=6),
)


@pytest.mark.parametrize("name", ["writer", "GPT-2", "Llama, grouped-query"])
@given(before=st.lists(texts, max_size=4), wanted=st.lists(texts, min_size=2, max_size=7))
@settings(max_examples=15)
def test_any_texts_read_together_are_those_read_alone(name, before, wanted):
    reader = model(name)
    reader.forget()
    for text in before:
        reader.trace(text)
    outcomes = together.traces(reader, requests_for(reader, wanted))
    for text, outcome in zip(wanted, outcomes, strict=True):
        agree(outcome, reader.trace(text, remember=False))
        assert outcome.model is reader


@pytest.mark.parametrize("name", TOGETHER)
def test_a_trial_shows_that_texts_can_be_read_together(name):
    reader = model(name)
    assert reader.trial.longest in (min(reader.room, 513), 129) and reader.trial.number == reader.condition
    texts = ["the cat sat on the mat", "a dog", "the cat sat on", "the dog sat on the cat and on the mat"]
    reader.forget()
    sizes = passes(reader)
    outcomes = together.read(reader, requests_for(reader, texts))
    assert sizes == [4]
    del reader.read_parts
    for text, outcome in zip(texts, outcomes, strict=True):
        agree(outcome, reader.trace(text, remember=False))


@pytest.mark.parametrize("choices", VARIED, ids=str)
def test_transformers_of_our_own_are_read_together(choices):
    reader = ours(**choices)
    assert reader.trial.longest == reader.room == 32
    for text, outcome in zip(BEGINNINGS, together.read(reader, requests_for(reader, list(BEGINNINGS))), strict=True):
        agree(outcome, reader.trace(text, remember=False))


@pytest.mark.parametrize("choices", APART, ids=str)
def test_what_attends_by_more_than_a_text_s_own_keys_is_read_one_by_one(choices):
    reader = ours(**choices)
    assert reader.trial == Trial()
    sizes = passes(reader)
    outcomes = together.read(reader, requests_for(reader, ["the cat", "a dog"]))
    assert sizes == [1, 1] and all(isinstance(outcome, Trace) for outcome in outcomes)


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_windows_and_attention_that_is_hidden_are_read_one_by_one(name):
    reader = model(name)
    assert reader.trial.longest == 0
    texts = ["the cat sat on the mat and the dog", "a dog sat on the cat and on the mat"]
    for text, outcome in zip(texts, together.read(reader, requests_for(reader, texts)), strict=True):
        assert outcome.hidden["self"] == pytest.approx(reader.trace(text, remember=False).hidden["self"], abs=1e-3)


def passes(reader: LanguageModel) -> list[int]:
    """How many texts each pass of a model reads, from now on."""
    counts, real = [], reader.read_parts

    def count(parts: list[Part]) -> list:
        counts.append(len(parts))
        return real(parts)

    reader.read_parts = count
    return counts


def test_equal_texts_are_read_once_and_shared():
    reader = ours()
    reader.trial  # noqa: B018
    sizes, texts = passes(reader), ["the cat", "a dog", "the cat", "the cat"]
    outcomes = together.traces(reader, requests_for(reader, texts))
    assert sizes == [2]
    assert outcomes[0].attention["self"] is outcomes[2].attention["self"] is outcomes[3].attention["self"]
    with reading_for("a latecomer"):
        later = together.remembered(reader, reader.request("a dog"))
    assert later is not None and later.attention["self"] is outcomes[1].attention["self"]
    requests = requests_for(reader, ["the cat sat", "a dog sat"])
    reader.trace("the cat sat")
    together.read(reader, requests)
    assert sizes == [2, 1, 1], "what was read while it waited is not read again"


def test_an_error_stays_with_its_text():
    reader = model("GPT-2")
    requests = requests_for(reader, ["the cat", "a dog", "on the mat"])
    unknown = Token(reader.ids, "?", 0, 1)
    requests[1] = together.request_for(reader, "?", [unknown], 0, requests[1].stamp)
    outcomes = together.read(reader, requests)
    assert isinstance(outcomes[1], ValueError) and "has no vector" in str(outcomes[1])
    for number in (0, 2):
        agree(outcomes[number], reader.trace(requests[number].text, remember=False))


def test_a_long_text_is_read_by_itself():
    reader, long = models.load("writer"), "a " * (NEW + 9)
    reader.forget()
    reader.trial  # noqa: B018
    sizes = passes(reader)
    together.read(reader, requests_for(reader, ["the cat", long, "a dog"]))
    assert sizes == [2, 1] and not reader.trial.allows(requests_for(reader, [long + "b" * 300])[0])
    del reader.read_parts


def test_a_network_that_changes_while_texts_wait_is_read_one_by_one_as_it_is():
    reader = ours()
    requests = requests_for(reader, ["the cat", "a dog"])
    assert reader.trial.allows(requests[0])
    with torch.no_grad():
        next(part for part in reader.network.modules() if isinstance(part, nn.Linear)).weight.mul_(-1)
    sizes = passes(reader)
    outcomes = together.read(reader, requests)
    assert sizes == [1, 1]
    for request, outcome in zip(requests, outcomes, strict=True):
        agree(outcome, reader.trace(request.text, remember=False))
    handle = reader.network.blocks[0].register_forward_hook(lambda module, args, out: 2 * out)
    assert not reader.trial.allows(requests_for(reader, ["the cat"])[0]) and requests[0].stamp is not None
    handle.remove()


def test_in_16_bits_texts_are_read_one_by_one():
    reader = ours()
    reader.network.bfloat16()
    assert reader.trial == Trial()


def test_nothing_of_the_others_stays_in_memory_with_a_text():
    reader = ours()
    texts = ["the cat", *(f"{word} sat on the mat and the dog" for word in ("a", "b", "c"))]
    outcomes = together.read(reader, requests_for(reader, texts))
    alone = ours().trace("the cat")
    assert outcomes[0].bytes == alone.bytes
    assert outcomes[0].hidden["self"].base is None or outcomes[0].hidden["self"].base.nbytes == alone.hidden["self"].nbytes


def test_a_model_of_another_kind_reads_no_text_beside_others():
    reader = models.load("translator")
    assert reader.trial == Trial()
    with pytest.raises(ValueError, match="translator reads no text beside others"):
        reader.request("a cat")
