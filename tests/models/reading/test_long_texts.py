"""A text of any length is read as its end is, and no more of it is cut into tokens than that takes."""

from __future__ import annotations

import random

import numpy as np
import pytest

import models
from models.huggingface.model import HuggingFaceModel
from models.reading.long_texts import CHARACTERS, SPARE, beginning
from tests.models.networks import network, tokenizer
from tests.models.reading.test_remembered import MODELS

WORDS = ["the", "cat", "sat", "on", "a", "mat", ",", "then", "dogs", "ran", "once.", "Où", "été", "🐕", "x\n"]


def long(count: int, seed: int = 0) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=count))


def encoder() -> HuggingFaceModel:
    return HuggingFaceModel(network("BERT"), tokenizer("encoder"), "encoder", True, "BERT")


@pytest.mark.parametrize("name", [*MODELS, "BERT"])
def test_the_end_of_a_long_text_is_read_as_in_the_whole_text(name, monkeypatch):
    """Token by token, with the places in the text that was typed, and as many characters said to be cut."""
    model = encoder() if name == "BERT" else MODELS[name]()
    model.at_most = 24
    text, target = long(3000), long(2500, 1) if "encoder" in model.info.kind else ""
    trace = model.trace(text, target)
    monkeypatch.setattr("models.reading.long_texts.CHARACTERS", 10**9)
    whole = model.trace(text, target, remember=False)
    assert (trace.tokens, trace.target, trace.cut) == (whole.tokens, whole.target, whole.cut)
    assert len(trace.tokens) == 24 and trace.cut > 0
    last = [token for token in trace.tokens if token.start < token.end][-1]
    assert (target if last.segment else text)[last.start : last.end].strip() == last.text.strip()
    kind = next(iter(trace.hidden))
    np.testing.assert_allclose(trace.hidden[kind], whole.hidden[kind], atol=1e-4)


@pytest.mark.parametrize("text", [long(60_000), "a" * 300_000, "🐕" * 100_000, " " * 300_000, "\n" * 300_000])
def test_only_an_end_is_cut_into_tokens(text, monkeypatch):
    model, cut = models.load("writer"), []

    def counted(part, tokens_of=model.vocabulary.tokens):
        cut.append(len(part))
        return tokens_of(part)

    monkeypatch.setattr(model.vocabulary, "tokens", counted)
    trace = model.trace(text)
    assert sum(cut) < len(text) / 2 and len(trace.tokens) == model.room
    assert trace.tokens[-1].end == len(text) and trace.cut == trace.tokens[1].start
    assert all(text[token.start : token.end] == token.text for token in trace.tokens[1:] if not token.fragment)


def test_a_text_that_may_fit_is_looked_at_once():
    def never(text):
        raise AssertionError("a short text need not be tried")

    assert beginning(never, "a" * CHARACTERS * SPARE, 1) == beginning(never, "a" * 10**6, None) == 0
