"""Scale: many small models learn the same book, and their losses are drawn against their size, operations, or depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.train import recipes
from pages.train import state as page_state
from pages.train.summary import spread
from ui import effort, state
from ui.choices.widgets import one_of
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.picture.take_away import take_away
from ui.show import picture, show_chart
from ui.words import say, words

if TYPE_CHECKING:
    from analysis.sweep import PowerLaw, Run, Size

SECONDS = {"size and text": 240.0, "depth or width": 120.0}  # about what a sweep takes on one quiet core
PER_SIZE, PER_OPERATION, PER_DEPTH = "scale-parameters", "scale-operations", "scale-depth"


def place(here: Path) -> None:
    """Place the choice of a sweep, its button, and what came out."""
    if state.level() == "beginner":
        return
    with st.expander(words(here, "scale title")):
        above = st.container(horizontal=True, vertical_alignment="bottom")
        with above:
            name = one_of(page_state.SWEEP, page_state.SWEEP.values, "the sweep", label="Compare")
        name = name.lower()
        from analysis.sweep import SEEDS, SWEEPS, sweep

        sizes = SWEEPS[name]
        key = ("sweep", name, sizes)
        say(here, f"scale {name}", runs=len(sizes) * len(SEEDS), seeds=len(SEEDS))
        if not effort.is_begun(key):
            effort.offer(f"Train {len(sizes) * len(SEEDS)} small models ({effort.format_duration(SECONDS[name])})", key)
            return
        with picture("The sweep"):
            runs = jobs.result(key, lambda report: sweep(sizes, report=report), "Training small models")
            if runs is not None:
                drawn = draw(here, name, runs)
                with above:
                    take_away("scale", lambda: drawn)


def draw(here: Path, name: str, runs: list[Run]) -> list[Picture]:
    """Draw what came out of a sweep, and say it."""
    if name == "depth or width":
        drawn = [by_depth(runs)]
        say_depth(here, runs)
        show_chart(drawn[0].drawn, PER_DEPTH, config={"displayModeBar": False})
        return drawn
    from analysis.sweep import fit, frontier, largest_text

    largest = largest_text(runs)
    laws = fit([run.parameters for run in largest], [run.losses[-1] for run in largest]), fit(*frontier(largest))
    parameters = [run.parameters for run in largest]
    times = f"{max(parameters) / min(parameters):.0f}"
    say(here, "scale law", **facts_of(laws[0]), bytes=f"{largest[0].size.learned:,}", times=times)
    say_text(here, runs)
    drawn = [by_parameters(runs, laws[0]), by_operations(largest, laws[1])]
    for place, each, heading in zip(st.columns(2), drawn, ("scale parameters", "scale operations"), strict=True):
        with place:
            show_chart(each.drawn, each.key, config={"displayModeBar": False})
            say(here, heading, **facts_of(laws[1]))
    return drawn


def facts_of(law: PowerLaw) -> dict[str, str]:
    """Return the values for a sentence about a power law."""
    clear = "no clear trend: the interval has 0 in it" if not law.is_clear else "a clear trend: the interval is apart from 0"
    numbers = {"exponent": law.exponent, "low": law.low, "high": law.high}
    return {name: f"{value:.3f}".replace("-", "−") for name, value in numbers.items()} | {"clear": clear}


def say_text(here: Path, runs: Sequence[Run]) -> None:
    """Say what the largest model gains from more text, beside what it knows of the text that it learned from."""
    width = max(run.size.width for run in runs)
    least, most = (
        [run for run in runs if run.size.width == width and run.size.learned == end]
        for end in (min(run.size.learned for run in runs), max(run.size.learned for run in runs))
    )
    facts = {"width": width, "few": f"{least[0].size.learned:,}", "many": f"{most[0].size.learned:,}"}
    for name, members in (("few", least), ("many", most)):
        facts |= {f"{name}_loss": mean_of(members, lambda run: float(run.losses[-1]))}
        facts |= {f"{name}_learned": mean_of(members, lambda run: run.on_learned)}
    say(here, "scale text", **facts)


def say_depth(here: Path, runs: Sequence[Run]) -> None:
    """Say which depth is best, where each of its runs is better than all others, beside how often that happens by chance."""
    from math import comb

    each = grouped(runs, lambda size: size.layers)
    means = {layers: float(np.mean([run.losses[-1] for run in members])) for layers, members in each.items()}
    best = min(means, key=means.__getitem__)
    others = [float(run.losses[-1]) for layers, members in each.items() if layers != best for run in members]
    apart = max(float(run.losses[-1]) for run in each[best]) < min(others)
    luck = len(each) / comb(len(runs), len(each[best]))
    table = pd.DataFrame(
        [
            [
                members[0].size.width,
                f"{members[0].parameters:,}",
                spread([float(run.losses[-1]) for run in members], lambda value: f"{value:.3f}"),
            ]
            for members in each.values()
        ],
        index=[f"{layers} layer{'s' * (layers > 1)}" for layers in each],
        columns=["Width", "Parameters", "Loss on held-out text, nats a byte"],
    )
    say(
        here,
        "scale depth best" if apart else "scale depth none",
        layers=best,
        loss=f"{means[best]:.3f}",
        luck=f"{100 * luck:.0f}",
    )
    st.table(table, border="horizontal")


def grouped(runs: Sequence[Run], by: Callable[[Size], int]) -> dict[int, list[Run]]:
    """Return the runs by what a function returns of their size, the smallest first."""
    return {at: [run for run in runs if by(run.size) == at] for at in sorted({by(run.size) for run in runs})}


def mean_of(runs: Sequence[Run], value: Callable[[Run], float]) -> str:
    return f"{np.mean([value(run) for run in runs]):.2f}"


def lines(series: dict[str, list[tuple[float, list[float]]]]) -> dict[str, np.ndarray]:
    """Return the arrays of the recipe for lines, by name: each point's place and the losses of its runs."""
    data: dict[str, np.ndarray] = {}
    for i, points in enumerate(series.values()):
        losses = [values for _, values in points]
        data |= {f"x{i}": np.array([x for x, _ in points])}
        data |= {f"{part}{i}": np.array([of(values) for values in losses]) for part, of in PARTS.items()}
    return data


PARTS: dict[str, Callable[[list[float]], float]] = {"y": lambda values: float(np.mean(values)), "low": min, "high": max}


def by_parameters(runs: Sequence[Run], law: PowerLaw) -> Picture:
    series = {
        f"{learned:,} bytes": [
            (float(same[0].parameters), [float(run.losses[-1]) for run in same])
            for same in grouped(members, lambda size: size.width).values()
        ]
        for learned, members in grouped(runs, lambda size: size.learned).items()
    }
    ends = np.array(sorted({float(run.parameters) for run in runs}))[[0, -1]]
    data = lines(series) | {"law_x": ends, "law_y": law(ends)}
    options: dict[str, Any] = {
        "names": list(series),
        "across": "parameters without the embedding",
        "law_name": f"∝ N<sup>{signed_exponent(law)}</sup>",
    }
    return chart(PER_SIZE, "Loss by parameters", options, data, runs)


def by_operations(runs: Sequence[Run], law: PowerLaw) -> Picture:
    series = {
        f"width {width}": [
            (float(at), [float(run.losses[moment]) for run in members]) for moment, at in enumerate(members[0].operations)
        ]
        for width, members in grouped(runs, lambda size: size.width).items()
    }
    ends = np.array([min(run.operations[0] for run in runs), max(run.operations[-1] for run in runs)])
    data = lines(series) | {"law_x": ends, "law_y": law(ends)}
    options: dict[str, Any] = {
        "names": list(series),
        "across": "operations of the training",
        "law_name": f"∝ C<sup>{signed_exponent(law)}</sup>",
    }
    return chart(PER_OPERATION, "Loss by operations", options, data, runs)


def by_depth(runs: Sequence[Run]) -> Picture:
    points = [
        (float(layers), [float(run.losses[-1]) for run in members])
        for layers, members in grouped(runs, lambda size: size.layers).items()
    ]
    series = {"about as many parameters": points}
    return chart(PER_DEPTH, "Loss by layers", {"names": list(series), "across": "layers"}, lines(series), runs)


def signed_exponent(law: PowerLaw) -> str:
    return f"{law.exponent:.3f}".replace("-", "−")


def chart(key: str, title: str, options: dict[str, Any], data: dict[str, np.ndarray], runs: Sequence[Run]) -> Picture:
    """Return the picture of some losses, with those of every run and moment as its numbers."""

    def numbers() -> dict[str, Numbers]:
        moments = [(run, moment) for run in runs for moment in range(len(run.losses))]
        columns = {
            "layers": [run.size.layers for run, _ in moments],
            "width": [run.size.width for run, _ in moments],
            "bytes learned from": [run.size.learned for run, _ in moments],
            "seed": [run.seed for run, _ in moments],
            "parameters": [run.parameters for run, _ in moments],
            "operations": [float(run.operations[at]) for run, at in moments],
            "loss": [float(run.losses[at]) for run, at in moments],
        }
        return {name: Numbers(np.array(values), ("point",)) for name, values in columns.items()}

    return Picture(recipes.scale, (), options, key, numbers, words="of small models that learned a book", title=title, data=data)
