"""From the probabilities of the next token to whole answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass

import numpy as np

# What was said so far, several equally long versions of it, the start token first: logits [version, vocabulary] of what is next.
Following = Callable[[Sequence[tuple[int, ...]]], np.ndarray]

# A search that yields what was said so far, is sent the logits of what is next, and returns the best answers.
Search = Generator[list[tuple[int, ...]], np.ndarray, "list[Said]"]


@dataclass(frozen=True)
class Said:
    """An answer: its tokens, without the start, with the end if it came; and the sum of their log-probabilities in nats.

    text: what it spells, where that is known.
    """

    ids: tuple[int, ...]
    score: float
    ended: bool
    text: str = ""


# What an answer is worth beside others, which may be shorter.
Worth = Callable[[Said], float]


def beam(following: Following, start: int, end: int, width: int, most: int, penalty: float = 0.6) -> list[Said]:
    """The `width` best of the answers that are found by going on with the `width` likeliest beginnings at each step, best first.

    An answer comes to its end or is `most` long. Answers of different lengths are compared by `by_wu`. Errors: ValueError for a
    width below 1.
    """
    search = beam_search(start, end, width, most, penalty)
    try:
        beginnings = next(search)
        while True:
            beginnings = search.send(following(beginnings))
    except StopIteration as found:
        return found.value


def beam_search(start: int, end: int, width: int, most: int, penalty: float = 0.6) -> Search:
    """As `beam`, asking for the logits of what follows instead of calculating them, so that many can go side by side."""
    beams = Beams({end}, width, most, by_wu(penalty))
    while not beams.done:
        beams.grow(log_softmax((yield [(start, *one.ids) for one in beams.alive])))
    return beams.best()


def by_wu(penalty: float) -> Worth:
    """score / ((5 + length) / 6)^penalty (Wu et al. 2016, "Google's Neural Machine Translation System", eq. 14)."""
    return lambda one: one.score / ((5 + len(one.ids)) / 6) ** penalty


def by_length(penalty: float) -> Worth:
    """score / length^penalty, as transformers compares answers."""
    return lambda one: one.score / len(one.ids) ** penalty


@dataclass(frozen=True)
class Branch:
    """One way on that a beam search looked at.

    number: its own, from 0 on; parent: the number of the branch that it goes on from, -1 for the text itself. length: tokens that
    are said with it; score: the sum of their log-probabilities in nats. fate: "kept", to go on from; "answer"; "dropped".
    """

    number: int
    parent: int
    id: int
    length: int
    score: float
    fate: str


class Beams:
    """A beam search between two readings: the beginnings that it goes on with, and the answers that it found.

    alive: the beginnings, the best first; tree: every way on that was looked at. It is over, `done`, when there are as many
    answers as the beam is wide, or all are as long as they may be.
    """

    def __init__(self, ends: Collection[int], width: int, most: int, worth: Worth):
        """ends: the tokens that end an answer; most: tokens of an answer. Errors: ValueError for a width below 1."""
        if width < 1:
            raise ValueError(f"A beam is at least 1 wide; it is {width}.")
        self.ends, self.width, self.most, self.worth = frozenset(ends), width, most, worth
        self.alive, self.answers = [Said((), 0.0, False)], list[Said]()
        self.tree: list[Branch] = []
        self._numbers = [-1]  # of the alive ones in the tree

    @property
    def done(self) -> bool:
        return len(self.answers) >= self.width or not self.alive or len(self.alive[0].ids) >= self.most

    def grow(self, known: np.ndarray) -> list[int]:
        """Go one token on by log-probabilities [beginning, vocabulary]; -inf: never. Returns which beginning each one that is
        alive now came from."""
        totals = (known + np.array([[one.score] for one in self.alive])).ravel()
        # Each beginning ends in as many ways as there are ends, so that `width` of these ways go on at least.
        count = min(max(2, 1 + len(self.ends)) * self.width, len(totals))
        best = np.flatnonzero((totals >= np.partition(totals, -count)[-count]) & np.isfinite(totals))
        best = best[np.argsort(-totals[best], kind="stable")][:count]  # the first of those that are equally likely
        alive, numbers, parents = list[Said](), list[int](), list[int]()
        for rank, at in enumerate(best):
            parent, id = divmod(int(at), known.shape[1])
            one = Said((*self.alive[parent].ids, id), float(totals[at]), id in self.ends)
            number, fate = len(self.tree), "dropped"
            if one.ended or len(one.ids) == self.most:
                if rank < self.width:
                    self.answers.append(one)
                    fate = "answer"
            elif len(alive) < self.width:
                fate = "kept"
                alive.append(one)
                numbers.append(number)
                parents.append(parent)
            self.tree.append(Branch(number, self._numbers[parent], id, len(one.ids), one.score, fate))
        self.alive, self._numbers = alive, numbers
        return parents

    def best(self) -> list[Said]:
        """The answers, the best first, at most `width`; while there is none, the beginnings."""
        return sorted(self.answers or self.alive, key=lambda one: -self.worth(one))[: self.width]


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """log p along the last axis, in float64."""
    shifted = np.asarray(logits, dtype=np.float64)
    shifted = shifted - shifted.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """exp(z / T) over its sum along the last axis, in float64. Errors: ValueError when the temperature is not above 0."""
    if not temperature > 0:
        raise ValueError(f"The temperature must be above 0; it is {temperature}.")
    scaled = np.asarray(logits, dtype=np.float64) / temperature
    raised = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)
