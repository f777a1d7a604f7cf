"""The choice of a token, and of the prediction that is followed there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.flow import state as page_state
from pages.flow.boards.question import CHIPS
from pages.flow.request import Request
from ui.choices.token import press
from ui.look import Look
from ui.show import choice
from viz.numbers import percent_or_score
from viz.tokens import label, listed

if TYPE_CHECKING:
    from models.tokens import Prediction


def react(look: Look) -> None:
    """React to a click on a token; a second click clears the selection."""
    press(look.select(look.trace.read).places[choice(CHIPS)["value"]], look.default_position)


def react_to_text(request: Request, board: str) -> None:
    """React to a click on a token of a coloured text as `react` does; one of a source is none that can be asked about."""
    at, groups = choice(board)["value"], request.seen[1]
    place = groups[at][-1] - len(request.trace.tokens) * bool(request.trace.target) if at < len(groups) else -1
    if place >= 0:
        press(place, request.look.default_position)


def token(look: Look, position: int, candidates: Sequence[Prediction]) -> int | None:
    """Return the id of the prediction that is followed: the likeliest, or as chosen; None where there is none."""
    if look.beginner or not candidates:
        return candidates[0].id if candidates else None
    spell = label if look.model.info.labels else listed
    names = {
        candidate.id: f"“{spell(candidate.text)}” {percent_or_score(candidate.probability, candidate.score)}"
        for candidate in candidates
    }
    return st.selectbox(
        "Follow the prediction", list(names), 0, names.__getitem__, key=page_state.FOLLOW.of(str(hash((position, *names)))).name
    )
