"""The question of this page, as a plain value: which words of the input support a prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import Explanation, Question
from pages.explain.settings import Settings
from ui.believe.trial import Trial
from ui.lexicon.marks import Words
from ui.look import Look
from ui.picture.falling import select_tokens
from ui.picture.picture import Picture
from viz.tokens import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from models.tokens import Token

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


@dataclass(frozen=True)
class Request:
    """The prediction to explain: why this token at a position of `look.trace.read`, or why not another one."""

    look: Look
    position: int
    token: int
    against: int | None = None

    @property
    def key(self) -> tuple:
        """Everything that an explanation depends on."""
        trace = self.look.trace
        ids = tuple((token.id, token.segment) for token in (*trace.tokens, *trace.target))
        return ("explain", self.look.model.info.name, ids, len(trace.tokens), self.position, self.token, self.against)

    @cached_property
    def question(self) -> Question:
        return Question(self.look.model, self.look.trace, self.position, self.token, self.against, keep_last=True)

    @cached_property
    def seen(self) -> tuple[list[Token], list[list[int]], int]:
        """The tokens on screen, the source before the target; the positions that each joins; and where the target begins."""
        return select_tokens(self.look.trace, **self.text_options)

    @property
    def text_options(self) -> dict[str, Any]:
        """The options of recipes for the part of the text on screen."""
        return {"second": self.look.second, "scope_options": dict(self.look.options), "simple": self.look.beginner}

    @property
    def description(self) -> str:
        """The prediction in words."""
        spell = self.look.outcome
        first = f"“{named(spell(self.token))}”"
        return first if self.against is None else f"{first} rather than “{named(spell(self.against))}”"

    @property
    def chance(self) -> bool:
        """Whether the explained prediction is a probability, not the number of a label."""
        labels = self.look.model.info.labels
        return labels is None or labels.chances

    @property
    def unit(self) -> str:
        """The unit of evidence."""
        return "nats" if self.chance else "points"

    def picture(self, recipe: Callable, key: str, title: str, options: dict[str, Any], **fields: Any) -> Picture:
        """Return a picture of this explanation. fields: further fields of `Picture`."""
        arguments = {"position": self.position, "token": self.token, "against": self.against, **options}
        about = f"why {self.description}"
        return Picture(recipe, (self.look,), arguments, key, title=title, words=about, takes=("model", "trace"), **fields)

    def trial(self, explanations: Sequence[Explanation]) -> Trial:
        """Return the trial of these explanations."""
        scores = {explanation.method: explanation.scores for explanation in explanations}
        titles = {explanation.method: TITLES[explanation.method] for explanation in explanations}
        reader = Words(self.look.level, lambda: False, None)  # without marked terms
        lines = {name: line for name in titles if (line := reader(Path(__file__).parent, f"line {name}"))}
        return Trial(self.look, self.question, self.key, scores, titles, self.picture, lines=lines)


def request_of(look: Look, settings: Settings) -> Request:
    """Return the question that these settings ask."""
    place = position(look)
    token = likeliest(look, place) if settings.token is None else settings.token
    return Request(look, place, token, settings.against)


def position(look: Look) -> int:
    """Return the explained position in `trace.read`: that of the selected token, else of a mask or the last token; for a model
    with labels, a position that has them."""
    if look.model.info.labels or look.chosen_token is None or look.chosen_token >= len(look.trace.read):
        return look.predicted_at
    return look.chosen_token


def likeliest(look: Look, place: int) -> int:
    """Return the id of the likeliest prediction at a position."""
    logits = look.trace.scores_at(place)
    assert logits is not None, "it predicts"
    return look.model.top(logits, place, 1)[0].id


def chance_of(look: Look, place: int, token: int) -> float:
    """Return the probability of a token at a position."""
    logits = look.trace.scores_at(place)
    assert logits is not None, "it predicts"
    return float(look.model.chances(logits)[token])
