"""What this page asks: which tokens one position of the text goes back to, method by method."""

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
PLAIN = ("raw attention", "rollout", "attention × gradient")  # what a beginner meets
A_PIPE = 1.5e-8  # seconds that the solver takes for a token and a pipe, as measured on one core
LONG = 4.0  # seconds; flow that takes longer is offered between fewer tokens
WINDOWS = (32, 64, 128, 256)


@dataclass(frozen=True)
class Asked:
    """A position of `look.trace.read`, the prediction that is followed there (its token's id, or None), and the choices made."""

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
        """What everything here hangs on."""
        ids = tuple((token.id, token.segment) for token in (*self.trace.tokens, *self.trace.target))
        return ("flow", self.model.info.name, ids, len(self.trace.tokens), self.position, self.token, self.choices)

    @cached_property
    def attribution(self) -> Attribution:
        return Attribution(self.model, self.trace, self.position, self.token, **dict(self.choices))

    @property
    def methods(self) -> tuple[str, ...]:
        """Those that are shown at this level."""
        return PLAIN if self.look.beginner else METHODS

    @property
    def place(self) -> int:
        """Of the position among all tokens, the source's first."""
        return self.attribution.ways.place(self.position)

    @cached_property
    def seen(self) -> tuple[list[Token], list[list[int]], int]:
        """The tokens that are shown, the source before the target; the places that each joins; where the target begins."""
        return select_tokens(self.trace, **self.text_options)

    @property
    def text_options(self) -> dict[str, Any]:
        """What is shown of the text, as recipes take it."""
        return {"second": self.look.second, "scope_options": dict(self.look.options), "simple": self.look.beginner}

    def picture(self, recipe: Callable, key: str, title: str, options: dict[str, Any], **more: Any) -> Picture:
        """A picture of what is asked here. more: of `Picture`."""
        arguments = {"position": self.position, "choices": self.choices, **options}
        about = label(self.look.written(self.trace.read)[self.position].text)
        return Picture(
            recipe, (self.look,), arguments, key, title=title, words=f"from “{about}”", takes=("model", "trace"), **more
        )


def title(method: str) -> str:
    return words(HERE, f"title {method}") or method[0].upper() + method[1:]


def answers(asked: Asked) -> dict[str, np.ndarray | str] | None:
    """Scores by method, flow apart, or a sentence where there are none; None while they are under way."""

    def work(report: Callable[[float, str], None]) -> dict[str, np.ndarray | str]:
        scores: dict[str, np.ndarray | str] = {}
        several = [method for method in METHODS if method != FLOW]
        for i, method in enumerate(several):
            report(i / len(several), title_of[method])
            try:
                scores[method] = asked.attribution.scores(method)
            except ValueError as error:
                scores[method] = str(error)
        if isinstance(scores["attention × gradient"], np.ndarray):
            scores["slopes"] = np.array(sum(matrix.sum() for matrix in asked.attribution.relevance))
        scores["pipes"] = np.array(pipes(asked.attribution.ways, asked.attribution.attention, asked.position))
        return scores

    title_of = {method: title(method) for method in METHODS}  # words hang on the visitor's level, which a job does not know
    return jobs.result(asked.key, work, "Following the attention back")


def window(size: np.ndarray) -> int | None:
    """Between how many tokens attention flow is looked for, where it would take long between all."""
    return state.FLOW_WINDOW.get() or None if np.prod(size, dtype=float) * A_PIPE > LONG else None


def flow(asked: Asked, size: np.ndarray) -> np.ndarray | str | None:
    """Attention flow; between fewer tokens, as the visitor chooses, where all would take long. None while it is under way."""
    tokens, many = (int(count) for count in size)
    seconds, most = tokens * many * A_PIPE, None
    if seconds > LONG:
        choices = [count for count in WINDOWS if count < tokens] + [0]
        labels = {0: f"all {tokens:,} tokens: about {seconds:,.0f} seconds"}
        chosen = st.selectbox(
            "Attention flow between", choices, 1, lambda count: labels.get(count, f"the nearest {count} tokens"),
            key=state.FLOW_WINDOW.name,
            help=f"Between all {tokens:,} tokens there are {many:,} pipes, which are looked at once a token.",
        )  # fmt: skip
        most = chosen or None
    key = ("max-flow", *asked.key, most)
    return jobs.result(key, lambda report: asked.attribution.flow(most, report), title(FLOW))


def layers(asked: Asked) -> tuple[list[str], np.ndarray] | None:
    """Scores after each layer, of the methods that have an answer, flow apart: float64 [layer, method, token]."""

    def work(report: Callable[[float, str], None]) -> tuple[list[str], np.ndarray]:
        count = asked.attribution.ways.layers
        names: list[str] = []
        scores: list[list[np.ndarray]] = []
        for method in methods:
            report(len(names) / len(methods), title_of[method])
            try:
                scores.append([asked.attribution.scores(method, layer) for layer in range(count)])
                names.append(method)
            except ValueError:
                continue  # the page says why where the methods stand side by side
        return names, np.array(scores).transpose(1, 0, 2)

    title_of = {method: title(method) for method in METHODS}
    methods = [method for method in asked.methods if method != FLOW and (method not in FOLLOWING or asked.token is not None)]
    return jobs.result(("by layer", *asked.key, *methods), work, "Following each layer back")
