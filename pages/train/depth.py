"""Depth: the gradient that reaches each layer of a stack before its first step, with residuals and without."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from pages.train import recipes
from ui import effort, state
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.picture.take_away import take_away
from ui.show import picture, show_chart
from ui.words import say, words

KEY = "depth-gradients"


def place(here: Path) -> None:
    """Place the gradients, folded."""
    if state.level() == "beginner":
        return
    from analysis.depth import LAYERS, SEEDS, gradients_by_depth

    with st.expander(words(here, "depth title")), picture("The gradients"):
        above = st.container()
        say(here, "depth", layers=LAYERS, seeds=len(SEEDS))
        key = ("depth",)
        if not effort.is_begun(key):
            effort.offer("Measure it", key)
            return
        values = jobs.result(key, lambda report: gradients_by_depth(report=report), "Measuring gradients")
        if values is None:
            return
        drawn = chart({name_of(*variant): norms for variant, norms in values.items()})
        say(here, "depth finding", **factors(values))
        show_chart(drawn.drawn, KEY, config={"displayModeBar": False})
        with above:
            take_away("depth", lambda: [drawn])


def name_of(norm_place: str, residuals: bool) -> str:
    return f"norm {norm_place}{'' if residuals else ', no residuals'}"


def factors(values: dict[tuple[str, bool], np.ndarray]) -> dict[str, str]:
    """Return, for a sentence, the first layer's gradient as a multiple of the last one's: the geometric mean of the seeds."""
    ratio = {variant: np.exp(np.log(norms[:, 0] / norms[:, -1]).mean()) for variant, norms in values.items()}
    return {f"{place}{'' if residuals else '_none'}": f"{value:.2g}" for (place, residuals), value in ratio.items()}


def chart(lines: dict[str, np.ndarray]) -> Picture:
    """Draw the norms, [seed, layer], of each variant: their geometric mean, with a band from the lowest to the highest."""
    data: dict[str, np.ndarray] = {}
    for i, norms in enumerate(lines.values()):
        data |= {f"x{i}": np.arange(norms.shape[1]), f"y{i}": np.exp(np.log(norms).mean(0))}
        data |= {f"low{i}": norms.min(0), f"high{i}": norms.max(0)}
    names, layers = list(lines), next(iter(lines.values())).shape[1]
    look = {"log": True, "along": "layer", "up": "norm of the gradient"}
    options = {"names": names, "total": layers - 1, "at": None, "options": look}

    def numbers() -> dict[str, Numbers]:
        return {"norm": Numbers(np.stack(list(lines.values())), ("variant", "seed", "layer"), {"variant": names})}

    return Picture(
        recipes.curves, (), options, KEY, numbers, words="before the first step", title="Gradients by depth", data=data
    )
