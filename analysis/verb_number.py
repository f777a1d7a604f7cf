"""Sentences in which a verb agrees with its subject: a model's predictions, and whether attention shows the needed words."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from analysis.attribution import METHODS, Attribution
from analysis.attribution_tests import Question
from analysis.ranks import rank_correlation
from models.huggingface.names import quoted
from models.language_model import LanguageModel

VERBS = ("was", "were")  # after a singular, after a plural
SUBJECTS = ("key", "boy", "picture", "letter", "house", "friend", "horse", "tree")
OTHERS = ("cabinet", "garden", "king", "river", "teacher", "window", "road", "cousin")  # nouns that stand between
BETWEEN = ("near the", "behind the", "with the")
ENDS = ("very old.", "not far away.", "always there.", "beautiful.")

_falls: WeakKeyDictionary[LanguageModel, dict[object, list[np.ndarray]]] = WeakKeyDictionary()
_lock = threading.Lock()


@dataclass(frozen=True)
class Agreement:
    """A sentence up to its verb, the words after it, and the index of the right one of VERBS: 0 or 1."""

    start: str
    end: str
    right: int


def sentences() -> list[Agreement]:
    """Return sentences for each subject, singular and plural, with a noun of the same or the other number before the verb."""
    agreements: list[Agreement] = []
    for place, subject in enumerate(SUBJECTS):
        for plural in (0, 1):
            for other_plural in (1 - plural, plural):
                noun = OTHERS[(place + 1 + 3 * (other_plural == plural)) % len(OTHERS)]
                between = f"{BETWEEN[(place + (other_plural == plural)) % len(BETWEEN)]} {noun}{'s' * other_plural}"
                end = ENDS[len(agreements) % len(ENDS)]
                agreements.append(Agreement(f"The {subject}{'s' * plural} {between}", end, plural))
    return agreements


def questions(model: LanguageModel) -> list[Question]:
    """Return the question for the right verb against the other in each sentence: at an encoder's mask, after a decoder's noun.

    Errors: ValueError for a model of two stacks, and where a verb is no token of its vocabulary.
    """
    info = model.info
    if info.kind == "encoder-decoder" or (info.kind == "encoder" and not info.mask):
        raise ValueError(f"“{info.name}” predicts no word in the middle or at the end of a text.")
    verbs = [verb_id(model, verb) for verb in VERBS]
    all_questions = []
    for sentence in sentences():
        trace = model.trace(
            f"{sentence.start} {info.mask} {sentence.end}" if info.kind == "encoder" else sentence.start, remember=False
        )
        all_questions.append(Question(model, trace, model.places(trace)[0], verbs[sentence.right], verbs[1 - sentence.right]))
    return all_questions


def verb_id(model: LanguageModel, verb: str) -> int:
    for form in (f" {verb}", verb):
        ids = [token.id for token in model.tokenize(form) if token.start < token.end]
        if len(ids) == 1:
            return ids[0]
    raise ValueError(f"“{verb}” is no token of “{model.info.name}”.")


def agreeing(model: LanguageModel) -> float:
    """Return how often the right verb is likelier than the other: a share. Errors: as `questions`."""
    chances = [question.probabilities(np.ones((1, len(question.units)), bool))[0] for question in questions(model)]
    return float(np.mean(np.array(chances) > 0.5))


def falls_of(question: Question) -> np.ndarray:
    """Return the fall of the verb's probability when each token is blanked out: float64 [unit]."""
    count = len(question.units)
    full, *without = question.probabilities(np.concatenate([np.ones((1, count), bool), ~np.eye(count, dtype=bool)]))
    return full - np.array(without)


def cached_falls(model: LanguageModel, all_questions: Sequence[Question]) -> list[np.ndarray]:
    """Return `falls_of` for each question, calculated once while a model stays unchanged: every method is compared with them."""
    with _lock:
        cached = _falls.setdefault(model, {})
        if (condition := model.condition) not in cached:
            cached.clear()  # a network that has changed is another one
            cached[condition] = [falls_of(question) for question in all_questions]
        return cached[condition]


def agreement_with_blanks(
    model: LanguageModel,
    method: str,
    layer: int | None = None,
    signed: bool = False,
    asked: Sequence[Question] | None = None,
) -> np.ndarray:
    """Return the rank correlation of a method's scores with the effect of blanking out each token: Spearman's, float64
    [sentence].

    A blanked-out token is masked (in a decoder: left out). It counts by how far the probability of the right verb among the two
    moves, up or down; signed: by how far it falls, so that a token that supports the wrong verb counts below 0. method: one of
    `attribution.METHODS`; layer: the layer after which it scores, None for the last; asked: `questions`, which remember their
    readings; None: those of the model, for which the effects are cached.
    Errors: as `questions` and `Attribution.scores`.
    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 2 and table 1.
    """
    if method not in METHODS:
        raise ValueError(f"There is no method {quoted(method)}. There are {', '.join(METHODS)}.")
    correlations = []
    all_questions = questions(model) if asked is None else asked
    for question, falls in zip(
        all_questions, cached_falls(model, all_questions) if asked is None else map(falls_of, asked), strict=True
    ):
        scores = Attribution(model, question.trace, question.position, question.token).scores(method, layer)
        correlation = rank_correlation(scores[question.units], falls if signed else np.abs(falls))
        correlations.append(np.nan if correlation is None else correlation)
    return np.array(correlations)
