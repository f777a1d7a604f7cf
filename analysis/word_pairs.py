"""Which heads find the word that a word belongs to: the noun of an article, the verb of an object."""

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
FARTHEST = 4  # words away that a distance is tried for


@dataclass(frozen=True)
class Marked:
    """A sentence and, by relation, its pairs of words (the one that looks, the one that is to be found), counted from 0."""

    words: tuple[str, ...]
    pairs: dict[str, tuple[tuple[int, int], ...]]


@cache
def sentences() -> tuple[Marked, ...]:
    """The sentences of the file, each with its pairs."""
    found = []
    for line in SENTENCES.read_text(encoding="utf-8").splitlines()[1:]:
        text, *columns = line.split("\t")
        pairs = (tuple((int(one), int(other)) for one, other in (pair.split(">") for pair in each.split())) for each in columns)
        found.append(Marked(tuple(text.split()), dict(zip(RELATIONS, pairs, strict=True))))
    return tuple(found)


def found_by_heads(model: LanguageModel, relation: str, among: Sequence[Marked] | None = None) -> np.ndarray:
    """How often each head looks, from a word, at the one that it belongs to more than at any other word: float64 [layers, heads],
    shares of the pairs of that relation. among: None for all `sentences`.

    Looks at itself and at tokens that nobody typed do not count. What goes to the tokens of a word is summed, and those of the
    word that looks are averaged. Errors: ValueError for another relation, and for a model of two stacks.
    Source: Clark et al. 2019, "What Does BERT Look At?", section 4.
    """
    check(relation)
    if model.info.kind == "encoder-decoder":
        raise ValueError(f"“{model.info.name}” has two stacks, and this is asked of one.")
    right = []
    for marked in sentences() if among is None else among:
        text, spans = spelt(marked.words)
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
        right += [best[..., word] == other for word, other in marked.pairs[relation]]
    return np.mean(right, axis=0)


def found_by_distance(relation: str) -> tuple[float, int]:
    """How often a fixed distance finds it, the best of them: a share, and the distance in words (below 0: before it).

    Errors: ValueError for another relation.
    """
    check(relation)
    apart = np.array([other - word for marked in sentences() for word, other in marked.pairs[relation]])
    tried = [step for step in range(-FARTHEST, FARTHEST + 1) if step]
    return max((float((apart == step).mean()), step) for step in tried)


def spelt(words: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """A sentence as it is written, and where its words stand in it."""
    text, spans = "", []
    for word in words:
        text += " " * bool(text and word.isalpha()) + word
        spans.append((len(text) - len(word), len(text)))
    return text, spans


def check(relation: str) -> None:
    if relation not in RELATIONS:
        raise ValueError(f"There are no pairs for {quoted(relation)}. There are some for {', '.join(RELATIONS)}.")
