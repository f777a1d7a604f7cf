"""The text, coloured by one method, with its numbers and its doubts beside it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from analysis import Explanation
from analysis.explaining import SLOPES
from analysis.slopes import adds_to_tokens
from pages.explain import recipes
from pages.explain.believe import doubt
from pages.explain.request import HERE, TITLES, Request, explain_by
from ui import state
from ui.choices.widgets import one_of, switch
from ui.picture.picture import Numbers, Picture
from ui.show import picture, show
from ui.text import plain
from ui.words import say, words
from viz.numbers import decimal
from viz.tokens import label


def panel(request: Request) -> list[Picture]:
    """Place the coloured text, and beside it what the numbers are and how far to trust them."""
    method = state.EXPLAIN_BY.default
    if request.look.beginner:
        state.later("intermediate", state.EXPLAIN_BY, state.EXPLAIN_TOKENS)
    else:
        if (link_name := state.EXPLAIN_BY.in_address or "") in TITLES:
            state.take_as(state.EXPLAIN_BY, link_name)  # by the name that it has in a lesson
        method = one_of(state.EXPLAIN_BY, state.EXPLAIN_BY.values, "the method", menu=True, format_option=TITLES.__getitem__)
        state.keep(state.EXPLAIN_BY, TITLES[method], TITLES[state.EXPLAIN_BY.default])
    alone = method == SLOPES[0] and ask_tokens_alone(request)
    explanation = explain_by(request, method, alone)
    if explanation is None:
        return []
    drawing = text_picture(request, explanation, alone)
    left, right = st.columns([6, 4])
    with left:
        show(drawing.drawn, drawing.key)
    with right:
        say_method(request, explanation)
        request.say("contrast" if request.against is not None else "no contrast", word=plain(request.description))
        if request.look.trace.target:
            say(HERE, "read twice" if request.look.model.info.labels else "both sides")
        say_sums(explanation)
        if request.look.beginner and request.chance:
            with picture("The doubt"):
                doubt(request, explanation)
    with st.expander("The numbers"):
        st.dataframe(table(request, explanation), hide_index=True)
    return [drawing]


def ask_tokens_alone(request: Request) -> bool:
    """Return whether the slope is taken against the token embedding alone, by a switch where the first layer gets more than
    that."""
    if not adds_to_tokens(request.question):
        return False
    alone = switch(state.EXPLAIN_TOKENS, words(HERE, "token switch"))
    state.keep(state.EXPLAIN_TOKENS, alone, False)
    return alone


def say_method(request: Request, explanation: Explanation) -> None:
    """Say what the numbers are; of Shapley values whether they were enumerated or sampled, and then how sure they are; of
    gradient × input what the slope is taken against."""
    errors = explanation.errors([[unit] for unit in request.question.units])
    request.say(
        f"method {explanation.method}{f' {explanation.kind}' if explanation.kind in ('enumerated', 'token embedding') else ''}",
        word=plain(request.description),
        texts=f"{explanation.passes:,}",
        error="" if errors is None else f"{decimal(float(errors.max()))} {request.unit}",
    )


def amounts(request: Request, explanation: Explanation) -> tuple[np.ndarray, str]:
    """Return the number on screen for each token or word, and its unit."""
    return recipes.amounts(
        request.look.model, request.look.trace, explanation.scores, request.seen[1],
        method=explanation.method, position=request.position, token=request.token, simple=request.look.beginner,
    )  # fmt: skip


def text_picture(request: Request, explanation: Explanation, alone: bool = False) -> Picture:
    options = {"method": explanation.method, **request.text_options, **({"tokens_alone": True} if alone else {})}

    def numbers() -> dict[str, Numbers]:
        values, unit = amounts(request, explanation)
        names = {"token": [token.text for token in request.seen[0]]}
        arrays = {"per cent" if unit == "%" else unit: Numbers(values, ("token",), names)}
        errors = explanation.errors(request.seen[1])
        return arrays if errors is None else arrays | {"standard error": Numbers(errors, ("token",), names)}

    return request.picture(
        recipes.explained,
        "explain-text",
        f"{TITLES[explanation.method]}{', token embedding only' if alone else ''}",
        options,
        numbers=numbers,
        known={"scores": explanation.scores},
    )


def say_sums(explanation: Explanation) -> None:
    """Say what the numbers sum to, what they should sum to, and what they cost."""
    cost = {"passes": f"{explanation.passes:,}", "seconds": f"{explanation.seconds:.2g}", "total": decimal(explanation.total)}
    if explanation.difference is not None:
        say(HERE, "sums", **cost, difference=decimal(explanation.difference))
    say(HERE, "cost", **cost)


def table(request: Request, explanation: Explanation) -> pd.DataFrame:
    """Return a row for each token or word, as in the picture, with the standard error of sampled numbers."""
    values, unit = amounts(request, explanation)
    names = [label(token.text) for token in request.seen[0]]
    columns = {"Token": names, unit: [decimal(value) for value in values]}
    if (errors := explanation.errors(request.seen[1])) is not None:
        columns["± standard error"] = [decimal(error) for error in errors]
    return pd.DataFrame(columns)
