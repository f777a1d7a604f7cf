"""The view that compares all methods: their agreement, the text as pairs of them colour it, and for experts the cost of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from analysis import Explanation
from pages.explain import state as page_state
from pages.explain.asked import TITLES, Request
from pages.explain.boards.methods import KEY, explanations_of, in_words, ranked_pairs
from pages.explain.compose import compose
from pages.explain.request import explain_by_all, spreads
from pages.explain.settings import Agreed, Compared, Costs, Settings
from ui import state
from ui.choices.widgets import one_of
from ui.picture.mount import composed, mount, mount_all, write_beside
from ui.picture.picture import Picture
from ui.show import show_chart

ENDS = "the most and the least alike"  # pairs


def panel(request: Request) -> Sequence[Picture]:
    """Place the square of agreement with the text by two methods beside it, and for experts a table of cost and spread."""
    answers = explain_by_all(request)
    if answers is None:
        return []
    settings, look = Settings(request.token, request.against), request.look
    board = composed(compose, look, settings, Agreed(answers))
    keys = list(board.contents)
    for key in keys[: keys.index(KEY)]:
        mount(board, key)
    left, right = st.columns([6, 5])
    methods = [explanation.method for explanation in explanations_of(answers)]
    with left:
        draw_square(board.contents[KEY], methods)
        for key in keys[keys.index(KEY) + 1 :]:
            mount(board, key)
    with right:
        mount_all(composed(compose, look, settings, Compared(answers, choose_pair(request, answers))))
        write_beside(board)
    if look.level == "expert":
        mount_all(composed(compose, look, settings, Costs(explanations_of(answers), spreads(request))))
    return board.pictures  # the view of the words offers the text by each method


def draw_square(square: object, methods: Sequence[str]) -> None:
    """Place the square; a click on a cell compares its two methods."""
    assert isinstance(square, Picture)
    options = {"selection_mode": "points", "config": {"displayModeBar": False, "scrollZoom": False}}
    show_chart(square.drawn, KEY, on_select=lambda: pick(methods), **options)


def pick(methods: Sequence[str]) -> None:
    """Compare the two methods of the cell that was clicked."""
    chosen = state.selection(KEY)
    if chosen and (points := chosen.selection.points):
        pair = {points[0]["y"], points[0]["x"]}
        names = [method for method in methods if TITLES[method] in pair]
        if len(names) == 2:
            page_state.EXPLAIN_PAIR.set(name_of(*names))


def choose_pair(request: Request, answers: Mapping[str, Explanation | str]) -> tuple[str, ...]:
    """Place the menu of pairs, the most alike first, and return the methods of the chosen one; () for none."""
    explanations = explanations_of(answers)
    titles, pairs = {ENDS: ENDS}, dict[str, tuple[str, ...]]({ENDS: ()})
    for rank, i, j in ranked_pairs(explanations, request.question.units):
        first, second = explanations[i].method, explanations[j].method
        pairs[name_of(first, second)] = first, second
        titles[name_of(first, second)] = f"{TITLES[first]} and {TITLES[second]} ({in_words(rank)})"
    label = "Compare two methods" if request.look.touched else "Compare two methods, or press a cell"
    chosen = one_of(page_state.EXPLAIN_PAIR, tuple(titles), "", label=label, menu=True, format_option=titles.__getitem__)
    return pairs[chosen]


def name_of(first: str, second: str) -> str:
    return f"{first} / {second}"
