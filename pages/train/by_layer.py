"""Heat maps of layer and step for a transformer that learns: gradients, updates, the stream and the heads' entropy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pages.train import recipes
from pages.train import state as page_state
from pages.train.control import describe
from ui.choices.widgets import one_of
from ui.picture.picture import Numbers, Picture
from ui.show import show
from ui.words import say

if TYPE_CHECKING:
    from models.training.live import Training

MEASURES = dict(zip(page_state.MEASURED.values, ("gradient", "update", "lost", "spread", "mean", "entropy"), strict=True))


def choose(here: Path) -> str:
    """Place the menu of what is measured, and a sentence on it; return its name."""
    name = one_of(page_state.MEASURED, page_state.MEASURED.values, "what is measured", label="In each layer", menu=True)
    say(here, f"by layer {MEASURES[name]}")
    return MEASURES[name]


def place(here: Path, training: Training) -> list[Picture]:
    """Draw what is chosen for each layer over the steps; return the picture, and none before the first step."""
    measure = choose(here)
    if measure == "entropy" and not training.config.heads:
        say(here, "no heads")
        return []
    values, rows, steps = measured(training, measure)
    if not steps:
        say(here, "by layer none")
        return []
    drawing = Picture(
        recipes.by_layer,
        (),
        {"rows": rows, "steps": steps, "measure": measure},
        f"train-by-layer-{measure}",
        lambda: {measure: Numbers(values, ("row", "step"), {"row": rows, "step": [str(step) for step in steps]})},
        words=describe(training),
        title=next(name for name, of in MEASURES.items() if of == measure),
        data={"values": values},
    )
    show(drawing.drawn, drawing.key)
    return [drawing]


def measured(training: Training, measure: str) -> tuple[np.ndarray, list[str], list[int]]:
    """Return the numbers, float32 [row, step], the names of the rows, and the steps."""
    if measure == "entropy":
        snapshots = list(training.snapshots)
        layers, heads = snapshots[0].entropy.shape
        rows = [f"L{layer} H{head}" for layer in range(layers) for head in range(heads)]
        return np.stack([snapshot.entropy.ravel() for snapshot in snapshots], 1), rows, [snapshot.step for snapshot in snapshots]
    each = list(training.layer_steps)
    outside = "embedding" if measure in ("mean", "spread") else "outside"
    rows = [outside, *(f"L{layer}" for layer in range(training.config.layers))]
    values: Any = [getattr(step, measure) for step in each]
    return np.stack(values, 1) if values else np.empty((len(rows), 0), np.float32), rows, [step.step for step in each]
