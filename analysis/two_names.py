"""Sentences with two names, one of which is repeated: whether a model predicts the other, and where its heads look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from models.edits import Edit
from models.huggingface.names import quoted
from models.language_model import LanguageModel
from models.trace import Trace

NAMES = (
    "Mary",
    "John",
    "Tom",
    "Anna",
    "Alice",
    "Jack",
    "Peter",
    "Lucy",
    "Sam",
    "Ben",
    "Bob",
    "Jane",
    "James",
    "Sarah",
    "Paul",
    "George",
    "Henry",
    "William",
    "Robert",
    "Elizabeth",
    "Emily",
    "Max",
    "Tim",
    "Sue",
    "Jim",
    "Joe",
    "Bill",
    "Ann",
    "Fred",
    "Frank",
    "David",
    "Michael",
    "Martha",
    "Laura",
)
TEMPLATES = (
    "When {first} and {second} went to the garden, {again} gave a flower to",
    "After {first} and {second} went to the house, {again} gave a book to",
    "Then {first} and {second} went to the school, and {again} gave a letter to",
    "Yesterday {first} and {second} sat in the garden. {again} gave an apple to",
    "One day {first} and {second} were playing in the park. {again} gave a ball to",
    "While {first} and {second} were working at the house, {again} gave a basket to",
)
PAIRS = 8  # of names, drawn for each template
ORDERS = ("right name first", "repeated name first")


@dataclass(frozen=True)
class TwoNames:
    """A sentence, the right name at its end, and the repeated one. order: one of ORDERS."""

    text: str
    right: str
    repeated: str
    order: str


def cases(model: LanguageModel, order: str = "") -> list[TwoNames]:
    """Return each template with pairs of names that are one token each, in both orders or in one of ORDERS.

    Errors: ValueError for another order, and for a model that does not continue texts or has too few of the names.
    Source: Wang et al. 2023, "Interpretability in the Wild", section 2, with sentences of our own that a small model can read.
    """
    if order not in ("", *ORDERS):
        raise ValueError(f"There is no order {quoted(order)}. There are {' and '.join(ORDERS)}.")
    if model.info.kind != "decoder":
        raise ValueError(f"“{model.info.name}” does not go on with a text.")
    names = [name for name in NAMES if len(ids_of(model, name)) == 1]
    if len(names) < 2:
        raise ValueError(f"In “{model.info.name}” a name is several tokens, so it cannot be asked for in one.")
    draw, sentences = np.random.default_rng(0), []
    for template in TEMPLATES:
        for _ in range(PAIRS):
            first, second = (names[place] for place in draw.choice(len(names), 2, replace=False))
            for sentence_order, again, right in zip(ORDERS, (second, first), (first, second), strict=True):
                if order in ("", sentence_order):
                    sentences.append(
                        TwoNames(template.format(first=first, second=second, again=again), right, again, sentence_order)
                    )
    return sentences


def leads(model: LanguageModel, order: str = "", edits: Sequence[Edit] = ()) -> np.ndarray:
    """Return the lead of the right name over the repeated one in each of the `cases`: the difference of logits, float64 [case].

    edits: of heads and blocks, at every position. Errors: as `cases`.
    """
    differences = []
    for case, trace in read(model, order, edits):
        logits = last_logits(trace)
        right, repeated = (ids_of(model, name)[0] for name in (case.right, case.repeated))
        differences.append(float(logits[right]) - float(logits[repeated]))
    return np.array(differences)


def likeliest(model: LanguageModel, order: str = "", edits: Sequence[Edit] = ()) -> np.ndarray:
    """Return whether the right name is the likeliest of all tokens in each of the `cases`: bool [case].

    edits and errors: as `leads`."""
    return np.array(
        [last_logits(trace).argmax() == ids_of(model, case.right)[0] for case, trace in read(model, order, edits)], dtype=bool
    )


def looks_at_names(model: LanguageModel, order: str = "", edits: Sequence[Edit] = ()) -> dict[str, np.ndarray]:
    """Return the mean weight of each head from the end of a sentence on the right name ("right"), on the first occurrence of the
    repeated one ("repeated"), and on its second occurrence ("again"): float64 [layers, heads] each.

    edits and errors: as `leads`."""
    weights: dict[str, list[np.ndarray]] = {"right": [], "repeated": [], "again": []}
    for case, trace in read(model, order, edits):
        attention = trace.attention["self"]
        rows = np.stack([attention[layer][:, -1] for layer in range(attention.layers)])
        repeated = places(trace, case.repeated)
        for name, place in zip(weights, (places(trace, case.right)[0], repeated[0], repeated[-1]), strict=True):
            weights[name].append(rows[..., place])
    return {name: np.stack(rows).mean(0, np.float64) for name, rows in weights.items()}


def read(model: LanguageModel, order: str, edits: Sequence[Edit]) -> Iterator[tuple[TwoNames, Trace]]:
    """Return each of the `cases` with its trace."""
    sentences = cases(model, order)
    texts = [case.text for case in sentences]
    return zip(sentences, model.traces(texts, [list(edits)] * len(texts)), strict=True)


def last_logits(trace: Trace) -> np.ndarray:
    """Return the logits at the end of a sentence: float32 [vocabulary]."""
    logits = trace.logits_at(-1)
    assert logits is not None, "a decoder predicts"
    return logits


def places(trace: Trace, name: str) -> list[int]:
    return [at for at, token in enumerate(trace.tokens) if token.text.strip() == name]


def ids_of(model: LanguageModel, name: str) -> list[int]:
    """Return the tokens of a name inside a sentence."""
    return [token.id for token in model.tokenize(f" {name}") if token.start < token.end]
