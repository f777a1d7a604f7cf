"""The steps of a text as a table: each token, and the numbers that decided it."""

from __future__ import annotations

import numpy as np

from models.generation.generate import Step
from models.generation.strategy import Strategy
from pages.generate import recipes
from pages.generate.continuation import Continuation
from pages.generate.parts import BOARD, replay
from ui.look import Look
from ui.picture.caption import caption
from ui.picture.files import csv
from ui.picture.picture import Numbers, Picture
from ui.picture.take_away import file

NOTHING = float("nan")


def offer(picture: Picture, continuation: Continuation, look: Look) -> None:
    """Place a button, beside the text's other downloads, for a table with a row for each token."""
    if picture.part == "text" and continuation.steps:
        table = as_picture(continuation, look)
        table_caption = caption(table)
        file(
            "Steps (CSV)",
            table_caption,
            "csv",
            "text/csv",
            lambda: csv(table, table_caption),
            "Each token that was said, and what decided it.",
        )


def as_picture(continuation: Continuation, look: Look) -> Picture:
    """Return the table as a picture, which can be downloaded."""
    return Picture(
        recipes.text,
        (look,),
        {"answer": replay(continuation)},
        BOARD,
        lambda: columns(continuation.steps),
        title="Steps",
        part="steps",
        takes=("model", "trace"),
    )


def columns(steps: list[Step]) -> dict[str, Numbers]:
    """Return the table's columns: for each step its token, the token's probability before and after the controls, and where its
    draw fell, NaN if nothing was drawn."""
    before = recipes.chances(steps)
    lists = {
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
    return {name: Numbers(np.array(values), ("step",)) for name, values in lists.items()}


def method(strategy: Strategy, dart: float | None) -> str:
    """Return how a token was chosen; "pressed" for a clicked token, for which sampling drew nothing."""
    return "pressed" if strategy.method == "sampling" and dart is None else strategy.method
