"""What of an attention is looked at: which tokens, as they are or joined to words, and the weights between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.merge import merge, merged_tokens, select, words
from models.tokens import Token
from models.trace import Attention


@dataclass(frozen=True)
class Side:
    """The queries or the keys that are looked at: tokens or words, and the positions that each of them joins."""

    tokens: list[Token]
    groups: list[list[int]]

    def index(self, position: int | None) -> int | None:
        """Which of them holds a position."""
        return next((i for i, group in enumerate(self.groups) if position in group), None)


@dataclass(frozen=True)
class Scope:
    """An attention between the tokens or words that are looked at. `scope[layer]` is what `attention[layer]` is between all."""

    attention: Attention
    queries: Side
    keys: Side
    renormalised: bool = False

    @property
    def whole(self) -> bool:
        """Whether every token is looked at, by itself."""
        return all(
            [len(group) for group in side.groups] == [1] * len(tokens)
            for side, tokens in ((self.queries, self.attention.queries), (self.keys, self.attention.keys))
        )

    def __getitem__(self, layer: int) -> np.ndarray:
        """The weights of a layer between what is looked at: float32 [heads, query, key]."""
        return self.apply(self.attention[layer])

    def apply(self, weights: np.ndarray) -> np.ndarray:
        """Weights [..., query, key] between all tokens as weights between what is looked at: others leave, then words join."""
        if self.whole:
            return weights
        queries, keys = ([p for group in side.groups for p in group] for side in (self.queries, self.keys))
        weights = select(weights, queries, keys, renormalise=self.renormalised)
        return merge(weights, _renumbered(self.queries.groups), _renumbered(self.keys.groups))


def scope(attention: Attention, special: bool = True, whole_words: bool = False, renormalised: bool = False) -> Scope:
    """An attention without its special tokens (`special=False`), or between whole words.

    Special tokens leave only where they stand for no text. A word gives the mean of what its tokens give and gets the sum of
    what they get (see `analysis.merge`). renormalised: each row is divided by what is left of it. A text that is nothing but
    special tokens keeps them.
    """
    return Scope(
        attention, _side(attention.queries, special, whole_words), _side(attention.keys, special, whole_words), renormalised
    )


def typed(tokens: Sequence[Token]) -> list[int]:
    """The positions of the tokens that are not special signs beside the text; all where there is no other."""
    return [i for i, token in enumerate(tokens) if not (token.special and token.start == token.end)] or list(range(len(tokens)))


def _side(tokens: list[Token], special: bool, joined: bool) -> Side:
    kept = set(range(len(tokens)) if special else typed(tokens))
    groups = words(tokens) if joined else [[i] for i in range(len(tokens))]
    groups = [group for group in groups if kept.issuperset(group)]
    return Side(merged_tokens(tokens, groups) if joined else [tokens[i] for (i,) in groups], groups)


def _renumbered(groups: list[list[int]]) -> list[list[int]]:
    """The same groups among the positions that are left."""
    found, at = [], 0
    for group in groups:
        found.append(list(range(at, at + len(group))))
        at += len(group)
    return found
