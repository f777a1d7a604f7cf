"""Scopes of an attention: the shown tokens, single or joined to words, and the weights between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from analysis.merging import characters, join, merge, merged_tokens, select, words
from models.tokens import Token
from models.trace import Attention

Window = tuple[int, int]  # the first and the last position


@dataclass(frozen=True)
class Side:
    """The shown queries or keys: tokens or words, and the positions that each of them joins.

    Rows of cross-attention are named by the tokens that they serve to choose (see `Attention.rows`). The same holds for words: a
    word stands for the rows that chose its tokens.
    start: how many tokens or words a window leaves out before the first.
    """

    tokens: list[Token]
    groups: list[list[int]]
    start: int = 0

    def index(self, position: int | None) -> int | None:
        """Return the index of the token or word that contains a position."""
        return next((i for i, group in enumerate(self.groups) if position in group), None)


@dataclass(frozen=True)
class Scope:
    """An attention between the shown tokens or words. `scope[layer]` corresponds to `attention[layer]`, which is between all
    tokens.

    shared: the positions among which each row is divided, if it is (`renormalised`). options: the arguments of `scope`.
    """

    attention: Attention
    queries: Side
    keys: Side
    shared: list[int] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def renormalised(self) -> bool:
        """Whether each row is divided by its sum over the tokens that are not hidden."""
        return self.shared is not None

    @property
    def whole(self) -> bool:
        """Whether every token is in the scope as a single token."""
        return all(
            [len(group) for group in side.groups] == [1] * len(tokens)
            for side, tokens in ((self.queries, self.attention.queries), (self.keys, self.attention.keys))
        )

    @property
    def starts(self) -> tuple[int, int]:
        """The numbers of tokens or words before the first query and before the first key, outside of the window."""
        return self.queries.start, self.keys.start

    def __getitem__(self, layer: int) -> np.ndarray:
        """Return the weights of a layer between the shown tokens or words: float32 [heads, query, key]."""
        return self.apply(self.attention[layer])

    def apply(self, weights: np.ndarray) -> np.ndarray:
        """Convert weights [..., query, key] between all tokens to those within the scope: other tokens are removed, then words
        are joined.
        """
        if self.whole:
            return weights
        queries, keys = ([p for group in side.groups for p in group] for side in (self.queries, self.keys))
        if self.shared is None:
            weights = select(weights, queries, keys)
        else:
            weights = select(weights, queries, self.shared, renormalise=True)[..., np.searchsorted(self.shared, keys)]
        return merge(weights, _renumber(self.queries.groups), _renumber(self.keys.groups))


def scope(
    attention: Attention,
    special: bool = True,
    whole_words: bool = False,
    renormalised: bool = False,
    queries: Window | None = None,
    keys: Window | None = None,
    whole_characters: bool = False,
) -> Scope:
    """Return an attention without its special tokens (`special=False`), between whole words, or through a window.

    Special tokens are removed only if they stand for no text. Weights of a word are the mean over its queries and the sum over
    its keys (see `analysis.merge`), and with `whole_characters` also those of a character of several tokens. renormalised: each
    row is divided by its remaining sum. A text of only special tokens keeps them.
    queries, keys: the first and the last shown position, for long texts. A word is in the window if its first token is. A window
    changes no number: the weights are those of the same scope without it. If it would be empty, the nearest token is shown.
    Raises ValueError for a window outside of the text.
    """
    options = {"special": special, "whole_words": whole_words, "renormalised": renormalised, "queries": queries, "keys": keys}
    options |= {"whole_characters": whole_characters}
    usual = {**dict.fromkeys(options, False), "special": True, "queries": None, "keys": None}
    group_tokens = words if whole_words else characters if whole_characters else None
    all_keys = _side(attention.keys, special, group_tokens)
    return Scope(
        attention,
        _through(queries, _side(attention.rows, special, group_tokens), len(attention.queries), "queries"),
        _through(keys, all_keys, len(attention.keys), "keys"),
        sorted(p for group in all_keys.groups for p in group) if renormalised else None,
        {name: value for name, value in options.items() if value != usual[name]},
    )


def typed(tokens: Sequence[Token]) -> list[int]:
    """Return the positions of the tokens that stand for text; all positions if there is none."""
    return [i for i, token in enumerate(tokens) if not (token.special and token.start == token.end)] or list(range(len(tokens)))


def _side(tokens: Sequence[Token], special: bool, group_tokens: Callable[[Sequence[Token]], list[list[int]]] | None) -> Side:
    included = set(range(len(tokens)) if special else typed(tokens))
    if tokens[-1].after:
        included.add(len(tokens) - 1)  # the row of the next token is no special token
    groups = group_tokens(tokens) if group_tokens else [[i] for i in range(len(tokens))]
    groups = [group for group in groups if included.issuperset(group)]
    if not group_tokens:
        return Side([tokens[i] for (i,) in groups], groups)
    side_tokens = merged_tokens(tokens, groups) if group_tokens is words else join(tokens, groups)
    if tokens[-1].after:  # a word follows the whole word before it, not that one's last piece
        side_tokens[1:] = [replace(token, after=replace(before, after=None)) for before, token in pairwise(side_tokens)]
    return Side(side_tokens, groups)


def _through(window: Window | None, side: Side, count: int, noun: str) -> Side:
    """Return the part of a side that begins in the window."""
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


def _renumber(groups: list[list[int]]) -> list[list[int]]:
    """Return the same groups, renumbered among the remaining positions."""
    positions, at = [], 0
    for group in groups:
        positions.append(list(range(at, at + len(group))))
        at += len(group)
    return positions
