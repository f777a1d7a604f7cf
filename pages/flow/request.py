"""The question of this page: from which tokens a position of the text gets its content, method by method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analysis import Attribution, Question
from analysis.attribution import FOLLOWING, METHODS
from models.tokens import Token
from pages.flow.recipes import FLOW
from ui.look import Look
from ui.picture.falling import select_tokens
from ui.picture.picture import Picture
from viz.tokens import label

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.trace import Trace
    from pages.flow.settings import Settings

PLAIN = ("gradient rollout", "rollout", "raw attention")  # the methods for beginners, the one that stands open first


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
        """Everything that the scores depend on."""
        ids = tuple((token.id, token.segment) for token in (*self.trace.tokens, *self.trace.target))
        return ("flow", self.model.info.name, ids, len(self.trace.tokens), self.position, self.token, self.choices)

    @cached_property
    def attribution(self) -> Attribution:
        return Attribution(self.model, self.trace, self.position, self.token, **dict(self.choices))

    @cached_property
    def question(self) -> Question | None:
        """The prediction while tokens are taken away; None where nothing can be."""
        if self.token is None:
            return None
        try:
            return Question(self.model, self.trace, self.position, self.token, keep_last=True)
        except ValueError:
            return None

    @property
    def can_take_away(self) -> bool:
        return self.question is not None

    @property
    def covers(self) -> bool:
        """Whether a token that is taken away is covered by a mask, so that the others keep their places."""
        return self.question is not None and self.question.keeps_places

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of this level. Attention flow takes too long between the many patches of a picture."""
        if self.look.beginner:
            return PLAIN
        return tuple(name for name in METHODS if not (self.of_image and name == FLOW))

    @property
    def of_image(self) -> bool:
        """Whether the prediction is the label of a picture."""
        return "image" in self.model.info.reads

    @property
    def case(self) -> str:
        """The case of the headings for pictures: "image", else ""."""
        return "image" if self.of_image else ""

    @property
    def methods_by_layer(self) -> list[str]:
        """The methods of this level that have scores after each layer: two of them below the experts' level, and for a picture,
        which is drawn once for each method and layer."""
        choice = METHODS if self.look.level == "expert" and not self.of_image else PLAIN[:2]
        return [name for name in choice if name != FLOW and (name not in FOLLOWING or self.token is not None)]

    @cached_property
    def seen(self) -> tuple[list[Token], list[list[int]], int]:
        """The tokens on screen, the source before the target; the positions that each joins; and where the target begins."""
        return select_tokens(self.trace, **self.text_options)

    @property
    def text_options(self) -> dict[str, Any]:
        """The options of recipes for the part of the text on screen."""
        return {"second": self.look.second, "scope_options": dict(self.look.options), "simple": self.look.beginner}

    def picture(self, recipe: Callable, key: str, title: str, options: dict[str, Any], **fields: Any) -> Picture:
        """Return a picture of this request. fields: further fields of `Picture`."""
        arguments = {"position": self.position, "choices": self.choices, **options}
        about = label(self.look.spell_tokens(self.trace.read)[self.position].text)
        return Picture(
            recipe, (self.look,), arguments, key, title=title, words=f"from “{about}”", takes=("model", "trace"), **fields
        )


def request_of(look: Look, settings: Settings) -> Request:
    """Return the request for a text with these settings."""
    return Request(look, position_of(look), settings.token, settings.choices)


def position_of(look: Look) -> int:
    """Return the requested position in `trace.read`; for a picture where its label is read, as no patch has one of its own."""
    if "image" in look.model.info.reads:
        return look.default_position
    return look.default_position if look.chosen_token is None or look.chosen_token >= len(look.trace.read) else look.chosen_token


def title(words: Callable[[str], str], method: str) -> str:
    """Return a method's title. words: returns the page's words under a heading."""
    return words(f"title {method}") or method[0].upper() + method[1:]
