"""A continuation in the link: the ids of each branch, as far as a link can hold them, the number of the selected token, and the
step of a search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from models.generation.strategy import Strategy
from pages.generate import state as page_state
from pages.generate.continuation import MOST, Continuation
from ui import state
from ui.escaping import number_below

IDS = r"\d{1,7}(-\d{1,7})*"
BRANCHES = re.compile(rf"({IDS})?(~{IDS})*")
SEARCHED = 10**6  # steps that a link may ask for; a shorter search shows its last
Lines = list[tuple[int, tuple[int, ...]]]  # of each branch, how many ids of the first branch it begins with, and its own ids


def own_answer(second: str) -> bool:
    """Return whether the answer in the box is the model's own, so that the page begins it again; keep that in the link."""
    link_value = (
        None if state.JOB.get() else state.take_linked_value(page_state.GENERATE_OWN)
    )  # not while the model of the link still loads
    if link_value == "true":
        state.SAID.set(second)
    elif link_value not in (None, "false"):
        state.complain(page_state.GENERATE_OWN, link_value, "an own answer to be")
    own = bool(second) and second == state.SAID.get()
    state.keep(page_state.GENERATE_OWN, own, False)
    return own


def reopen(continuation: Continuation, strategy: Strategy, most: int) -> None:
    """Generate the branches that the link asks for, once, or those that were dropped from memory."""
    if state.JOB.get():  # the model that the link asks for is still loading
        return
    branches, branch, searched = map(
        state.take_linked_value, (page_state.GENERATE_SAID, page_state.GENERATE_BRANCH, page_state.GENERATE_SEARCHED)
    )
    at, counts = state.take_linked_value(page_state.GENERATE_AT), [len(line) for line in continuation.lines]
    if saved_ids := continuation.saved_ids:  # dropped, because the room was full
        continuation.saved_ids, searched = None, searched or str(saved_ids.reached or "")
        if any(saved_ids.lines):
            continuation.say_again(split_branches(saved_ids.lines), Strategy() if strategy.method == "beam" else strategy)
            continuation.current, counts = saved_ids.current, [len(line) for line in saved_ids.lines]
    if branches:
        try:
            lines = decode(branches)
        except ValueError:
            return state.complain(page_state.GENERATE_SAID, branches, "a continuation")
        continuation.say_again(lines, Strategy() if strategy.method == "beam" else strategy)
        counts = [shared + len(ids) for shared, ids in lines]
    if (number := number_of(page_state.GENERATE_BRANCH, branch, len(counts), "the branch")) is not None:
        continuation.current = number
    if (number := number_of(page_state.GENERATE_AT, at, counts[continuation.current], "the token")) is not None:
        continuation.at = number
    number = number_of(page_state.GENERATE_SEARCHED, searched, SEARCHED, "the step of a search")
    if number is not None and strategy.method == "beam" and continuation.run is None:
        continuation.begin(strategy, most)
        continuation.reached = number


def number_of(key: state.Key[Any], text: str | None, count: int, meaning: str) -> int | None:
    """Return the number below `count` in a link's text; None without a text, and, with a notice, for an invalid one."""
    number = number_below(text or "", count)
    if text and number is None:
        state.complain(key, text, meaning)
    return number


def keep(continuation: Continuation, beams: bool) -> None:
    """Write the state on screen into the address, unless the text is too long for an address."""
    text, current = encode([[step.token.id for step in line] for line in continuation.lines], continuation.current)
    fits = len(continuation.beginning.text) <= state.LINKED
    state.keep(page_state.GENERATE_SAID, text if fits else "", "")
    state.keep(page_state.GENERATE_BRANCH, current if fits else 0, 0)
    state.keep(page_state.GENERATE_AT, "" if continuation.at is None or not fits or beams else str(continuation.at), "")
    state.keep(page_state.GENERATE_SEARCHED, continuation.reached if fits and beams else 0, 0)


def encode(lines: Sequence[Sequence[int]], current: int) -> tuple[str, int]:
    """Return branches as text, and the number of the current branch in it.

    The text is the ids of the first branch, joined by "-", and of each other branch a "~", how many of these ids it begins with,
    and its own ids. Where that is too long for a link, branches other than the current one are left out, from the last on.
    """
    numbers = list(range(len(lines)))
    while len(text := _join([lines[number] for number in numbers])) > state.LINKED and len(numbers) > 1:
        numbers.remove(next(number for number in reversed(numbers) if number != current))
    return text, numbers.index(current)


def split_branches(lines: Sequence[Sequence[int]]) -> Lines:
    """Return branches without the ids that they share with the first."""
    first, branches = lines[0], [(0, tuple(lines[0]))]
    for line in lines[1:]:
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, line, strict=False)))
        branches.append((shared, tuple(line[shared:])))
    return branches


def _join(lines: Sequence[Sequence[int]]) -> str:
    (_, first), *others = split_branches(lines)
    return "~".join(["-".join(map(str, first)), *("-".join(map(str, (shared, *ids))) for shared, ids in others)])


def decode(text: str) -> Lines:
    """Return the branches in a text that `encode` returned. Errors: ValueError for an invalid text."""
    if len(text) > state.LINKED or not BRANCHES.fullmatch(text):
        raise ValueError("These are no branches.")
    first, *others = (tuple(int(id) for id in part.split("-") if id) for part in text.split("~"))
    lines: Lines = [(0, first), *((shared, tuple(ids)) for shared, *ids in others)]
    if any(shared > len(first) or shared + len(ids) > MOST for shared, ids in lines):
        raise ValueError("A branch cannot be as long as that.")
    return lines
