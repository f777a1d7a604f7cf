"""Sentences in which a verb agrees with its subject: what a model predicts, and whether attention says which words it needed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from analysis.attribution import METHODS, Attribution
from analysis.perturbation import Question, rank_correlation
from models.huggingface.names import quoted
from models.language_model import LanguageModel

VERBS = ("was", "were")  # after one, after many
SUBJECTS = ("key", "boy", "picture", "letter", "house", "friend", "horse", "tree")
OTHERS = ("cabinet", "garden", "king", "river", "teacher", "window", "road", "cousin")  # nouns that stand between
BETWEEN = ("near the", "behind the", "with the")
ENDS = ("very old.", "not far away.", "always there.", "beautiful.")

_kept: WeakKeyDictionary[LanguageModel, dict[object, list[np.ndarray]]] = WeakKeyDictionary()
_lock = threading.Lock()


@dataclass(frozen=True)
class Agreement:
    """A sentence up to its verb, what follows it, and which of VERBS is right: 0 or 1."""

    start: str
    end: str
    right: int


def sentences() -> list[Agreement]:
    """Of each subject, one and many, with another noun of the same and of the other number between it and the verb."""
    found: list[Agreement] = []
    for place, subject in enumerate(SUBJECTS):
        for many in (0, 1):
            for other_many in (1 - many, many):
                noun = OTHERS[(place + 1 + 3 * (other_many == many)) % len(OTHERS)]
                between = f"{BETWEEN[(place + (other_many == many)) % len(BETWEEN)]} {noun}{'s' * other_many}"
                end = ENDS[len(found) % len(ENDS)]
                found.append(Agreement(f"The {subject}{'s' * many} {between}", end, many))
    return found


def questions(model: LanguageModel) -> list[Question]:
    """The right verb rather than the other, in each sentence: at the mask of an encoder, after the noun in a decoder.

    Errors: ValueError for a model of two stacks, and where a verb is no token of its vocabulary.
    """
    info = model.info
    if info.kind == "encoder-decoder" or (info.kind == "encoder" and not info.mask):
        raise ValueError(f"“{info.name}” predicts no word in the middle or at the end of a text.")
    verbs = [verb_id(model, verb) for verb in VERBS]
    found = []
    for one in sentences():
        trace = model.trace(f"{one.start} {info.mask} {one.end}" if info.kind == "encoder" else one.start, remember=False)
        found.append(Question(model, trace, model.places(trace)[0], verbs[one.right], verbs[1 - one.right]))
    return found


def verb_id(model: LanguageModel, verb: str) -> int:
    for form in (f" {verb}", verb):
        ids = [token.id for token in model.tokenize(form) if token.start < token.end]
        if len(ids) == 1:
            return ids[0]
    raise ValueError(f"“{verb}” is no token of “{model.info.name}”.")


def agreeing(model: LanguageModel) -> float:
    """How often the right verb is likelier than the other: a share. Errors: as `questions`."""
    chances = [question.probabilities(np.ones((1, len(question.units)), bool))[0] for question in questions(model)]
    return float(np.mean(np.array(chances) > 0.5))


def falls_of(question: Question) -> np.ndarray:
    """By how much the chance of the verb falls when each token is blanked out: float64 [unit]."""
    count = len(question.units)
    full, *without = question.probabilities(np.concatenate([np.ones((1, count), bool), ~np.eye(count, dtype=bool)]))
    return full - np.array(without)


def known_falls(model: LanguageModel, asked: Sequence[Question]) -> list[np.ndarray]:
    """`falls_of` each, once for a model while it stays the same: every method is held against them."""
    with _lock:
        kept = _kept.setdefault(model, {})
        if (condition := model.condition) not in kept:
            kept.clear()  # a network that has changed is another one
            kept[condition] = [falls_of(question) for question in asked]
        return kept[condition]


def agreement_with_blanks(
    model: LanguageModel,
    method: str,
    layer: int | None = None,
    signed: bool = False,
    asked: Sequence[Question] | None = None,
) -> np.ndarray:
    """Whether a method ranks the tokens as the model itself does when each is blanked out: Spearman's correlation, float64
    [sentence].

    Blanked out, a token is masked (left out, of a decoder), and counts by how far the chance that it is the right verb of the two
    moves, up or down; signed: by how far it falls, so that a token which speaks for the wrong verb counts below 0. method: one of
    `attribution.METHODS`; layer: that it is asked after, None for the last; asked: `questions`, which remember what they
    read; None: those of the model, which were blanked out once and for all.
    Errors: as `questions` and `Attribution.scores`.
    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 2 and table 1.
    """
    if method not in METHODS:
        raise ValueError(f"There is no method {quoted(method)}. There are {', '.join(METHODS)}.")
    found = []
    given = questions(model) if asked is None else asked
    for question, falls in zip(given, known_falls(model, given) if asked is None else map(falls_of, asked), strict=True):
        scores = Attribution(model, question.trace, question.position, question.token).scores(method, layer)
        correlation = rank_correlation(scores[question.units], falls if signed else np.abs(falls))
        found.append(np.nan if correlation is None else correlation)
    return np.array(found)
