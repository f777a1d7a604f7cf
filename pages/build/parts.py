"""The parts of page "Build": each takes a config and the lengths of source and target, and places what it shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from analysis import cost
from analysis.encodings import encoding
from analysis.scaling import scaling
from models.scratch.config import TransformerConfig
from models.sizes import size
from pages.build import plan
from ui import state
from ui.choices.widgets import one_of
from ui.memory import jobs
from ui.show import show, show_chart
from ui.words import say
from viz.figures import build
from viz.figures.heatmap import heatmap
from viz.figures.style import BAR_ROOM
from viz.numbers import percent
from viz.views.architecture import architecture

LARGEST = 100_000_000  # parameters that are built here, to be measured
SCORES = "self-attention: scores"
ADDED = {"title": "The numbers that each position adds", "says": "How alike two positions are", "unit": "how alike"}
BIASED = {"values": None, "says": "What is added to the score", "unit": "added"}
# What a beginner sees of `encoding`: names without formulas, and no map of angles or of scores
PLAIN: dict[str, dict[str, Any]] = {
    "sinusoidal": ADDED, "learned": ADDED, "alibi": BIASED, "relative": BIASED,
    "rotary": {"values": None, "says": "How well two equal tokens match", "unit": "1: as well as at the same place"},
}  # fmt: skip
SIMPLY = {  # the parts of the costs as a beginner meets them in the diagram
    "self-attention: q, k, v, output": "attention: what it prepares and passes on",
    "self-attention: scores": "attention: looking back",
    "cross-attention: q, k, v, output": "attention to the text: what it prepares and passes on",
    "cross-attention: scores": "attention to the text: looking", "norms": "evening out", "unembedding": "answer",
}  # fmt: skip
SEEN = 64  # positions of a picture of masks, at the most
OF = {"parameters": "parameters", "operations": "flops", "activations": "activations"}  # as people say, as `analysis.cost` does


def diagram(here: Path, config: TransformerConfig, n: int, m: int) -> None:
    say(here, "architecture", tokens=n)
    show(architecture(plan.columns(config, n, m, plan.plain_stack if state.level() == "beginner" else None)), "architecture")


def costs(here: Path, config: TransformerConfig, n: int, m: int) -> None:
    """Formulas and numbers, and beside them what was counted in a network that was built and run."""
    found = cost.costs(config, n, m)
    total = sum(one.parameters.value for one in found)
    left, middle, right = st.columns(3)
    left.metric("Parameters", _short(total))
    middle.metric(f"Operations for {n} tokens", _short(sum(one.flops.value for one in found)))
    cached = "none" if config.kind == "encoder" else size(cost.cache_bytes(config, m if config.kind == "encoder-decoder" else n))
    right.metric("Keys and values kept", cached)
    measured = None
    if n > config.context or m > config.context:
        st.info(
            f"This text has {max(n, m)} tokens, more than the context of {config.context}, "
            "so the cost is calculated but not measured."
        )
    elif total > LARGEST:
        st.info(
            f"It has {_short(total)} parameters. Its cost is calculated but not measured, "
            f"because at most {_short(LARGEST)} are built here."
        )
    else:
        measured = jobs.result(("cost", config, n, m), lambda report: cost.measure(config, n, m), "Building and measuring it")
    offered = tuple(OF)[:2] if state.level() == "beginner" else tuple(OF)
    what = one_of(state.COST_OF, tuple(OF), "", label="Of each part", offered=offered)
    st.table(_table(found, measured, OF[what]), border="horizontal")
    weights = size(cost.scores_bytes(config, n))
    seconds = "" if measured is None else f"{1000 * measured.seconds:,.1f} ms"
    scores = next(one.flops for one in found if one.part == SCORES)
    say(
        here, "cost", symbols=cost.SYMBOLS, weights=weights, tokens=n, seconds=seconds or "not run", scores=scores.formula,
        crossing=_from(cost.crossing(config)), feedforward=_from(cost.crossing(config, "feed-forward")),
    )  # fmt: skip
    if config.pattern != "full":
        say(here, "pattern", pattern=config.pattern, **_met(config, n, m))
    lengths = np.unique(np.geomspace(16, cost.FURTHEST if config.pattern in ("random", "bigbird") else 65_536, 25).astype(int))
    figure = build.lines(
        lengths, _growing(config, lengths), "Where attention overtakes", "tokens", "operations", log_x=True, log_y=True
    )
    show_chart(figure, "crossing")


def _from(length: float) -> str:
    return "at no length of text" if length == float("inf") else f"from {length:,} tokens on"


def _met(config: TransformerConfig, n: int, m: int) -> dict[str, str]:
    """How many pairs the pattern lets meet, and of how many, in all stacks."""
    from models.scratch.masks import pairs

    stacks = {"decoder": [(n, False)], "encoder": [(n, True)], "encoder-decoder": [(n, True), (m, False)]}[config.kind]
    met, square = sum(pairs(config, *one) for one in stacks), sum(length**2 for length, _ in stacks)
    return {"pairs": f"{met:,}", "square": f"{square:,}"}


def _growing(config: TransformerConfig, lengths: np.ndarray) -> dict[str, np.ndarray]:
    """The operations of the scores and of what they are compared with, at each length."""
    series: dict[str, list[int]] = {_called(SCORES): [], "all other parts together": [], "of these, the feed-forward": []}
    for length in lengths:
        flops: Counter[str] = Counter()
        for one in cost.costs(config, int(length)):
            flops[one.part] += one.flops.value
        for name, value in zip(series, (flops[SCORES], flops.total() - flops[SCORES], flops["feed-forward"]), strict=True):
            series[name].append(value)
    return {name: np.array(values) for name, values in series.items()}


def masks(here: Path, config: TransformerConfig, n: int, m: int) -> None:
    """Who may see whom, for a text of this length."""
    from models.scratch.masks import mask

    count = min(n, SEEN)
    found = mask(config, count, count, future=config.kind == "encoder")
    seen = np.ones((count, count), dtype=bool) if found is None else found.reshape(count, count).numpy()
    share = seen.mean()
    say(here, "masks", pattern=config.pattern, share=percent(share), count=count, pairs=f"{int(seen.sum()):,}")
    show_chart(mask_figure(seen), "mask")


def mask_figure(seen: np.ndarray) -> go.Figure:
    """Who may see whom, [query, key]: what is masked stays blank, as in every picture of attention."""
    positions = [str(i) for i in range(len(seen))]
    figure = heatmap(positions, positions, np.where(seen, 1.0, np.nan), title="Who may see whom")
    hover = "from %{y} to %{x}: may see<extra></extra>"
    figure.update_traces(showscale=False, hovertemplate=hover)
    figure.update_layout(margin_t=figure.layout.margin.t - BAR_ROOM, height=figure.layout.height - BAR_ROOM)
    return figure


def positions(here: Path, config: TransformerConfig, n: int, m: int) -> None:
    """What positions add or turn, and how much of it depends on the distance."""
    found = encoding(config, min(max(n, 64), config.context))
    say(here, f"positions {config.positions}")
    if state.level() == "beginner":
        found = replace(found, wavelengths=None, **PLAIN.get(config.positions, {}))
    if found.values is not None:
        show_chart(build.encoding_heatmap(found.values, found.title, found.across, found.down), "encoding")
    if found.by_distance:
        figure = build.lines(found.distances, found.by_distance, found.says, "distance in tokens", found.unit)
        show_chart(figure, "by-distance")
    if found.wavelengths is not None:
        pairs = np.arange(len(found.wavelengths))
        figure = build.lines(
            pairs, {"wavelength": found.wavelengths}, "Tokens until it comes round", "pair of dimensions", "tokens", log_y=True
        )
        show_chart(figure, "wavelengths")


def root(here: Path, config: TransformerConfig, n: int, m: int) -> None:
    """Why the scores are divided by √d_k."""
    table = scaling()
    at = scaling(sizes=(config.d_head,)).iloc[0]
    say(
        here, "root", size=config.d_head, spread=f"{at.spread:.2f}", expected=f"{at.expected:.2f}",
        plain=f"{at.entropy_plain:.2f}", scaled=f"{at.entropy_scaled:.2f}", even=f"{np.log(32):.2f}",
        largest=percent(at.largest_plain),
        least=percent(at.largest_scaled),
    )  # fmt: skip
    x, pictures = (
        table["d_k"].to_numpy(),
        {
            "Spread of q·k": ("standard deviation", {"measured": table["spread"], "√d_k": table["expected"]}),
            "Entropy of the softmax": ("nats", {"q·k": table["entropy_plain"], "q·k / √d_k": table["entropy_scaled"]}),
            "Slope of the softmax": (
                "size of its Jacobian",
                {"q·k": table["gradient_plain"], "q·k / √d_k": table["gradient_scaled"]},
            ),
        },
    )
    for title, (unit, series) in pictures.items():
        curves = {name: values.to_numpy() for name, values in series.items()}
        figure = build.lines(x, curves, title, "d_k", unit, log_x=True, log_y=title.startswith("Spread"))
        show_chart(figure, title)


def _table(found: list[cost.Cost], measured: cost.Measured | None, what: str) -> pd.DataFrame:
    """A row for each part that costs something: formula, value, and what was counted."""
    write, rows = size if what == "activations" else _plain, []
    for one in found:
        term, row = getattr(one, what), {"part": f"{one.stack} {_called(one.part)}".strip()}
        if not term.formula:
            continue
        if state.level() != "beginner":
            row["formula"] = term.formula
        row["here"] = write(term.value)
        if state.level() != "beginner":
            row["counted"] = "" if measured is None else write(getattr(measured, what).get((one.part, one.stack), 0))
        rows.append(row)
    return pd.DataFrame(rows).set_index("part")


def _called(part: str) -> str:
    """A part of the costs as this level calls it."""
    return SIMPLY.get(part, part) if state.level() == "beginner" else part


def _plain(value: int) -> str:
    return f"{value:,}" if value else "0"


def _short(value: int) -> str:
    for unit, one in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if value >= one:
            return f"{value / one:.3g} {unit}"
    return f"{value:,}"
