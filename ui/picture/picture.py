"""A picture that is not drawn yet: the recipe that draws it, which a notebook can run too, and the numbers that it shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import Scope
from models.numbers.ragged import stacked
from ui.look import Look
from ui.memory.together import make_once
from viz.view import View
from viz.views.board import Part

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

SHOWN = 300  # characters of a text in a caption; files that hold data have all of it


@dataclass(frozen=True)
class Numbers:
    """An array that a picture shows. axes: the quantity along each axis; names: the names along it, if they are not 0, 1, 2, …;
    in_csv: whether it belongs into the CSV too, which holds the largest array and those that fit beside it.

    values may be a Scope, which stands for the weights of all its layers, computed when they are needed. The axes "from", "to"
    and "token" run over tokens (those of the picture's first look, unless `names` has others).
    """

    values: np.ndarray | Scope
    axes: tuple[str, ...]
    names: Mapping[str, Sequence] = field(default_factory=dict)
    in_csv: bool = True

    @property
    def shape(self) -> tuple[int, ...]:
        if isinstance(self.values, Scope):
            sides = len(self.values.queries.tokens), len(self.values.keys.tokens)
            return (self.values.attention.layers, self.values.attention.heads, *sides)
        return self.values.shape

    def array(self) -> np.ndarray:
        if isinstance(self.values, Scope):
            return stacked([self.values[layer] for layer in range(self.shape[0])])
        return self.values

    def at(self, axis: str, place: int) -> Numbers:
        """Return the array at one index of an axis; the index keeps its name."""
        where = self.axes.index(axis)
        if isinstance(self.values, Scope):
            return Numbers(self.values[place][None], self.axes, {**self.names, axis: [self.name(axis, place)]})
        values = self.values.take([place], where)
        return replace(self, values=values, names={**self.names, axis: [self.name(axis, place)]})

    def name(self, axis: str, place: int) -> Any:
        return self.names[axis][place] if axis in self.names else place

    def place(self, axis: str, name: Any) -> int:
        """Return the index of a name on an axis; 0 if it is not there."""
        names = list(self.names.get(axis, range(self.shape[self.axes.index(axis)])))
        return names.index(name) if name in names else 0


@dataclass(frozen=True)
class Picture:
    """A picture that is not drawn yet, with everything needed to draw it, here or in a notebook.

    recipe: a function of a page's `recipes`, called with its inputs from each look, and with the options, which are literals.
    numbers: returns the arrays that the picture shows, in float32, by name; called for a download. known: results that the recipe
    would calculate, by name, if the page has them already; a notebook calculates them again. data: arrays that the recipe needs
    and nobody can calculate again, by name; a notebook contains them. counted: the look whose tokens determine its lengths, if it
    shows nothing else of a text.
    """

    recipe: Callable[..., View | go.Figure | pd.DataFrame | str]
    looks: tuple[Look, ...]
    options: dict[str, Any]
    key: str
    numbers: Callable[[], Mapping[str, np.ndarray | Scope | Numbers]]
    words: str = field(default="")  # what a caption says beyond model, text and head
    height: int = 0  # pixels of one that is a page of its own (BertViz's)
    title: str = ""  # what it is called where it is no picture of layers and heads; `words` then says what it is of
    part: str = ""  # which part of a board it is, where `key` is that of the board
    takes: tuple[str, ...] = ("trace", "seen")  # of each look, in this order: of "model", "trace" and "seen", its scope
    known: dict[str, Any] = field(default_factory=dict)
    data: dict[str, np.ndarray] = field(default_factory=dict)
    counted: Look | None = None

    @cached_property
    def drawn(self) -> Any:
        """The drawn picture: a view of ours, a Plotly figure, a table, or a whole page as HTML."""
        if len(self.looks) != 1 or self.data or "model" in self.takes:
            return self._draw()
        look = self.looks[0]
        return make_once(look.trace, (self.recipe, look.kind, look.level, repr(look.options), repr(self.options)), self._draw)

    def _draw(self) -> Any:
        parts = {"model": lambda look: look.model, "trace": lambda look: look.trace, "seen": lambda look: look.scope}
        arguments = [parts[name](look) for look in self.looks for name in self.takes]
        return self.recipe(*arguments, **self.options, **self.data, **self.known)

    @property
    def look(self) -> Look | None:
        """The first of its looks; None for a picture that shows no text through a model."""
        return self.looks[0] if self.looks else None

    @property
    def name(self) -> str:
        """Its name, which is unique on its page."""
        return f"{self.key} {self.part}".strip()

    def on_board(
        self, above: str = "", below: str = "", late: bool = False, more: tuple[str, str] = ("", ""), folds: str = ""
    ) -> Part:
        """Return the picture as a part of a board, with words above and below it. more, folds: as in `Part`."""
        return Part(self.part, self.drawn, above, below, late, more, folds)


@dataclass(frozen=True)
class Caption:
    """The facts for a picture's caption. models, texts: one, several for a comparison, or none; options: the other choices;
    where: its provenance (`ui.picture.provenance`)."""

    picture: str
    name: str  # the picture, and what it is of
    models: tuple[str, ...]
    texts: tuple[str, ...]
    options: tuple[str, ...]
    stem: str  # what its files are called, without an ending
    where: dict[str, Any]

    @property
    def title(self) -> str:
        models = " and ".join(model.split(" (")[0] for model in self.models)
        return f"{self.name} in {models}" if models else self.name

    def __str__(self) -> str:
        options = f" Shown: {', '.join(self.options)}." if self.options else ""
        models = f" Model: {'; '.join(self.models)}." if self.models else ""
        texts = f" Text: {' / '.join(f'“{short(text)}”' for text in self.texts)}." if self.texts else ""
        return f"{self.name}.{models}{texts}{options} Made with Headlight."


def short(text: str) -> str:
    """Return a text on one line, shortened if it is long."""
    line = re.sub(r"\s+", " ", text)
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}… ({len(text):,} characters)"
