"""The text coloured by one method, with its numbers and its doubt beside it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from analysis import Explanation
from analysis.explaining import SLOPES
from analysis.slopes import adds_to_tokens
from pages.explain import recipes
from pages.explain.asked import HERE, TITLES, Asked, explanation
from pages.explain.believe import doubt
from ui import state
from ui.choices.widgets import one_of, switch
from ui.picture.picture import Numbers, Picture
from ui.show import picture, show
from ui.text import plain
from ui.words import say, words
from viz.numbers import decimal
from viz.tokens import label


def panel(asked: Asked) -> list[Picture]:
    """The text, coloured; beside it what the numbers are and how far to trust them."""
    method = state.EXPLAIN_BY.default
    if asked.look.beginner:
        state.later("intermediate", state.EXPLAIN_BY, state.EXPLAIN_TOKENS)
    else:
        if (named := state.EXPLAIN_BY.asked or "") in TITLES:
            state.take_as(state.EXPLAIN_BY, named)  # by the name that it has in a lesson
        method = one_of(state.EXPLAIN_BY, state.EXPLAIN_BY.values, "the method", menu=True, written=TITLES.__getitem__)
        state.keep(state.EXPLAIN_BY, TITLES[method], TITLES[state.EXPLAIN_BY.default])
    alone = method == SLOPES[0] and asks_tokens_alone(asked)
    found = explanation(asked, method, alone)
    if found is None:
        return []
    drawing = coloured(asked, found, alone)
    left, right = st.columns([6, 4])
    with left:
        show(drawing.drawn, drawing.key)
    with right:
        say_method(asked, found)
        asked.say("contrast" if asked.against is not None else "no contrast", word=plain(asked.called))
        if asked.look.trace.target:
            say(HERE, "read twice" if asked.look.model.info.labels else "both sides")
        say_sums(found)
        if asked.look.beginner and asked.chance:
            with picture("The doubt"):
                doubt(asked, found)
    with st.expander("The numbers"):
        st.dataframe(table(asked, found), hide_index=True)
    return [drawing]


def asks_tokens_alone(asked: Asked) -> bool:
    """Whether the slope is wanted against the token embedding alone; asked where the first layer is given more than that."""
    if not adds_to_tokens(asked.question):
        return False
    alone = switch(state.EXPLAIN_TOKENS, words(HERE, "token switch"))
    state.keep(state.EXPLAIN_TOKENS, alone, False)
    return alone


def say_method(asked: Asked, found: Explanation) -> None:
    """What the numbers are; of Shapley values whether they were enumerated or sampled, and then how sure they are; of gradient ×
    input what the slope is taken against."""
    errors = found.errors([[unit] for unit in asked.question.units])
    asked.say(
        f"method {found.method}{f' {found.kind}' if found.kind in ('enumerated', 'token embedding') else ''}",
        word=plain(asked.called),
        texts=f"{found.passes:,}",
        error="" if errors is None else f"{decimal(float(errors.max()))} {asked.unit}",
    )


def amounts(asked: Asked, found: Explanation) -> tuple[np.ndarray, str]:
    """What is written of each token or word that is shown, and its unit."""
    return recipes.amounts(
        asked.look.model, asked.look.trace, found.scores, asked.seen[1], method=found.method, position=asked.position,
        token=asked.token, simple=asked.look.beginner,
    )  # fmt: skip


def coloured(asked: Asked, found: Explanation, alone: bool = False) -> Picture:
    options = {"method": found.method, **asked.text_options, **({"tokens_alone": True} if alone else {})}

    def numbers() -> dict[str, Numbers]:
        values, unit = amounts(asked, found)
        named = {"token": [token.text for token in asked.seen[0]]}
        arrays = {"per cent" if unit == "%" else unit: Numbers(values, ("token",), named)}
        errors = found.errors(asked.seen[1])
        return arrays if errors is None else arrays | {"standard error": Numbers(errors, ("token",), named)}

    return asked.picture(
        recipes.explained,
        "explain-text",
        f"{TITLES[found.method]}{', token embedding only' if alone else ''}",
        options,
        numbers=numbers,
        known={"scores": found.scores},
    )


def say_sums(found: Explanation) -> None:
    """What the numbers sum to, and what they should, and what they cost."""
    cost = {"passes": f"{found.passes:,}", "seconds": f"{found.seconds:.2g}", "total": decimal(found.total)}
    if found.difference is not None:
        say(HERE, "sums", **cost, difference=decimal(found.difference))
    say(HERE, "cost", **cost)


def table(asked: Asked, found: Explanation) -> pd.DataFrame:
    """A row a token or word, as in the picture; with the standard error of what is sampled."""
    values, unit = amounts(asked, found)
    names = [label(token.text) for token in asked.seen[0]]
    columns = {"Token": names, unit: [decimal(value) for value in values]}
    if (errors := found.errors(asked.seen[1])) is not None:
        columns["± standard error"] = [decimal(error) for error in errors]
    return pd.DataFrame(columns)
