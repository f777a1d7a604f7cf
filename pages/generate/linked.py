"""What was said, in the link: the ids of each branch, as far as a link may hold them, which token is looked at, and how far a
search is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from models.strategy import Strategy
from pages.generate.grown import MOST, Grown
from ui import state
from ui.text import number_below

IDS = r"\d{1,7}(-\d{1,7})*"
BRANCHES = re.compile(rf"({IDS})?(~{IDS})*")
SEARCHED = 10**6  # steps that a link may ask for; what a search does not have it does not show
Lines = list[tuple[int, tuple[int, ...]]]  # of each branch, how many ids of the first one it begins with, and its own


def own_answer(second: str) -> bool:
    """Whether the answer in the box is the model's own, so that the page begins it again; a link says so too."""
    asked = None if state.JOB.get() else state.once(state.GENERATE_OWN)  # not while the model of the link still loads
    if asked == "true":
        state.SAID.set(second)
    elif asked not in (None, "false"):
        state.complain(state.GENERATE_OWN, asked, "an own answer to be")
    own = bool(second) and second == state.SAID.get()
    state.keep(state.GENERATE_OWN, own, False)
    return own


def reopen(grown: Grown, strategy: Strategy, most: int) -> None:
    """Let the model say what the link asks for, once."""
    if state.JOB.get():  # the model that the link asks for is still loading
        return
    asked, branch, searched = map(state.once, (state.GENERATE_SAID, state.GENERATE_BRANCH, state.GENERATE_SEARCHED))
    at, counts = state.once(state.GENERATE_AT), [len(line) for line in grown.lines]
    if lost := grown.lost:  # a full room has let it go
        grown.lost, searched = None, searched or str(lost.reached or "")
        if any(lost.lines):
            grown.say_again(parted(lost.lines), Strategy() if strategy.method == "beam" else strategy)
            grown.current, counts = lost.current, [len(line) for line in lost.lines]
    if asked:
        try:
            lines = read(asked)
        except ValueError:
            return state.complain(state.GENERATE_SAID, asked, "a continuation")
        grown.say_again(lines, Strategy() if strategy.method == "beam" else strategy)
        counts = [shared + len(ids) for shared, ids in lines]
    if (number := number_of(state.GENERATE_BRANCH, branch, len(counts), "the branch")) is not None:
        grown.current = number
    if (number := number_of(state.GENERATE_AT, at, counts[grown.current], "the token")) is not None:
        grown.at = number
    number = number_of(state.GENERATE_SEARCHED, searched, SEARCHED, "the step of a search")
    if number is not None and strategy.method == "beam" and grown.run is None:
        grown.begin(strategy, most)
        grown.reached = number


def number_of(key: state.Key[Any], asked: str | None, count: int, meaning: str) -> int | None:
    """The number below `count` that a link asks for; None of nothing, and of what does not exist, which is told."""
    number = number_below(asked or "", count)
    if asked and number is None:
        state.complain(key, asked, meaning)
    return number


def keep(grown: Grown, beams: bool) -> None:
    """Have what is shown in the address, unless the text before it is too long for one."""
    text, current = written([[step.token.id for step in line] for line in grown.lines], grown.current)
    fits = len(grown.beginning.text) <= state.LINKED
    state.keep(state.GENERATE_SAID, text if fits else "", "")
    state.keep(state.GENERATE_BRANCH, current if fits else 0, 0)
    state.keep(state.GENERATE_AT, "" if grown.at is None or not fits or beams else str(grown.at), "")
    state.keep(state.GENERATE_SEARCHED, grown.reached if fits and beams else 0, 0)


def written(lines: Sequence[Sequence[int]], current: int) -> tuple[str, int]:
    """Branches as text: the ids of the first, joined by "-"; after a "~" how many of these another one begins with, and then its
    own. Where that is too long for a link, those leave that are not shown, the last first. Also which one is shown, of these."""
    kept = list(range(len(lines)))
    while len(text := _joined([lines[number] for number in kept])) > state.LINKED and len(kept) > 1:
        kept.remove(next(number for number in reversed(kept) if number != current))
    return text, kept.index(current)


def parted(lines: Sequence[Sequence[int]]) -> Lines:
    """Branches without what they share with the first one."""
    first, found = lines[0], [(0, tuple(lines[0]))]
    for line in lines[1:]:
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, line, strict=False)))
        found.append((shared, tuple(line[shared:])))
    return found


def _joined(lines: Sequence[Sequence[int]]) -> str:
    (_, first), *others = parted(lines)
    return "~".join(["-".join(map(str, first)), *("-".join(map(str, (shared, *ids))) for shared, ids in others)])


def read(text: str) -> Lines:
    """The branches that `written` wrote. Errors: ValueError for nonsense."""
    if len(text) > state.LINKED or not BRANCHES.fullmatch(text):
        raise ValueError("These are no branches.")
    first, *others = (tuple(int(id) for id in part.split("-") if id) for part in text.split("~"))
    lines: Lines = [(0, first), *((shared, tuple(ids)) for shared, *ids in others)]
    if any(shared > len(first) or shared + len(ids) > MOST for shared, ids in lines):
        raise ValueError("A branch cannot be as long as that.")
    return lines
