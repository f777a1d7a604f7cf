"""Which tokens the pictures show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from analysis.scopes import typed
from models.tokens import Token
from ui import state
from viz.tokens import plain_signs


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


def special() -> bool:
    """Whether special tokens are shown."""
    return state.level() == "beginner" or bool(st.session_state.get("special", True))


def shown(tokens: Sequence[Token]) -> Shown:
    """The tokens as chosen: all, or without the special ones that nobody typed."""
    places = list(range(len(tokens))) if special() else typed(tokens)
    named = called(tokens)
    return Shown([named[place] for place in places], places)


def called(tokens: Sequence[Token], first: bool = True) -> list[Token]:
    """The tokens as they are written at this level (see `viz.tokens.plain_signs`)."""
    return plain_signs(tokens, first) if state.level() == "beginner" else list(tokens)
