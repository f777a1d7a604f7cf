"""The question of this page: which tokens a position of the text goes back to, method by method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from analysis import Attribution
from analysis.attention_flow import pipes
from analysis.attribution import FOLLOWING, METHODS
from models.tokens import Token
from pages.flow import recipes
from ui import state
from ui.look import Look
from ui.memory import jobs
from ui.picture.falling import select_tokens
from ui.picture.picture import Picture
from ui.words import words
from viz.tokens import label

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.trace import Trace

HERE = Path(__file__).parent
FLOW = recipes.FLOW
PLAIN = ("raw attention", "rollout", "attention × gradient")  # the methods for beginners
A_PIPE = 1.5e-8  # seconds that the solver takes for a token and a pipe, measured on one core
LONG = 4.0  # seconds; flow that takes longer is offered between fewer tokens
WINDOWS = (32, 64, 128, 256)


@dataclass(frozen=True)
class Request:
    """A position of `look.trace.read`, the prediction that is followed there (its token's id, or None), and the choices."""

    look: Look
    position: int
    token: int | None
    choices: tuple[tuple[str, Any], ...]  # of `Attribution`

    @property
    def model(self) -> LanguageModel:
        return self.look.model

    @property
    def trace(self) -> Trace:
        return self.look.trace

    @property
    def key(self) -> tuple:
        """All that the scores depend on."""
        ids = tuple((token.id, token.segment) for token in (*self.trace.tokens, *self.trace.target))
        return ("flow", self.model.info.name, ids, len(self.trace.tokens), self.position, self.token, self.choices)

    @cached_property
    def attribution(self) -> Attribution:
        return Attribution(self.model, self.trace, self.position, self.token, **dict(self.choices))

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of this level."""
        return PLAIN if self.look.beginner else METHODS

    @property
    def place(self) -> int:
        """The place of the position among all tokens, of which the source's come first."""
        return self.attribution.ways.place(self.position)

    @cached_property
    def seen(self) -> tuple[list[Token], list[list[int]], int]:
        """The tokens on screen, the source before the target; the places that each joins; where the target begins."""
        return select_tokens(self.trace, **self.text_options)

    @property
    def text_options(self) -> dict[str, Any]:
        """The options of recipes for what is on screen of the text."""
        return {"second": self.look.second, "scope_options": dict(self.look.options), "simple": self.look.beginner}

    def picture(self, recipe: Callable, key: str, title: str, options: dict[str, Any], **fields: Any) -> Picture:
        """Return a picture of this request. fields: further fields of `Picture`."""
        arguments = {"position": self.position, "choices": self.choices, **options}
        about = label(self.look.spell_tokens(self.trace.read)[self.position].text)
        return Picture(
            recipe, (self.look,), arguments, key, title=title, words=f"from “{about}”", takes=("model", "trace"), **fields
        )


def title(method: str) -> str:
    return words(HERE, f"title {method}") or method[0].upper() + method[1:]


def answers(request: Request) -> dict[str, np.ndarray | str] | None:
    """Return the scores of every method but flow, or a sentence where it has none; None while they are calculated."""

    def work(report: Callable[[float, str], None]) -> dict[str, np.ndarray | str]:
        scores: dict[str, np.ndarray | str] = {}
        several = [method for method in METHODS if method != FLOW]
        for i, method in enumerate(several):
            report(i / len(several), title_of[method])
            try:
                scores[method] = request.attribution.scores(method)
            except ValueError as error:
                scores[method] = str(error)
        if isinstance(scores["attention × gradient"], np.ndarray):
            scores["slopes"] = np.array(sum(matrix.sum() for matrix in request.attribution.relevance))
        scores["pipes"] = np.array(pipes(request.attribution.ways, request.attribution.attention, request.position))
        return scores

    title_of = {method: title(method) for method in METHODS}  # words depend on the visitor's level, which a job does not know
    return jobs.result(request.key, work, "Following the attention back")


def window(size: np.ndarray) -> int | None:
    """Return the number of tokens between which attention flow is calculated, where all would take long."""
    return state.FLOW_WINDOW.get() or None if np.prod(size, dtype=float) * A_PIPE > LONG else None


def flow(request: Request, size: np.ndarray) -> np.ndarray | str | None:
    """Return attention flow, between fewer tokens of the visitor's choice where all would take long; None while it runs."""
    tokens, pipe_count = (int(count) for count in size)
    seconds, most = tokens * pipe_count * A_PIPE, None
    if seconds > LONG:
        choices = [count for count in WINDOWS if count < tokens] + [0]
        labels = {0: f"all {tokens:,} tokens: about {seconds:,.0f} seconds"}
        chosen = st.selectbox(
            "Attention flow between", choices, 1, lambda count: labels.get(count, f"the nearest {count} tokens"),
            key=state.FLOW_WINDOW.name,
            help=f"Between all {tokens:,} tokens there are {pipe_count:,} pipes, which are looked at once a token.",
        )  # fmt: skip
        most = chosen or None
    key = ("max-flow", *request.key, most)
    return jobs.result(key, lambda report: request.attribution.flow(most, report), title(FLOW))


def layers(request: Request) -> tuple[list[str], np.ndarray] | None:
    """Return the scores after each layer, of every method but flow that has an answer: float64 [layer, method, token]."""

    def work(report: Callable[[float, str], None]) -> tuple[list[str], np.ndarray]:
        count = request.attribution.ways.layers
        names: list[str] = []
        scores: list[list[np.ndarray]] = []
        for method in methods:
            report(len(names) / len(methods), title_of[method])
            try:
                scores.append([request.attribution.scores(method, layer) for layer in range(count)])
                names.append(method)
            except ValueError:
                continue  # the page says why where the methods stand side by side
        return names, np.array(scores).transpose(1, 0, 2)

    title_of = {method: title(method) for method in METHODS}
    methods = [method for method in request.methods if method != FLOW and (method not in FOLLOWING or request.token is not None)]
    return jobs.result(("by layer", *request.key, *methods), work, "Following each layer back")
