"""Shares of pairs of words in which a head looks from one to the other: article and noun, object and verb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from analysis.merging import merge
from models.huggingface.names import quoted
from models.language_model import LanguageModel

SENTENCES = Path(__file__).with_suffix(".tsv")  # of our own, marked by hand
RELATIONS = ("article", "object")  # the columns of that file after the sentence
FARTHEST = 4  # the largest distance in words that is tried


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence and, by relation, its pairs of words (the looking word, the word to find), counted from 0."""

    words: tuple[str, ...]
    pairs: dict[str, tuple[tuple[int, int], ...]]


@cache
def sentences() -> tuple[MarkedSentence, ...]:
    """Return the sentences of the file, each with its pairs."""
    marked_sentences = []
    for line in SENTENCES.read_text(encoding="utf-8").splitlines()[1:]:
        text, *columns = line.split("\t")
        pairs = (
            tuple((int(looker), int(goal)) for looker, goal in (pair.split(">") for pair in column.split())) for column in columns
        )
        marked_sentences.append(MarkedSentence(tuple(text.split()), dict(zip(RELATIONS, pairs, strict=True))))
    return tuple(marked_sentences)


def found_by_heads(model: LanguageModel, relation: str, among: Sequence[MarkedSentence] | None = None) -> np.ndarray:
    """Return how often each head looks most from a word at the one that it belongs to: float64 [layers, heads], shares of the
    pairs of that relation. among: None for all `sentences`.

    Looks at the word itself and at untyped tokens do not count. Weights are summed over the tokens of a key word, and averaged
    over those of the looking word. Errors: ValueError for another relation, and for a model of two stacks.
    Source: Clark et al. 2019, "What Does BERT Look At?", section 4.
    """
    check(relation)
    if model.info.kind == "encoder-decoder":
        raise ValueError(f"“{model.info.name}” has two stacks, and this is asked of one.")
    hits = []
    for sentence in sentences() if among is None else among:
        text, spans = join_words(sentence.words)
        attention = model.trace(text, remember=False).attention["self"]
        groups = [
            [
                at
                for at, token in enumerate(attention.queries)
                if token.start < end and token.end > start and token.start < token.end
            ]
            for start, end in spans
        ]
        weights = np.stack([merge(attention[layer], groups, groups) for layer in range(attention.layers)])
        weights[..., np.arange(len(spans)), np.arange(len(spans))] = -1
        best = weights.argmax(-1)  # [layers, heads, word]
        hits += [best[..., word] == goal for word, goal in sentence.pairs[relation]]
    return np.mean(hits, axis=0)


def found_by_distance(relation: str) -> tuple[float, int]:
    """Return how often the best fixed distance finds the word: a share, and the distance in words (below 0: before it).

    Errors: ValueError for another relation.
    """
    check(relation)
    distances = np.array([goal - word for sentence in sentences() for word, goal in sentence.pairs[relation]])
    steps = [step for step in range(-FARTHEST, FARTHEST + 1) if step]
    return max((float((distances == step).mean()), step) for step in steps)


def join_words(words: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return a sentence as written text, and the places of its words in it."""
    text, spans = "", []
    for word in words:
        text += " " * bool(text and word.isalpha()) + word
        spans.append((len(text) - len(word), len(text)))
    return text, spans


def check(relation: str) -> None:
    if relation not in RELATIONS:
        raise ValueError(f"There are no pairs for {quoted(relation)}. There are some for {', '.join(RELATIONS)}.")
