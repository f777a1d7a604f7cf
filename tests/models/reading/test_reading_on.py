"""Reading on from what is remembered gives what reading everything again does, in every way of attending."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.scratch.config import PATTERNS, POSITIONS
from models.scratch.decoder_model import DecoderModel
from models.scratch.transformer import Cache
from models.training.corpus import train_tokenizer
from tests.models.ours import small, texts

CLOSE = {"atol": 1e-5, "rtol": 1e-4}
VARIANTS = [
    *({"positions": choice} for choice in POSITIONS),
    *({"pattern": choice} for choice in PATTERNS if choice != "full"),
    *({"kv_heads": choice} for choice in (1, 2)),
    {"score": "additive"},
    {"score": "multiplicative"},
    {"computed": "performer"},
    {"experts": 3},
    {"norm_place": "after", "norm": "layer"},
    {"positions": "alibi", "pattern": "longformer", "kv_heads": 2},
]
PIECES = [7, 1, 1, 4, 7]  # how much is read at a time


@pytest.mark.parametrize("choices", VARIANTS, ids=str)
def test_a_decoder_reads_on(choices):
    network, ids, cache = small(**choices), texts(2, sum(PIECES)), Cache()
    parts = [network(piece, cache) for piece in ids.split(PIECES, dim=1)]
    torch.testing.assert_close(torch.cat(parts, 1), network(ids), **CLOSE)
    assert cache.length == sum(PIECES)


@pytest.mark.parametrize("choices", VARIANTS, ids=str)
def test_an_encoder_decoder_writes_on_and_reads_its_source_once(choices):
    network = small(kind="encoder-decoder", **choices)
    source, target, lengths = texts(2, 9, seed=4), texts(2, sum(PIECES)), torch.tensor([9, 5])
    whole = network(source, target, lengths)
    read = []
    for block in network.decoder.blocks:
        block.cross.key.register_forward_hook(lambda *_: read.append(1))
    memory, cache = network.encode(source, lengths), Cache()
    parts = [network.unembed(network.hidden(piece, memory, cache, lengths)) for piece in target.split(PIECES, dim=1)]
    torch.testing.assert_close(torch.cat(parts, 1), whole, **CLOSE)
    assert len(read) == 2, "once in each layer"


def test_greedy_writing_with_a_cache_and_without_is_the_same():
    network, known = small(kind="encoder-decoder", positions="relative"), texts(1, 1)
    source, cache, slow = texts(1, 9, seed=4), Cache(), known
    memory = network.encode(source)
    for _ in range(10):
        known = torch.cat([known, network.unembed(network.hidden(known[:, cache.length :], memory, cache))[:, -1:].argmax(-1)], 1)
        slow = torch.cat([slow, network(source, slow)[:, -1:].argmax(-1)], 1)
    assert torch.equal(known, slow)


def test_rows_of_a_cache_go_on_by_themselves():
    """Rows of a cache are chosen as in a beam search: the second text twice, then the first."""
    network, ids, cache = small(kind="encoder-decoder"), texts(2, 8), Cache()
    source, chosen = texts(2, 9, seed=4), torch.tensor([1, 1, 0])
    memory, more = network.encode(source), texts(3, 2, seed=5)
    network.hidden(ids, memory, cache)
    on = network.hidden(more, memory[chosen], cache.rows(chosen))
    whole = network.hidden(torch.cat([ids[chosen], more], 1), memory[chosen])
    torch.testing.assert_close(on, whole[:, 8:], **CLOSE)
    assert cache.length == 8, "the cache itself stays"


def test_an_encoder_cannot_read_on():
    with pytest.raises(ValueError, match="An encoder cannot read on from a cache"):
        small(kind="encoder").hidden(texts(), Cache())


def test_reading_on_beyond_the_context_says_so():
    network, cache = small(), Cache()
    network(texts(1, 30), cache)
    with pytest.raises(ValueError, match="33 tokens do not fit in a context of 32"):
        network(texts(1, 3), cache)


@pytest.mark.parametrize(
    "choices",
    [
        {"positions": "alibi"},
        {"positions": "relative"},
        {"pattern": "window"},
        {"pattern": "bigbird"},
        {"score": "additive"},
        {"computed": "performer"},
        {"kv_heads": 1},
        {"positions": "alibi", "score": "additive", "pattern": "strided"},
    ],
    ids=str,
)
def test_a_trace_that_was_typed_is_the_trace_that_was_pasted(choices):
    """Key by key, with letters taken back and others put in their place, as against all at once."""
    tokenizer = train_tokenizer(["the cat sat on the mat"] * 3, 280)

    def model() -> DecoderModel:
        return DecoderModel(small(vocabulary=tokenizer.get_vocab_size(), **choices), tokenizer, "small", "test")

    text, typing = "the cat sat on the mat", model()
    for typed in [text[:end] for end in range(1, 12)] + ["the ca", "the car", "the car is", text]:
        trace, fresh = typing.trace(typed), model().trace(typed)
        for layer in range(2):
            np.testing.assert_allclose(trace.attention["self"][layer], fresh.attention["self"][layer], atol=1e-5)
        np.testing.assert_allclose(trace.hidden["self"], fresh.hidden["self"], atol=1e-4, rtol=1e-4)
        np.testing.assert_allclose(trace.logits, fresh.logits, atol=1e-3, rtol=1e-3)
