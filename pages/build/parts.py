"""The parts of page "Build": each takes a config and the lengths of source and target, and places what it shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from analysis import cost
from analysis.encodings import encoding
from analysis.scaling import scaling
from models.scratch.config import TransformerConfig
from pages.build import plan
from ui import jobs, state
from ui.show import show
from ui.words import say
from viz import build
from viz.architecture import architecture
from viz.heatmap import heatmap

LARGEST = 100_000_000  # parameters that are built here, to be measured
SEEN = 64  # positions of a picture of masks, at the most
CHART = {"displaylogo": False}
OF = {"parameters": "parameters", "operations": "flops", "activations": "activations"}  # as people say, as `analysis.cost` does


def diagram(here: Path, config: TransformerConfig, n: int, m: int) -> None:
    say(here, "architecture", tokens=n)
    show(architecture(plan.columns(config, n, m)), "architecture")


def costs(here: Path, config: TransformerConfig, n: int, m: int) -> None:
    """Formulas and numbers, and beside them what was counted in a network that was built and run."""
    found = cost.costs(config, n, m)
    total = sum(one.parameters.value for one in found)
    left, middle, right = st.columns(3)
    left.metric("Parameters", _short(total))
    middle.metric(f"Operations for {n} tokens", _short(sum(one.flops.value for one in found)))
    cached = (
        "none" if config.kind == "encoder" else _bytes(cost.cache_bytes(config, m if config.kind == "encoder-decoder" else n))
    )
    right.metric("Keys and values kept", cached)
    measured = None
    if n > config.context or m > config.context:
        st.info(f"This text has {max(n, m)} tokens, more than the context of {config.context}: it is reckoned, not run.")
    elif total > LARGEST:
        st.info(
            f"Its {_short(total)} parameters are reckoned, not built: to be measured, at most {_short(LARGEST)} are built here."
        )
    else:
        measured = jobs.result(("cost", config, n, m), lambda report: cost.measure(config, n, m), "Building and measuring it")
    what = st.segmented_control("Of each part", tuple(OF), default="parameters", required=True, key="cost-of")
    st.table(_table(found, measured, OF[what]), border="horizontal")
    at = cost.crossing(config)
    from_ = "never" if at == float("inf") else f"from {at:,.0f} tokens on"
    weights = _bytes(cost.scores_bytes(config, n))
    seconds = "" if measured is None else f"{1000 * measured.seconds:,.1f} ms"
    say(here, "cost", symbols=cost.SYMBOLS, crossing=from_, weights=weights, tokens=n, seconds=seconds or "not run")
    lengths = np.unique(np.geomspace(16, 65_536, 25).astype(int))
    by_part = {"feed-forward": [], "self-attention: scores": [], "self-attention: q, k, v, output": []}
    for length in lengths:
        flops = {one.part: one.flops.value for one in cost.costs(config, int(length)) if one.stack != "decoder"}
        for part, values in by_part.items():
            values.append(flops[part])
    figure = build.lines(lengths, by_part, "Where attention overtakes", "tokens", "operations", log_x=True, log_y=True)
    st.plotly_chart(figure, key="crossing", config=CHART)


def masks(here: Path, config: TransformerConfig, n: int, m: int) -> None:
    """Who may see whom, for a text of this length."""
    from models.scratch.masks import mask

    count = min(n, SEEN)
    found = mask(config, count, count, future=config.kind == "encoder")
    seen = np.ones((count, count), dtype=bool) if found is None else found.reshape(count, count).numpy()
    positions = [str(i) for i in range(count)]
    share = seen.mean()
    say(here, "masks", pattern=config.pattern, share=f"{100 * share:.3g} %", count=count, pairs=f"{int(seen.sum()):,}")
    figure = heatmap(positions, positions, seen.astype(np.float32), title="Who may see whom", unit="may see")
    figure.update_traces(showscale=False)
    st.plotly_chart(figure, key="mask", config=CHART)


def positions(here: Path, config: TransformerConfig, n: int, m: int) -> None:
    """What positions add, turn or take off, and how much of it depends on the distance."""
    found = encoding(config, min(max(n, 64), config.context))
    say(here, f"positions {config.positions}")
    if found.values is not None:
        st.plotly_chart(build.encoding_heatmap(found.values, found.title, found.across), key="encoding", config=CHART)
    if found.by_distance:
        figure = build.lines(found.distances, found.by_distance, found.says, "distance in tokens", found.unit)
        st.plotly_chart(figure, key="by-distance", config=CHART)
    if found.wavelengths is not None:
        pairs = np.arange(len(found.wavelengths))
        figure = build.lines(
            pairs, {"wavelength": found.wavelengths}, "Tokens until it comes round", "pair of dimensions", "tokens", log_y=True
        )
        st.plotly_chart(figure, key="wavelengths", config=CHART)


def root(here: Path, config: TransformerConfig, n: int, m: int) -> None:
    """Why the scores are divided by √d_k."""
    table = scaling()
    at = scaling(sizes=(config.d_head,)).iloc[0]
    say(
        here, "root", size=config.d_head, spread=f"{at.spread:.2f}", expected=f"{at.expected:.2f}",
        plain=f"{at.entropy_plain:.2f}", scaled=f"{at.entropy_scaled:.2f}", even=f"{np.log(32):.2f}",
        largest=f"{100 * at.largest_plain:.3g} %",
        least=f"{100 * at.largest_scaled:.3g} %",
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
        figure = build.lines(x, series, title, "d_k", unit, log_x=True, log_y=title.startswith("Spread"))
        st.plotly_chart(figure, key=title, config=CHART)


def _table(found: list[cost.Cost], measured: cost.Measured | None, what: str) -> pd.DataFrame:
    """A row for each part that costs something: formula, value, and what was counted."""
    write, rows = _bytes if what == "activations" else _plain, []
    for one in found:
        term, row = getattr(one, what), {"part": f"{one.stack} {one.part}".strip()}
        if not term.formula:
            continue
        if state.level() != "beginner":
            row["formula"] = term.formula
        row["here"] = write(term.value)
        if state.level() != "beginner":
            row["counted"] = "" if measured is None else write(getattr(measured, what).get((one.part, one.stack), 0))
        rows.append(row)
    return pd.DataFrame(rows).set_index("part")


def _plain(value: int) -> str:
    return f"{value:,}" if value else "0"


def _bytes(value: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value} B"


def _short(value: int) -> str:
    for unit, size in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:,}"
