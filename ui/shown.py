"""Which tokens the pictures show, and what a reader reads in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from models.tokens import Token
from ui import state


@dataclass(frozen=True)
class Shown:
    """The tokens that are shown, and where each of them is among all."""

    tokens: list[Token]
    places: list[int]

    def index(self, place: int | None) -> int | None:
        """Which of the shown tokens stands at a place."""
        return self.places.index(place) if place in self.places else None

    def of(self, values: Sequence | None) -> list | None:
        """Of one value a token, those of the shown ones."""
        return None if values is None else [values[place] for place in self.places]


def side_bar() -> None:
    """Whether special tokens are shown."""
    if state.level() != "beginner":
        st.sidebar.toggle(
            "Special tokens",
            value=True,
            key="special",
            bind="query-params",
            help="Tokens that mark a start, an end or a gap. When they are hidden, rows of attention add up to less than 100 %.",
        )


def shown(tokens: Sequence[Token]) -> Shown:
    """The tokens as chosen: all, or without the special ones that nobody typed."""
    every = state.level() == "beginner" or st.session_state.get("special", True)
    places = [i for i, token in enumerate(tokens) if every or not (token.special and token.start == token.end)]
    places = places or list(range(len(tokens)))
    return Shown([tokens[place] for place in places], places)


def as_written(tokens: Sequence[Token], *texts: str) -> list[Token]:
    """The tokens with what was typed in their place, capitals and spaces and all; special tokens and fragments stay.

    texts: one a segment, which the offsets count in.
    """
    written, ends = [], {}
    for token in tokens:
        text = texts[min(token.segment, len(texts) - 1)]
        start = ends.get(token.segment, token.start)
        if token.start < token.end and token.end > start and not token.fragment:
            typed = text[start : token.end]  # an unknown token is what was typed; a mask is a mask
            token = replace(token, text=typed, special=token.special and typed.strip() == token.text.strip())
        if token.start < token.end or not token.special:  # one that was added has read nothing
            ends[token.segment] = max(start, token.end)
        written.append(token)
    return written
