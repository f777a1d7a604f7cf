"""One number of a layer while it learns: its gradient, what the optimizer remembers of it, and how each step moves it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pages.train import recipes
from pages.train import state as page_state
from pages.train.control import describe
from ui.choices.widgets import one_of
from ui.picture.picture import Numbers, Picture
from ui.show import show_chart
from ui.words import say

if TYPE_CHECKING:
    from models.training.live import Training
    from models.training.one_weight import OneWeight

LINES = {"gradient": "gradient", "mean": "its running mean, m", "root": "root of the mean square, √v"}
MOVES = {"value": "the number itself"}


def place(here: Path, training: Training, step: int) -> list[Picture]:
    """Draw what happens to one number over the steps, and say what one step does; return the pictures. step: the one that is
    shown."""
    weights = training.one_weights
    names = {f"layer {number}": weight for number, weight in enumerate(weights)}
    chosen = one_of(page_state.WEIGHT_OF, tuple(names), "the layer of the number", label="One number of", menu=True)
    weight = names[chosen]
    say(here, "one weight", matrix=weight.name)
    if not len(weight.value):
        say(here, "by layer none")
        return []
    say_step(here, training, weight, step)
    lines = LINES if np.isfinite(weight.root).any() else {name: title for name, title in LINES.items() if name != "root"}
    drawn = [chart(training, weight, step, lines, "Gradient and memory"), chart(training, weight, step, MOVES, "The number")]
    for each in drawn:
        show_chart(each.drawn, each.key, config={"displayModeBar": False})
    return drawn


def say_step(here: Path, training: Training, weight: OneWeight, step: int) -> None:
    """Say what the shown step does to the number, or the first one where none was taken yet."""
    at = min(max(step, 1), len(weight.value)) - 1
    facts: dict[str, Any] = {"step": at + 1, "rate": f"{training.curves.rate[at]:.3g}", "optimizer": training.budget.optimizer}
    facts |= {name: written(getattr(weight, name)[at]) for name in ("value", "gradient", "mean", "root", "moved")}
    say(here, f"one weight {'adam' if np.isfinite(weight.root[at]) else 'momentum'}", **facts)


def written(number: float) -> str:
    return f"{number:.3g}".replace("-", "−")


def chart(training: Training, weight: OneWeight, step: int, lines: dict[str, str], title: str) -> Picture:
    """Draw some of the numbers over the steps."""
    steps = np.arange(1, len(weight.value) + 1)
    values = {name: np.frombuffer(getattr(weight, name), dtype=np.float32)[: len(steps)].copy() for name in lines}
    data = {f"{axis}{i}": each for i, name in enumerate(lines) for axis, each in (("x", steps), ("y", values[name]))}
    options = {"names": list(lines.values()), "total": training.budget.steps, "at": step, "options": {}}
    key = f"train-one-weight-{'-'.join(lines)}"

    def numbers() -> dict[str, Numbers]:
        return {name: Numbers(array, ("step",), {"step": steps.tolist()}) for name, array in values.items()}

    return Picture(
        recipes.curves, (), options, key, numbers, words=f"{weight.name}, {describe(training)}", title=title, data=data
    )
