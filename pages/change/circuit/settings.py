"""The settings of a circuit: its prediction, how much of it to keep, and the replacement of other parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pages.change.asked import Question
from pages.change.circuit import recipes
from ui.picture.picture import Numbers, Picture
from viz.figures.circuit import MOST

TIMES = 8  # about how often the text is read for each part
FEW, ALL = 12, MOST  # lines that are drawn: at first, and when all are asked for
MORE = 150  # readings besides, for random sets and edges


@dataclass(frozen=True)
class Settings:
    """The settings of a circuit. keep: the share of the prediction to keep; fill: as in `analysis.Behaviour`; most: how many
    lines are drawn."""

    question: Question
    keep: float
    fill: str
    other: str
    most: int = FEW

    @property
    def options(self) -> dict[str, Any]:
        question = self.question
        return {
            "position": question.position,
            "token": question.token,
            "against": question.against,
            "keep": self.keep,
            "fill": self.fill,
            "other": self.other,
            "second": question.look.second,
        }

    @property
    def key(self) -> tuple:
        return ("circuit", *self.question.key, self.keep, self.fill, self.other)

    @property
    def readings(self) -> int:
        """The approximate number of times that the text is read."""
        info = self.question.look.model.info
        layers, heads = (info.decoder_layers, 2 * info.decoder_heads) if self.question.trace.target else (info.layers, info.heads)
        return TIMES * layers * (heads + 1) + MORE

    def picture(
        self,
        recipe: Callable,
        key: str,
        title: str,
        options: dict[str, Any],
        numbers: Callable[[], dict[str, Numbers]],
        wiring: recipes.Wiring,
    ) -> Picture:
        return Picture(
            recipe,
            (self.question.look,),
            {**self.options, **options},
            key,
            numbers,
            title=title,
            words=f"for {self.question.description}",
            takes=("model", "trace"),
            known={"wiring": wiring},
        )
