"""What is looked at, and the picture of it: made by a recipe that a notebook can run too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import Scope
from ui.choices import boxes, pick, scope
from viz.view import View

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from models.language_model import LanguageModel
    from models.trace import Trace
    from ui.picture.numbers import Numbers


@dataclass(frozen=True)
class Look:
    """One text through one model, and the head that is chosen. kind: which attention; target: what was read beside the text, the
    target or second text; "" where the model read one, whatever an earlier one left in the box."""

    model: LanguageModel
    trace: Trace
    kind: str
    seen: Scope
    layer: int
    head: int
    target: str = ""

    @property
    def causal(self) -> bool:
        """Whether queries see no key after themselves."""
        return self.kind != "cross" and not pick.both_ways(self.model.info)

    @property
    def name(self) -> str:
        """The head as people write it: "L5 H1", with its kind where there are several."""
        return f"{'' if self.kind == 'self' else self.kind.capitalize() + ' '}L{self.layer} H{self.head}"


@dataclass(frozen=True)
class Picture:
    """A picture that is not drawn yet, and all that it takes to draw it, here or in a notebook.

    recipe: a function of a page's `recipes`, called with trace and scope of each look, and the options, which are literals.
    numbers: the arrays that the picture shows, in float32, by name (see `ui.picture.numbers`); asked for when somebody takes
    them away.
    """

    recipe: Callable[..., View | go.Figure | str]
    looks: tuple[Look, ...]
    options: dict[str, Any]
    key: str
    numbers: Callable[[], dict[str, np.ndarray | Scope | Numbers]]
    react: Callable[[], None] | None = None
    words: str = field(default="")  # what a caption says beyond model, text and head
    height: int = 0  # pixels of one that is a page of its own (BertViz's)

    @cached_property
    def drawn(self) -> View | go.Figure | str:
        return self.recipe(*(one for look in self.looks for one in (look.trace, look.seen)), **self.options)


def look(model: LanguageModel, trace: Trace) -> Look:
    """The text in the box, through the model and the head that are chosen."""
    kind = pick.kind(model.info)
    layer, head = pick.chosen_head(model)
    return Look(model, trace, kind, scope.of(trace.attention[kind]), layer, head, beside(trace, boxes.second()))


def beside(trace: Trace, typed: str | None) -> str:
    """What was typed beside the text, where the model has read it."""
    return typed or "" if trace.target or any(token.segment for token in trace.tokens) else ""
