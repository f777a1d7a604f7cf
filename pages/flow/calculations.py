"""The long calculations of this page, each a background job."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from analysis.attribution import METHODS
from pages.flow import recipes, scores
from pages.flow import state as page_state
from pages.flow.compose import HERE
from pages.flow.recipes import FLOW
from pages.flow.request import Request, title
from pages.flow.settings import Layers, Settings, Streams, Without
from ui.memory import jobs
from ui.words import words

A_PIPE = 1.5e-8  # seconds that the solver takes for a token and a pipe, measured on one core
LONG = 4.0  # seconds; flow that takes longer is offered between fewer tokens
WINDOWS = (32, 64, 128, 256)


def titles() -> dict[str, str]:
    """Return the methods' titles at the visitor's level, which a job does not know."""
    return {method: title(partial(words, HERE), method) for method in (*METHODS, "leave-one-out")}


def answers(request: Request) -> dict[str, np.ndarray | str] | None:
    """Return the scores of every method but flow, or a sentence if it has none; None while they are calculated."""
    names = titles()
    return jobs.result(request.key, lambda report: scores.of_methods(request, names, report), "Following the attention back")


def window(size: np.ndarray) -> int | None:
    """Return the number of tokens between which attention flow is calculated, if all would take long."""
    return page_state.FLOW_WINDOW.get() or None if np.prod(size, dtype=float) * A_PIPE > LONG else None


def flow(request: Request, size: np.ndarray) -> np.ndarray | str | None:
    """Return attention flow, between fewer tokens, as the visitor chooses, if all would take long; None while it runs."""
    tokens, pipe_count = (int(count) for count in size)
    seconds, most = tokens * pipe_count * A_PIPE, None
    if seconds > LONG:
        choices = [count for count in WINDOWS if count < tokens] + [0]
        labels = {0: f"all {tokens:,} tokens: about {seconds:,.0f} seconds"}
        chosen = st.selectbox(
            "Attention flow between",
            choices,
            1,
            lambda count: labels.get(count, f"the nearest {count} tokens"),
            key=page_state.FLOW_WINDOW.name,
            help=f"Between all {tokens:,} tokens there are {pipe_count:,} pipes, and each is looked at once for every token.",
        )
        most = chosen or None
    key = ("max-flow", *request.key, most)
    return jobs.result(key, lambda report: request.attribution.flow(most, report), titles()[FLOW])


def without(request: Request, place: int) -> Without | None:
    """Return the guess without a token on screen; None while it is calculated."""
    key = ("without", *request.key, *request.seen[1][place])
    return jobs.result(key, lambda report: scores.without(request, place, report), "Guessing again")


def layers(request: Request) -> Layers | None:
    """Return the scores after each layer, of every method but flow that has an answer; None while they are calculated."""
    names = titles()
    methods = request.methods_by_layer
    key = ("by layer", *request.key, *methods)
    return jobs.result(key, lambda report: scores.of_layers(request, methods, names, report), "Following each layer back")


def streams(request: Request, settings: Settings) -> Streams | None:
    """Return the streams that reach the position; None while they are calculated."""
    method, least = settings.streams_of, settings.least

    def work(report: jobs.Report) -> Streams:
        report(0.1, name)
        return Streams(*recipes.streams_of(request.attribution, method, least))

    name = titles()[method]
    return jobs.result(("streams", *request.key, method, least), work, name)
