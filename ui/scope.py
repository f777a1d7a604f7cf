"""What of an attention is looked at: which tokens, as they are or joined to words, and their weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from analysis import merge, merged_tokens, select, words
from models.tokens import Token
from models.trace import Attention, Trace
from ui import shown, state


@dataclass(frozen=True)
class Side:
    """The queries or the keys as they are shown: tokens or words, and the positions that each of them joins."""

    tokens: list[Token]
    groups: list[list[int]]

    def index(self, position: int | None) -> int | None:
        """Which of them holds a position."""
        return next((i for i, group in enumerate(self.groups) if position in group), None)


@dataclass(frozen=True)
class Scope:
    attention: Attention
    queries: Side
    keys: Side
    renormalised: bool

    @property
    def whole(self) -> bool:
        """Whether every token is shown by itself."""
        return all(
            [len(group) for group in side.groups] == [1] * len(tokens)
            for side, tokens in ((self.queries, self.attention.queries), (self.keys, self.attention.keys))
        )

    def __getitem__(self, layer: int) -> np.ndarray:
        """The weights of a layer between what is shown: [heads, query, key]."""
        return self.apply(self.attention[layer])

    def apply(self, weights: np.ndarray) -> np.ndarray:
        """Weights [..., query, key] between all tokens as weights between what is shown: hidden tokens first, then words."""
        if self.whole:
            return weights
        queries, keys = ([p for group in side.groups for p in group] for side in (self.queries, self.keys))
        weights = select(weights, queries, keys, renormalise=self.renormalised)
        return merge(weights, _renumbered(self.queries.groups), _renumbered(self.keys.groups))


def paragraph(trace: Trace, kind: str, seen: Scope, weights: np.ndarray) -> tuple[list[Token], np.ndarray, int]:
    """What one reads: what is shown as it was typed, weights [..., token, token], and where the queries begin.

    In cross-attention that is the source and then the target, as one: the source looks nowhere there.
    """
    target = st.session_state.get("target") or ""
    if kind != "cross":
        return shown.as_written(seen.queries.tokens, *([target] if kind == "decoder" else [trace.text, target])), weights, 0
    start, count = len(seen.keys.tokens), len(seen.keys.tokens) + len(seen.queries.tokens)
    joint = np.zeros((*weights.shape[:-2], count, count), dtype=np.float32)
    joint[..., start:, :start] = weights
    return [*shown.as_written(seen.keys.tokens, trace.text), *shown.as_written(seen.queries.tokens, target)], joint, start


def side_bar() -> None:
    """What is shown of a text: special tokens or not, tokens or words."""
    shown.side_bar()
    if state.level() == "beginner":
        return
    if not st.session_state.get("special", True):
        st.sidebar.toggle(
            "Rows to 100 %",
            key="renormalised",
            bind="query-params",
            help="Divide each row by what is left of it, as if the hidden tokens were not there.",
        )
    st.sidebar.toggle(
        "Whole words",
        key="whole-words",
        bind="query-params",
        help="Join the tokens of a word. A word gives the mean of what its tokens give, and gets the sum of what they get: "
        "A[G, H] = Σ A[q, k] / |G| over q in G and k in H.",
    )


def of(attention: Attention) -> Scope:
    """An attention as chosen in the side bar."""
    chosen = state.level() != "beginner"
    joined = chosen and bool(st.session_state.get("whole-words"))
    return Scope(
        attention,
        _side(attention.queries, joined),
        _side(attention.keys, joined),
        chosen and not st.session_state.get("special", True) and bool(st.session_state.get("renormalised")),
    )


def _side(tokens: list[Token], joined: bool) -> Side:
    kept = set(shown.shown(tokens).places)
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
