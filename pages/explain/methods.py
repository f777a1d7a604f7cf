"""All methods beside each other: how far they agree, what each costs, and how far another seed changes it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from analysis import Explanation, agreement
from analysis.perturbation import rank_correlation
from pages.explain import recipes
from pages.explain.asked import HERE, SEEDS, TITLES, Asked, every, spreads
from ui.picture.picture import Numbers, Picture
from ui.show import show_chart
from ui.text import plain
from ui.words import say
from viz.numbers import decimal


def panel(asked: Asked) -> list[Picture]:
    """The square of agreement, and a table of cost and spread."""
    answers = every(asked)
    if answers is None:
        return []
    found = [one for one in answers.values() if isinstance(one, Explanation)]
    for method, one in answers.items():
        if isinstance(one, str):
            st.info(f"{TITLES[method]} says nothing here. {plain(one)}", icon=":material/info:")
    drawing = square(asked, found)
    left, right = st.columns([6, 4])
    with left:
        show_chart(drawing.drawn, drawing.key)
    with right:
        say(HERE, "agreement", units=len(asked.question.units))
    other = spreads(asked)
    st.table(costs(asked, found, other))
    if other is not None:
        say(HERE, "spread", seeds=SEEDS)
    return [drawing]


def square(asked: Asked, found: list[Explanation]) -> Picture:
    titles = [TITLES[one.method] for one in found]
    options = {"methods": [one.method for one in found], "titles": titles}

    def numbers() -> dict[str, Numbers]:
        ranks = agreement(found, asked.question.units)
        each = np.array([[one.scores[i] for i in asked.question.units] for one in found])
        read = [*asked.look.trace.tokens, *asked.look.trace.target]
        spelt = [read[i].text for i in asked.question.units]
        return {
            "rank correlation": Numbers(ranks, ("method", "other method"), {"method": titles, "other method": titles}),
            "score": Numbers(each, ("method", "token"), {"method": titles, "token": spelt}, in_csv=False),
        }

    return asked.picture(
        recipes.agreeing, "agreement", "Agreement of the methods", options, numbers=numbers, known={"found": found}
    )


def costs(asked: Asked, found: list[Explanation], other: dict[str, np.ndarray] | None) -> pd.DataFrame:
    """A row a method: what it read, how long that took, its sum, and its spread over seeds."""
    rows = {}
    for one in found:
        seeds = other.get(one.method) if other else None
        rows[TITLES[one.method]] = [
            f"{one.passes:,}",
            f"{one.seconds:.2g} s",
            "–" if one.difference is None else f"{decimal(one.total)} of {decimal(one.difference)}",
            ("–" if other is None else "none") if seeds is None else spread_of(seeds[:, asked.question.units], asked.unit),
        ]
    columns = ["Texts read", "Time", f"Sum, of what it should be ({asked.unit})", "Spread over seeds"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def spread_of(seeds: np.ndarray, unit: str) -> str:
    """The mean over tokens of the standard deviation over seeds, and the mean rank correlation of every two seeds."""
    pairs = [rank_correlation(seeds[i], seeds[j]) for i in range(len(seeds)) for j in range(i)]
    ranks = [pair for pair in pairs if pair is not None]
    deviation = f"± {decimal(float(seeds.std(axis=0, ddof=1).mean()))} {unit}"
    return f"{deviation}; rank correlation {np.mean(ranks):.2f}".replace("-", "−") if ranks else deviation
