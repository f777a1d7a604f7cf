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
    rates = training.curves.rate[:]  # of a step it is known a little later than the rest
    noted = {name: values[: len(rates)] for name, values in weight.noted().items()}
    if not len(noted["value"]):
        say(here, "by layer none")
        return []
    say_step(here, training.budget.optimizer, rates, noted, step)
    lines = LINES if np.isfinite(noted["root"]).any() else {name: title for name, title in LINES.items() if name != "root"}
    what = f"{weight.name}, {describe(training)}"
    drawn = [
        chart(noted, step, training.budget.steps, lines, "Gradient and memory", what),
        chart(noted, step, training.budget.steps, MOVES, "The number", what),
    ]
    for each in drawn:
        show_chart(each.drawn, each.key, config={"displayModeBar": False})
    return drawn


def say_step(here: Path, optimizer: str, rates: list[float], noted: dict[str, np.ndarray], step: int) -> None:
    """Say what the shown step does to the number, or the first one where none was taken yet."""
    at = min(max(step, 1), len(noted["value"])) - 1
    facts: dict[str, Any] = {"step": at + 1, "rate": f"{rates[at]:.3g}", "optimizer": optimizer}
    facts |= {name: written(float(values[at])) for name, values in noted.items()}
    say(here, f"one weight {'adam' if np.isfinite(noted['root'][at]) else 'momentum'}", **facts)


def written(number: float) -> str:
    return f"{number:.3g}".replace("-", "−")


def chart(noted: dict[str, np.ndarray], step: int, total: int, lines: dict[str, str], title: str, what: str) -> Picture:
    """Draw some of the numbers over the steps. total: of the whole training; what: the words of the caption."""
    steps = np.arange(1, len(noted["value"]) + 1)
    data = {f"{axis}{i}": each for i, name in enumerate(lines) for axis, each in (("x", steps), ("y", noted[name]))}
    options = {"names": list(lines.values()), "total": total, "at": step, "options": {}}
    key = f"train-one-weight-{'-'.join(lines)}"

    def numbers() -> dict[str, Numbers]:
        return {name: Numbers(noted[name], ("step",), {"step": steps.tolist()}) for name in lines}

    return Picture(recipes.curves, (), options, key, numbers, words=what, title=title, data=data)
