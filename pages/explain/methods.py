"""The view that compares all methods: their agreement, the cost of each, and its change with another seed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import streamlit as st

from pages.explain.asked import Request
from pages.explain.boards.methods import KEY, explanations_of
from pages.explain.compose import HERE, compose
from pages.explain.request import explain_by_all, spreads
from pages.explain.settings import Agreed, Costs, Settings
from ui.picture.mount import composed, mount, mount_all, write_beside
from ui.picture.picture import Picture
from ui.words import words


def panel(request: Request) -> Sequence[Picture]:
    """Place the square of agreement, and a table of cost and spread."""
    answers = explain_by_all(request)
    if answers is None:
        return []
    settings = Settings(request.token, request.against)
    board = composed(compose, request.look, settings, Agreed(answers))
    for key in board.contents:
        if key != KEY:
            mount(board, key)
    left, right = st.columns([6, 4])
    with left:
        mount(board, KEY)
    with right:
        write_beside(board)
    other = spreads(request)
    costs = composed(compose, request.look, settings, Costs(explanations_of(answers), other))
    with st.expander(title) if (title := words(HERE, "fold costs")) else nullcontext():
        mount_all(costs)
    return board.pictures
