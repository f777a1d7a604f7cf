"""From the probabilities of the next token to whole answers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
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


def greedy(following: Following, start: int, end: int, most: int) -> Said:
    """The likeliest token each time, until the end or until there are `most`."""
    ids, score = [], 0.0
    while len(ids) < most:
        known = log_softmax(following([(start, *ids)]))[0]
        ids.append(int(known.argmax()))
        score += float(known[ids[-1]])
        if ids[-1] == end:
            return Said(tuple(ids), score, True)
    return Said(tuple(ids), score, False)


def beam(following: Following, start: int, end: int, width: int, most: int, penalty: float = 0.6) -> list[Said]:
    """The `width` best of the answers that are found by going on with the `width` likeliest beginnings at each step, best first.

    An answer comes to its end or is `most` long. Answers of different lengths are compared by score / ((5 + length) / 6)^penalty
    (Wu et al. 2016, "Google's Neural Machine Translation System", eq. 14). Errors: ValueError for a width below 1.
    """
    search, known = beam_search(start, end, width, most, penalty), None
    while True:
        try:
            known = following(search.send(known))
        except StopIteration as found:
            return found.value


def beam_search(start: int, end: int, width: int, most: int, penalty: float = 0.6) -> Search:
    """As `beam`, asking for the logits of what follows instead of calculating them, so that many can go side by side."""
    if width < 1:
        raise ValueError(f"A beam is at least 1 wide; it is {width}.")
    alive, answers = [Said((), 0.0, False)], []
    for _ in range(most):
        known = log_softmax((yield [(start, *one.ids) for one in alive]))
        totals = (known + np.array([[one.score] for one in alive])).ravel()
        count = min(2 * width, len(totals))  # each beginning ends in one way only, so half of them go on at least
        best = np.flatnonzero(totals >= np.partition(totals, -count)[-count])
        best = best[np.argsort(-totals[best], kind="stable")][:count]  # the first of those that are equally likely
        grown = []
        for at in best:
            version, id = divmod(int(at), known.shape[1])
            grown.append(Said((*alive[version].ids, id), float(totals[at]), id == end))
        answers += [one for one in grown[:width] if one.ended or len(one.ids) == most]
        alive = [one for one in grown if not one.ended][:width]
        if len(answers) >= width or not alive:
            break
    ranked = sorted(answers or alive, key=lambda one: -one.score / ((5 + len(one.ids)) / 6) ** penalty)
    return ranked[:width]


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """log p along the last axis, in float64."""
    shifted = np.asarray(logits, dtype=np.float64)
    shifted = shifted - shifted.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
