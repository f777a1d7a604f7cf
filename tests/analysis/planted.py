"""Transformers of which every number is set by hand, so that what each head does is known: three heads of well-known kinds.

`planted()` has two layers of two heads. L0 H0 looks at the token before and writes which it was; L0 H1 looks at earlier copies of
the same token and writes where they stand; L1 H0 looks at tokens that were written to follow a copy of this one (it composes with
L0 H0 through its keys) and says them again; L1 H1 does nothing. So the second time that something is said the model knows what
comes next, by L0 H0 and L1 H0 alone.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from models.scratch.decoder_model import DecoderModel
from models.scratch.signs import START
from models.scratch.transformer import Decoder, TransformerConfig, build

HEADS = {"previous": (0, 0), "duplicate": (0, 1), "induction": (1, 0)}  # layer and head of each kind
CIRCUIT = [HEADS["previous"], HEADS["induction"]]  # what the prediction of a repeat rests on
SAID_TWICE = "xkqvbzwmfj" * 2  # the model is sure of what comes next in the second round

LETTERS, PLACES = 257, 160  # a token for each byte, and one for the start; positions
SIZE = LETTERS + PLACES  # of half a stream: a token and a position, each as a one in a place of its own
SHARP = 120.0  # of a score, divided by how many ones the stream holds: so that a head is sure
LOUD = 4.0  # how much more the induction head says than the embedding of the token that is read
PLAIN = 0.4  # of the final norm: so that a prediction is sure, but not so sure that nothing can be measured on it


def planted(kinds: Collection[str] = tuple(HEADS)) -> DecoderModel:
    """The transformer above. kinds: which heads are made; the others do nothing."""
    config = TransformerConfig(
        vocabulary=LETTERS, context=PLACES, d_model=2 * SIZE, layers=2, heads=2, d_ff=4, positions="learned", qk_norm=False
    )
    model = build(config)
    token, place = torch.arange(LETTERS), torch.arange(PLACES)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_() if parameter.dim() > 1 else parameter.fill_(1)
        model.embedding.weight[token, token] = 1
        model.positions.embedding.weight[place, LETTERS + place] = 1
        model.final_norm.weight.fill_(PLAIN)
        for kind in kinds:
            {"previous": _previous, "duplicate": _duplicate, "induction": _induction}[kind](model)
    return DecoderModel(model, letters(), "planted", "")


def planted_on(words: Collection[str]) -> DecoderModel:
    """One layer of two heads: from any token H0 looks at those words that came before, all alike; H1 does nothing."""
    tokenizer = letters(words)
    size = tokenizer.get_vocab_size()
    config = TransformerConfig(
        vocabulary=size, context=PLACES, d_model=size + size % 2, layers=1, heads=2, d_ff=4, positions="learned", qk_norm=False
    )
    model, word_ids = build(config), [tokenizer.encode(f" {word}").ids for word in words]
    assert all(len(ids) == 1 for ids in word_ids), "each is one token"
    token = torch.arange(size)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_() if parameter.dim() > 1 else parameter.fill_(1)
        model.embedding.weight[token, token] = 1
        model.blocks[0].attention.query.weight[0] = _scale(model)
        model.blocks[0].attention.key.weight[0, [ids[0] for ids in word_ids]] = 2
    return DecoderModel(model, tokenizer, "planted", "")


def letters(words: Collection[str] = ()) -> Tokenizer:
    """A token for each byte, and one for the start; and one for each of these words."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        [f" {word}" for word in words],
        BpeTrainer(vocab_size=3000, special_tokens=[START], initial_alphabet=alphabet, show_progress=False, min_frequency=1),
    )
    return tokenizer


def _previous(model: Decoder) -> None:
    """Asks for the place before its own, and writes which token stood there into the second half of the stream."""
    attention, token, place = model.blocks[0].attention, torch.arange(LETTERS), torch.arange(PLACES)
    attention.query.weight[place[1:] - 1, LETTERS + place[1:]] = _scale(model)
    attention.key.weight[place, LETTERS + place] = 2
    attention.value.weight[token, token] = _norm_to_one(model, 2)
    attention.output.weight[SIZE + token, token] = 1


def _duplicate(model: Decoder) -> None:
    """Asks for its own token and not for itself, and writes where that is."""
    attention, token, place = model.blocks[0].attention, torch.arange(LETTERS), torch.arange(PLACES)
    attention.query.weight[SIZE + token, token] = _scale(model)
    attention.key.weight[SIZE + token, token] = 2
    attention.query.weight[SIZE + LETTERS + place, LETTERS + place] = -2 * _scale(model)
    attention.key.weight[SIZE + LETTERS + place, LETTERS + place] = 2
    attention.value.weight[SIZE + place, LETTERS + place] = _norm_to_one(model, 2)
    attention.output.weight[SIZE + LETTERS + place, SIZE + place] = 1


def _induction(model: Decoder) -> None:
    """Asks for what was written to follow its own token, and says the token that it finds."""
    attention, token = model.blocks[1].attention, torch.arange(LETTERS)
    attention.query.weight[token, token] = _scale(model)
    attention.key.weight[token, SIZE + token] = 2
    attention.value.weight[token, token] = _norm_to_one(model, 4)
    attention.output.weight[token, token] = LOUD


def _scale(model: Decoder) -> float:
    """By what a query is multiplied, so that a match scores SHARP / ones after the norm and the root have divided."""
    return SHARP / 2 * model.config.d_head**0.5 / model.config.d_model


def _norm_to_one(model: Decoder, count: int) -> float:
    """By what a value is multiplied to be a one again, of a stream that holds so many of them before its norm."""
    return (count / model.config.d_model) ** 0.5
