"""The lens: its last layer is the model itself, whatever the model is made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import models
from analysis import logit_lens, tuned_lens
from analysis.lens import lens, translator
from models.huggingface.model import HuggingFaceModel
from models.lens.tuned_lens import TunedLens
from models.numbers.softmax import softmax
from models.tokens import Token
from models.trace import Trace
from tests.models.networks import TEXTS, network, tokenizer

# What is odd on the way from the last layer to the logits: a soft cap, a projection, a norm after each block or in the head,
# a scale, an interface of its own, a decoder with cross-attention.
ODD = {
    "GPT-2": "decoder",
    "Llama, grouped-query": "decoder",
    "Gemma 2, soft-capped": "decoder",
    "OPT": "decoder",
    "GPT-J": "decoder",
    "BLOOM": "decoder",
    "MPT": "decoder",
    "Phi": "decoder",
    "GPT-OSS, sinks": "decoder",
    "BERT": "encoder",
    "ELECTRA": "encoder",
    "ALBERT": "encoder",
    "ModernBERT": "encoder",
    "DeBERTa-v2": "encoder",
    "T5": "encoder-decoder",
    "BART": "encoder-decoder",
}


@pytest.mark.parametrize("name", ODD)
def test_the_lens_at_the_last_layer_is_the_network(name):
    kind = ODD[name]
    model = HuggingFaceModel(network(name), tokenizer(kind), kind)
    text = TEXTS[0].replace("mat", "<mask>") if kind == "encoder" else TEXTS[0]
    target = "the dog" if kind == "encoder-decoder" else ""
    trace = model.trace(text, target)
    predictions = lens(trace, top=4)
    inputs = {"input_ids": torch.tensor([[token.id for token in trace.tokens]])}
    if target:
        inputs["decoder_input_ids"] = torch.tensor([[token.id for token in trace.target]])
    with torch.no_grad():
        logits = network(name)(**inputs).logits[0].float().numpy()
    expected = softmax(logits)
    layers = len(trace.hidden["decoder" if target else "self"])
    assert predictions.ids.shape == (layers, len(trace.read), 4)
    np.testing.assert_array_equal(predictions.answer, logits.argmax(-1))
    np.testing.assert_allclose(predictions.probabilities[-1], -np.sort(-expected)[:, :4], rtol=2e-3, atol=1e-6)
    assert (predictions.rank[-1] == 1).all() and (predictions.kl[-1] == 0).all() and (predictions.kl[:-1] > 0).any()
    table = logit_lens(model, trace, top=2)
    last = table[(table["layer"] == layers - 1) & (table["rank"] == 1)]
    assert last["id"].tolist() == predictions.answer.tolist()


def toy(layers: int = 3, positions: int = 4, vocabulary: int = 6, seed: int = 0) -> Trace:
    """The stream is as wide as the vocabulary and is the logits."""
    stream = 2 * np.random.default_rng(seed).normal(size=(layers + 1, positions, vocabulary)).astype(np.float32)
    tokens = [Token(i, str(i), i, i + 1) for i in range(positions)]
    return Trace("", tokens, {}, {"self": stream}, unembed=lambda hidden: hidden)


@pytest.mark.parametrize("cells", [1, 7, 2**22])
def test_what_the_lens_says_of_known_logits(monkeypatch, cells):
    monkeypatch.setattr("analysis.lens.CELLS", cells)
    trace = toy()
    predictions, shares = lens(trace, top=3), softmax(trace.hidden["self"])
    for layer in range(4):
        for place in range(4):
            row, last = shares[layer, place], shares[-1, place]
            assert predictions.ids[layer, place].tolist() == np.argsort(-row)[:3].tolist()
            assert predictions.probabilities[layer, place].tolist() == pytest.approx(np.sort(row)[::-1][:3].tolist(), rel=1e-5)
            assert predictions.rank[layer, place] == (row > row[last.argmax()]).sum() + 1
            assert predictions.probability[layer, place] == pytest.approx(row[last.argmax()], rel=1e-5)
            assert predictions.kl[layer, place] == pytest.approx((last * np.log(last / row)).sum(), abs=1e-5)


def test_when_the_answer_is_settled():
    trace = toy(layers=3, positions=4, vocabulary=3)
    #                 position: 0                    1 from the start       2 at the last       3 lost on the way
    best = np.array([[1, 0, 0, 2], [1, 0, 1, 1], [2, 0, 1, 2], [2, 0, 0, 2]])
    known = replace(trace, hidden={"self": np.eye(3, dtype=np.float32)[best]})
    assert lens(known).settled.tolist() == [2, 0, 3, 2]


def test_some_positions_are_those_of_all():
    trace = toy(positions=6)
    some, all_ = lens(trace, [4, 1]), lens(trace)
    np.testing.assert_array_equal(some.ids, all_.ids[:, [4, 1]])
    np.testing.assert_array_equal(some.kl, all_.kl[:, [4, 1]])
    assert lens(trace, []).kl.shape == (4, 0)


def test_what_cannot_be_looked_through():
    headless = Trace("", [], {}, {"self": np.zeros((2, 1, 3), dtype=np.float32)})
    with pytest.raises(ValueError, match="no language-model head"):
        lens(headless)
    with pytest.raises(ValueError, match="no position 4"):
        lens(toy(), [4])
    with pytest.raises(ValueError, match="at least 1"):
        lens(toy(), top=0)


def test_more_than_the_vocabulary_is_the_vocabulary():
    assert lens(toy(vocabulary=6), top=50).ids.shape[-1] == 6


def test_whoever_no_longer_wants_it_stops_it():
    def enough(share: float, words: str) -> None:
        assert 0 <= share <= 1
        if share > 0.4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        lens(toy(layers=5), report=enough)


def test_a_translator_that_does_nothing_is_the_logit_lens():
    trace = toy()
    nothing = TunedLens(np.zeros((3, 6, 6), np.float32), np.zeros((3, 6), np.float32))
    np.testing.assert_array_equal(lens(trace, translate=nothing).kl, lens(trace).kl)
    with pytest.raises(ValueError, match="for 3 layers of width 6"):
        nothing(np.zeros((3, 2, 6), np.float32))


def test_a_translator_moves_every_layer_but_the_last():
    stream = toy().hidden["self"]
    generator = np.random.default_rng(1)
    tuned = TunedLens(generator.normal(size=(3, 6, 6)).astype(np.float32), generator.normal(size=(3, 6)).astype(np.float32))
    translated = tuned(stream)
    np.testing.assert_array_equal(translated[-1], stream[-1])
    np.testing.assert_allclose(translated[1, 2], stream[1, 2] + tuned.matrices[1].T @ stream[1, 2] + tuned.offsets[1], atol=1e-5)


def test_the_tuned_lens_of_the_writer_is_nearer_to_its_answers():
    writer = models.load("writer")
    trace = writer.trace("The old woman opened the door and saw that the dog had run away into the garden, and she began to cry.")
    plain, tuned = lens(trace), lens(trace, translate=translator(writer))
    assert (tuned.kl[:-1].mean(1) < plain.kl[:-1].mean(1)).all(), "at every layer"
    np.testing.assert_array_equal(tuned.answer, plain.answer)
    assert len(tuned_lens(writer, trace, top=1)) == len(logit_lens(writer, trace, top=1)) == 7 * len(trace.tokens)


def test_a_model_without_a_tuned_lens_says_so():
    model = HuggingFaceModel(network("GPT-2"), tokenizer("decoder"), "decoder", name="tiny")
    with pytest.raises(ValueError, match="no tuned lens for tiny"):
        tuned_lens(model, model.trace("a b"))
