"""The question of this page: which words of the input speak for a prediction, by one method or by all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import Explanation, Question, explain, spread
from analysis.explaining import METHODS, SLOPES, is_drawn, passes_needed
from ui import effort
from ui.look import Look
from ui.memory import jobs
from ui.picture.falling import select_tokens
from ui.picture.picture import Picture
from ui.text import plain
from ui.words import say, words
from viz.tokens import named

if TYPE_CHECKING:
    from models.tokens import Token

HERE = Path(__file__).parent
TITLES = {
    "leave-one-out": "Leave-one-out",
    "gradient × input": "Gradient × input",
    "integrated gradients": "Integrated gradients",
    "lime": "LIME",
    "shap": "SHAP",
    "sampled shap": "Sampled SHAP",
    "attention × gradient": "Attention × gradient",
    "rollout": "Rollout",
}
SEEDS = 5
WAIT = 20.0  # seconds; a longer method says so first and waits for a click
BACK = 3  # a pass forward and back takes about as long as so many passes forward


@dataclass(frozen=True)
class Request:
    """The prediction that is explained: why this token at a position of `look.trace.read`, or why it rather than another."""

    look: Look
    position: int
    token: int
    against: int | None = None

    @property
    def key(self) -> tuple:
        """All that an explanation depends on."""
        trace = self.look.trace
        ids = tuple((token.id, token.segment) for token in (*trace.tokens, *trace.target))
        return ("explain", self.look.model.info.name, ids, len(trace.tokens), self.position, self.token, self.against)

    @cached_property
    def question(self) -> Question:
        return Question(self.look.model, self.look.trace, self.position, self.token, self.against)

    @cached_property
    def seen(self) -> tuple[list[Token], list[list[int]], int]:
        """The tokens on screen, the source before the target; the places that each joins; where the target begins."""
        return select_tokens(self.look.trace, **self.text_options)

    @property
    def text_options(self) -> dict[str, Any]:
        """The options of recipes for what is on screen of the text."""
        return {"second": self.look.second, "scope_options": dict(self.look.options), "simple": self.look.beginner}

    @property
    def description(self) -> str:
        """The prediction in words."""
        spell = self.look.outcome
        first = f"“{named(spell(self.token))}”"
        return first if self.against is None else f"{first} rather than “{named(spell(self.against))}”"

    @property
    def chance(self) -> bool:
        """Whether a probability is explained, and not the number of a label."""
        labels = self.look.model.info.labels
        return labels is None or labels.chances

    @property
    def unit(self) -> str:
        """The unit of evidence."""
        return "nats" if self.chance else "points"

    def say(self, heading: str, **values: object) -> None:
        """Place words; those for covered tokens where a model has them covered, and there are such words."""
        masked = f"{heading} masked"
        first, second = (plain(f"“{named(self.look.outcome(id))}”") for id in (self.token, self.against or 0))
        kind = "evidence contrast" if self.against is not None else "evidence" if self.chance else "evidence number"
        evidence = words(HERE, kind, word=plain(self.description), first=first, second=second)
        values |= {"evidence": evidence, "points": words(HERE, "points") if self.chance else ""}
        say(HERE, masked if self.question.mask and words(HERE, masked) else heading, **values)

    def picture(self, recipe: Callable, key: str, title: str, options: dict[str, Any], **fields: Any) -> Picture:
        """Return a picture of this explanation. fields: further fields of `Picture`."""
        arguments = {"position": self.position, "token": self.token, "against": self.against, **options}
        about = f"why {self.description}"
        return Picture(recipe, (self.look,), arguments, key, title=title, words=about, takes=("model", "trace"), **fields)

    def seconds(self, method: str, times: int = 1) -> float:
        """Return the approximate seconds that a method takes."""
        texts = passes_needed(method, len(self.question.units)) * (BACK if method in SLOPES else 1)
        return effort.seconds(self.look.model.info, self.question.length, times * texts)


def explain_by(request: Request, method: str, tokens_alone: bool = False) -> Explanation | None:
    """Return a method's explanation; None while it runs, or waits for a click. Errors: as `analysis.explain`."""
    key, time = (*request.key, method, tokens_alone), request.seconds(method)
    if time > WAIT and not effort.is_begun(key):
        passes = passes_needed(method, len(request.question.units))
        say(HERE, "takes long", method=TITLES[method], passes=f"{passes:,}", tokens=f"{request.question.length:,}")
        effort.offer(f"Ask {TITLES[method]} ({effort.format_duration(time)})", key)
        return None
    return jobs.result(
        key,
        lambda report: explain(request.question, method, report=report, tokens_alone=tokens_alone),
        f"Asking {TITLES[method]}",
    )


def explain_by_all(request: Request) -> dict[str, Explanation | str] | None:
    """Return each method's explanation, or a sentence where it has none; None while they run, or wait for a click."""
    key, time = (*request.key, "every"), sum(request.seconds(method) for method in METHODS)
    if time > WAIT and not effort.is_begun(key):
        say(HERE, "all take long", tokens=f"{request.question.length:,}")
        effort.offer(f"Ask every method ({effort.format_duration(time)})", key)
        return None

    def work(report: jobs.Report) -> dict[str, Explanation | str]:
        explanations: dict[str, Explanation | str] = {}
        for i, method in enumerate(METHODS):

            def part(share: float, words: str, i: int = i, method: str = method) -> None:
                report((i + share) / len(METHODS), f"{TITLES[method]}: {words}")

            part(0.0, "begun")
            try:
                explanations[method] = explain(request.question, method, report=part)
            except ValueError as error:
                explanations[method] = str(error)
        return explanations

    return jobs.result(key, work, "Asking every method")


def spreads(request: Request) -> dict[str, np.ndarray] | None:
    """Return the scores of the methods that draw at random, with several seeds: [seed, token]; None until they are there."""
    sampled = [method for method in METHODS if is_drawn(method, len(request.question.units))]
    key, time = (*request.key, "spread"), sum(request.seconds(method, SEEDS) for method in sampled)
    if time > WAIT and not effort.is_begun(key):
        effort.offer(f"Ask with {SEEDS} seeds ({effort.format_duration(time)})", key)
        return None

    def work(report: jobs.Report) -> dict[str, np.ndarray]:
        scores = {}
        for i, method in enumerate(sampled):

            def part(share: float, words: str, i: int = i, method: str = method) -> None:
                report((i + share) / len(sampled), f"{TITLES[method]}, {words}")

            scores[method] = spread(request.question, method, SEEDS, part)
        return scores

    return jobs.result(key, work, "Asking with other seeds")
