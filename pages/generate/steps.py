"""The steps of a text as a table: each token that was said, and what decided it."""

from __future__ import annotations

import numpy as np

from models.generation import Step
from models.strategy import Strategy
from pages.generate import recipes
from pages.generate.grown import Grown
from pages.generate.shown import BOARD, what_was_said
from ui.look import Look
from ui.picture.caption import caption
from ui.picture.files import csv
from ui.picture.picture import Numbers, Picture
from ui.picture.take_away import file

NOTHING = float("nan")


def offer(made: Picture, grown: Grown, look: Look) -> None:
    """A button beside the files of the text; a row a token."""
    if made.part == "text" and grown.steps:
        table = as_picture(grown, look)
        said = caption(table)
        file("Steps (CSV)", said, "csv", "text/csv", lambda: csv(table, said), "Each token that was said, and what decided it.")


def as_picture(grown: Grown, look: Look) -> Picture:
    """The table, as what can be taken away."""
    return Picture(
        recipes.text, (look,), {"said": what_was_said(grown)}, BOARD, lambda: columns(grown.steps), title="Steps", part="steps",
        takes=("model", "trace"),
    )  # fmt: skip


def columns(steps: list[Step]) -> dict[str, Numbers]:
    """Of each step its token, the token's probability before the controls and after them, and where its draw fell; NaN where
    nothing was drawn."""
    before = recipes.chances(steps)
    found = {
        "token": [step.token.text for step in steps],
        "id": [step.token.id for step in steps],
        "after": [step.tokens[-1].text for step in steps],
        "before_controls": before,
        "after_controls": [step.probability for step in steps],
        "log_probability": np.log(before),
        "draw": [NOTHING if step.dart is None else step.dart for step in steps],
        "method": [method(step.strategy, step.dart) for step in steps],
        "seed": [step.strategy.seed for step in steps],
        "tokens_read": [step.read.tokens for step in steps],
        "milliseconds": [1000 * step.read.seconds for step in steps],
        "bytes_kept": [step.read.bytes for step in steps],
        "dropped": [step.dropped for step in steps],
        "end": [step.end for step in steps],
    }
    return {name: Numbers(np.array(values), ("step",)) for name, values in found.items()}


def method(strategy: Strategy, dart: float | None) -> str:
    """How a token was chosen; sampling that drew nothing is a press on another token."""
    return "pressed" if strategy.method == "sampling" and dart is None else strategy.method
