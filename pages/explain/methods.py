"""The comparison of all methods: how far they agree, what each costs, and how much another seed changes it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from analysis import Explanation, agreement
from analysis.perturbation import rank_correlation
from pages.explain import recipes
from pages.explain.request import HERE, SEEDS, TITLES, Request, explain_by_all, spreads
from ui.picture.picture import Numbers, Picture
from ui.show import show_chart
from ui.text import plain
from ui.words import say
from viz.numbers import decimal


def panel(request: Request) -> list[Picture]:
    """Place the square of agreement, and a table of cost and spread."""
    answers = explain_by_all(request)
    if answers is None:
        return []
    explanations = [answer for answer in answers.values() if isinstance(answer, Explanation)]
    for method, answer in answers.items():
        if isinstance(answer, str):
            st.info(f"{TITLES[method]} says nothing here. {plain(answer)}", icon=":material/info:")
    drawing = square(request, explanations)
    left, right = st.columns([6, 4])
    with left:
        show_chart(drawing.drawn, drawing.key)
    with right:
        say(HERE, "agreement", units=len(request.question.units))
    other = spreads(request)
    st.table(costs(request, explanations, other))
    if other is not None:
        say(HERE, "spread", seeds=SEEDS)
    return [drawing]


def square(request: Request, explanations: list[Explanation]) -> Picture:
    titles = [TITLES[explanation.method] for explanation in explanations]
    options = {"methods": [explanation.method for explanation in explanations], "titles": titles}

    def numbers() -> dict[str, Numbers]:
        ranks = agreement(explanations, request.question.units)
        scores = np.array([[explanation.scores[i] for i in request.question.units] for explanation in explanations])
        tokens = [*request.look.trace.tokens, *request.look.trace.target]
        texts = [tokens[i].text for i in request.question.units]
        return {
            "rank correlation": Numbers(ranks, ("method", "other method"), {"method": titles, "other method": titles}),
            "score": Numbers(scores, ("method", "token"), {"method": titles, "token": texts}, in_csv=False),
        }

    return request.picture(
        recipes.agreeing, "agreement", "Agreement of the methods", options, numbers=numbers, known={"explanations": explanations}
    )


def costs(request: Request, explanations: list[Explanation], other: dict[str, np.ndarray] | None) -> pd.DataFrame:
    """Return a row for each method: what it read, how long that took, its sum, and its spread over seeds."""
    rows = {}
    for explanation in explanations:
        seeds = other.get(explanation.method) if other else None
        rows[TITLES[explanation.method]] = [
            f"{explanation.passes:,}",
            f"{explanation.seconds:.2g} s",
            "–" if explanation.difference is None else f"{decimal(explanation.total)} of {decimal(explanation.difference)}",
            ("–" if other is None else "none") if seeds is None else spread_of(seeds[:, request.question.units], request.unit),
        ]
    columns = ["Texts read", "Time", f"Sum, of what it should be ({request.unit})", "Spread over seeds"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def spread_of(seeds: np.ndarray, unit: str) -> str:
    """Return the standard deviation over seeds, a mean over tokens, and the mean rank correlation of every two seeds."""
    pairs = [rank_correlation(seeds[i], seeds[j]) for i in range(len(seeds)) for j in range(i)]
    ranks = [pair for pair in pairs if pair is not None]
    deviation = f"± {decimal(float(seeds.std(axis=0, ddof=1).mean()))} {unit}"
    return f"{deviation}; rank correlation {np.mean(ranks):.2f}".replace("-", "−") if ranks else deviation
