"""Beam search: from the probabilities of the next token to whole answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from models.numbers.softmax import log_softmax

# Takes several equally long beginnings, the start token first; returns logits [version, vocabulary] of the next token.
Following = Callable[[Sequence[tuple[int, ...]]], np.ndarray]

# A search that yields the beginnings so far, is sent the logits of the next token, and returns the best answers.
Search = Generator[list[tuple[int, ...]], np.ndarray, "list[Answer]"]


@dataclass(frozen=True)
class Answer:
    """An answer: its tokens, without the start, with the end if it came; and the sum of their log-probabilities in nats.

    text: its text, where that is known.
    """

    ids: tuple[int, ...]
    score: float
    ended: bool
    text: str = ""


# Scores an answer for comparison with others, which may be shorter.
Worth = Callable[[Answer], float]


def beam(following: Following, start: int, end: int, width: int, most: int, penalty: float = 0.6) -> list[Answer]:
    """Return the `width` best answers, best first, continuing the `width` likeliest beginnings at each step.

    An answer comes to its end or is `most` long. Answers of different lengths are compared by `by_wu`. Errors: ValueError for a
    width below 1.
    """
    search = beam_search(start, end, width, most, penalty)
    try:
        beginnings = next(search)
        while True:
            beginnings = search.send(following(beginnings))
    except StopIteration as stop:
        return stop.value


def beam_search(start: int, end: int, width: int, most: int, penalty: float = 0.6) -> Search:
    """Run `beam` as a generator that asks for the logits of the next token, so that many searches can go side by side."""
    beams = Beams({end}, width, most, by_wu(penalty))
    while not beams.done:
        beams.grow(log_softmax((yield [(start, *beginning.ids) for beginning in beams.alive])))
    return beams.best()


def by_wu(penalty: float) -> Worth:
    """Return the worth score / ((5 + length) / 6)^penalty (Wu et al. 2016, "Google's Neural Machine Translation System", eq.
    14)."""
    return lambda answer: answer.score / ((5 + len(answer.ids)) / 6) ** penalty


def by_length(penalty: float) -> Worth:
    """Return the worth score / length^penalty, by which transformers compares answers."""
    return lambda answer: answer.score / len(answer.ids) ** penalty


@dataclass(frozen=True)
class Branch:
    """One continuation that a beam search compared.

    number: its own, from 0 on; parent: the number of the branch that it extends, -1 for the text itself. length: tokens up to
    and including it; score: the sum of their log-probabilities in nats. fate: "kept", to go on from; "answer"; "dropped".
    """

    number: int
    parent: int
    id: int
    length: int
    score: float
    fate: str


class Beams:
    """A beam search between two readings: the beginnings that it extends, and the answers that it has completed.

    alive: the beginnings, the best first; tree: every branch that was compared. The search is `done` when there are as many
    answers as the beam is wide, or all beginnings have the greatest length.
    """

    def __init__(self, ends: Collection[int], width: int, most: int, worth: Worth):
        """ends: the tokens that end an answer; most: tokens of an answer. Errors: ValueError for a width below 1."""
        if width < 1:
            raise ValueError(f"A beam is at least 1 wide; it is {width}.")
        self.ends, self.width, self.most, self.worth = frozenset(ends), width, most, worth
        self.alive, self.answers = [Answer((), 0.0, False)], list[Answer]()
        self.tree: list[Branch] = []
        self._numbers = [-1]  # of the alive ones in the tree

    @property
    def done(self) -> bool:
        return len(self.answers) >= self.width or not self.alive or len(self.alive[0].ids) >= self.most

    def grow(self, known: np.ndarray) -> list[int]:
        """Extend the beginnings by one token, by log-probabilities [beginning, vocabulary]; -inf: never. Return, for each that is
        alive now, the index of the beginning that it extends."""
        totals = (known + np.array([[beginning.score] for beginning in self.alive])).ravel()
        # A beginning can end with each of the end tokens; so many candidates leave at least `width` that go on.
        count = min(max(2, 1 + len(self.ends)) * self.width, len(totals))
        best = np.flatnonzero((totals >= np.partition(totals, -count)[-count]) & np.isfinite(totals))
        best = best[np.argsort(-totals[best], kind="stable")][:count]  # the first of those that are equally likely
        alive, numbers, parents = list[Answer](), list[int](), list[int]()
        for rank, at in enumerate(best):
            parent, id = divmod(int(at), known.shape[1])
            candidate = Answer((*self.alive[parent].ids, id), float(totals[at]), id in self.ends)
            number, fate = len(self.tree), "dropped"
            if candidate.ended or len(candidate.ids) == self.most:
                if rank < self.width:
                    self.answers.append(candidate)
                    fate = "answer"
            elif len(alive) < self.width:
                fate = "kept"
                alive.append(candidate)
                numbers.append(number)
                parents.append(parent)
            self.tree.append(Branch(number, self._numbers[parent], id, len(candidate.ids), candidate.score, fate))
        self.alive, self._numbers = alive, numbers
        return parents

    def best(self) -> list[Answer]:
        """Return the answers, the best first, at most `width`; while there is none, the beginnings."""
        return sorted(self.answers or self.alive, key=lambda answer: -self.worth(answer))[: self.width]
