"""The view of the text, coloured by one method."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.explaining import SLOPES
from analysis.slopes import adds_to_tokens
from pages.explain import state as page_state
from pages.explain.asked import TITLES, Request
from pages.explain.believe import doubt
from pages.explain.boards.text import ANSWER, KEY, TABLE
from pages.explain.compose import HERE, compose
from pages.explain.request import explain_by
from pages.explain.settings import Explained, Settings
from ui import state
from ui.choices.widgets import one_of, switch
from ui.picture.mount import composed, mount, write_beside
from ui.picture.picture import Picture
from ui.show import picture
from ui.words import words


def panel(request: Request) -> Sequence[Picture]:
    """Place the coloured text, with words beside it on the meaning of the numbers and how far to trust them."""
    method = page_state.EXPLAIN_BY.default
    if request.look.beginner:
        state.later("intermediate", page_state.EXPLAIN_BY, page_state.EXPLAIN_TOKENS)
    else:
        if (link_name := page_state.EXPLAIN_BY.in_address or "") in TITLES:
            state.take_as(page_state.EXPLAIN_BY, link_name)  # by the name that it has in a lesson
        method = one_of(
            page_state.EXPLAIN_BY, page_state.EXPLAIN_BY.values, "the method", menu=True, format_option=TITLES.__getitem__
        )
        state.keep(page_state.EXPLAIN_BY, TITLES[method], TITLES[page_state.EXPLAIN_BY.default])
    alone = method == SLOPES[0] and ask_tokens_alone(request)
    explanation = explain_by(request, method, alone)
    if explanation is None:
        return []
    settings = Settings(request.token, request.against, alone)
    board = composed(compose, request.look, settings, Explained(explanation))
    if ANSWER in board.contents:
        mount(board, ANSWER)
    left, right = st.columns([6, 4])
    with left:
        mount(board, KEY)
    with right:
        write_beside(board)
        if request.look.beginner and request.chance:
            with picture("The doubt"):
                doubt(request, settings, explanation)
    with st.expander("The numbers"):
        mount(board, TABLE)
    return board.pictures


def ask_tokens_alone(request: Request) -> bool:
    """Return whether slopes are taken with respect to the token embedding alone; a switch asks where the first layer gets more
    than that."""
    if not adds_to_tokens(request.question):
        return False
    alone = switch(page_state.EXPLAIN_TOKENS, words(HERE, "token switch"))
    state.keep(page_state.EXPLAIN_TOKENS, alone, False)
    return alone
