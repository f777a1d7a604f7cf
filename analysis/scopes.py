"""What of an attention is looked at: which tokens, as they are or joined to words, and the weights between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from analysis.merging import characters, joined, merge, merged_tokens, select, words
from models.tokens import Token
from models.trace import Attention

Window = tuple[int, int]  # the first and the last position


@dataclass(frozen=True)
class Side:
    """The queries or the keys that are looked at: tokens or words, and the positions that each of them joins.

    Rows of cross-attention are named by the tokens that they serve to choose (see `Attention.rows`), and so are words joined: a
    word stands for the rows that chose its tokens.
    start: how many stand before the first of them, left out by a window.
    """

    tokens: list[Token]
    groups: list[list[int]]
    start: int = 0

    def index(self, position: int | None) -> int | None:
        """Which of them holds a position."""
        return next((i for i, group in enumerate(self.groups) if position in group), None)


@dataclass(frozen=True)
class Scope:
    """An attention between the tokens or words that are looked at. `scope[layer]` is what `attention[layer]` is between all.

    shared: the positions that each row is divided among, where it is (`renormalised`). options: what `scope` was asked for.
    """

    attention: Attention
    queries: Side
    keys: Side
    shared: list[int] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def renormalised(self) -> bool:
        """Whether each row is divided by what is left of it without the tokens that are hidden."""
        return self.shared is not None

    @property
    def whole(self) -> bool:
        """Whether every token is looked at, by itself."""
        return all(
            [len(group) for group in side.groups] == [1] * len(tokens)
            for side, tokens in ((self.queries, self.attention.queries), (self.keys, self.attention.keys))
        )

    @property
    def starts(self) -> tuple[int, int]:
        """How many tokens or words stand before the first query and before the first key, outside of the window."""
        return self.queries.start, self.keys.start

    def __getitem__(self, layer: int) -> np.ndarray:
        """The weights of a layer between what is looked at: float32 [heads, query, key]."""
        return self.apply(self.attention[layer])

    def apply(self, weights: np.ndarray) -> np.ndarray:
        """Weights [..., query, key] between all tokens as weights between what is looked at: others leave, then words join."""
        if self.whole:
            return weights
        queries, keys = ([p for group in side.groups for p in group] for side in (self.queries, self.keys))
        if self.shared is None:
            weights = select(weights, queries, keys)
        else:
            weights = select(weights, queries, self.shared, renormalise=True)[..., np.searchsorted(self.shared, keys)]
        return merge(weights, _renumbered(self.queries.groups), _renumbered(self.keys.groups))


def scope(
    attention: Attention,
    special: bool = True,
    whole_words: bool = False,
    renormalised: bool = False,
    queries: Window | None = None,
    keys: Window | None = None,
    whole_characters: bool = False,
) -> Scope:
    """An attention without its special tokens (`special=False`), between whole words, or through a window.

    Special tokens leave only where they stand for no text. A word gives the mean of what its tokens give and gets the sum of
    what they get (see `analysis.merge`), and with `whole_characters` so does a character of several tokens. renormalised: each
    row is divided by what is left of it. A text that is nothing but special tokens keeps them.
    queries, keys: the first and the last position that is looked at, for long texts. A word is there where its first token is.
    A window changes no number: the weights are those that the same scope has without it. Where it holds nothing that is looked
    at, the nearest token is. Raises ValueError for a window that is not in the text.
    """
    asked = {"special": special, "whole_words": whole_words, "renormalised": renormalised, "queries": queries, "keys": keys}
    asked |= {"whole_characters": whole_characters}
    usual = {**dict.fromkeys(asked, False), "special": True, "queries": None, "keys": None}
    join = words if whole_words else characters if whole_characters else None
    everything = _side(attention.keys, special, join)
    return Scope(
        attention,
        _through(queries, _side(attention.rows, special, join), len(attention.queries), "queries"),
        _through(keys, everything, len(attention.keys), "keys"),
        sorted(p for group in everything.groups for p in group) if renormalised else None,
        {name: value for name, value in asked.items() if value != usual[name]},
    )


def typed(tokens: Sequence[Token]) -> list[int]:
    """The positions of the tokens that are not special signs beside the text; all where there is no other."""
    return [i for i, token in enumerate(tokens) if not (token.special and token.start == token.end)] or list(range(len(tokens)))


def _side(tokens: Sequence[Token], special: bool, join: Callable[[Sequence[Token]], list[list[int]]] | None) -> Side:
    kept = set(range(len(tokens)) if special else typed(tokens))
    if tokens[-1].after:
        kept.add(len(tokens) - 1)  # the row that looks for what comes next is no sign that somebody put there
    groups = join(tokens) if join else [[i] for i in range(len(tokens))]
    groups = [group for group in groups if kept.issuperset(group)]
    if not join:
        return Side([tokens[i] for (i,) in groups], groups)
    merged = merged_tokens(tokens, groups) if join is words else joined(tokens, groups)
    if tokens[-1].after:  # a word is chosen after the word before it, not after that one's last piece
        merged[1:] = [replace(token, after=replace(before, after=None)) for before, token in pairwise(merged)]
    return Side(merged, groups)


def _through(window: Window | None, side: Side, count: int, noun: str) -> Side:
    """The part of a side that begins in the window."""
    if window is None:
        return side
    first, last = window
    if not 0 <= first <= last < count:
        raise ValueError(
            f"A window of {noun} from {first} to {last}: give its first and last position, among 0 to {count - 1}, in that order."
        )
    begins = [group[0] for group in side.groups]
    start, end = np.searchsorted(begins, [first, last + 1]).tolist()
    if start == end:  # within a word, or on hidden tokens
        start = max(0, start - 1)
        end = start + 1
    return Side(side.tokens[start:end], side.groups[start:end], start)


def _renumbered(groups: list[list[int]]) -> list[list[int]]:
    """The same groups among the positions that are left."""
    positions, at = [], 0
    for group in groups:
        positions.append(list(range(at, at + len(group))))
        at += len(group)
    return positions
