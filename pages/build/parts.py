"""The parts of page "Build": functions of a config and the lengths of source and target, each of which places its pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis import cost
from analysis.scaling import scaling
from models.numbers.sizes import count, size
from models.scratch.config import TransformerConfig
from pages.build import recipes
from pages.build import state as page_state
from ui import state
from ui.choices.networks import NETWORKS
from ui.choices.widgets import one_of
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.show import show, show_chart
from ui.words import say
from viz.numbers import percent

if TYPE_CHECKING:
    from analysis.baseline_cost import NetworkCost

LARGEST = 100_000_000  # the most parameters of a network that is built here and measured
SEEN = 64  # the most positions in a picture of masks
OF = {
    "parameters": "parameters",
    "operations": "flops",
    "activations": "activations",
}  # the words on screen: those of `analysis.cost`


def diagram(here: Path, config: TransformerConfig, n: int, m: int) -> list[Picture]:
    each = cost.costs(config, n, m)
    total = {name: count(sum(getattr(part, of).value for part in each)) for name, of in list(OF.items())[:2]}
    say(here, "architecture", tokens=n, length=_length(n), **total)
    simple = state.level() == "beginner"
    options: dict[str, Any] = {"config": asdict(config), "tokens": n, "target": m, "simple": simple}

    def boxes() -> dict[str, Numbers]:
        rows = [
            (column, inside, box)
            for column, column_boxes in recipes.columns(**options)
            for box in column_boxes
            for inside, box in [("", box), *((box.name, part) for part in box.parts)]
        ]
        lists = {
            "part": [box.name for *_, box in rows],
            "shape": [box.shape for *_, box in rows],
            "note": [box.note for *_, box in rows],
            "times": [box.times for *_, box in rows],
            "inside": [inside for _, inside, _ in rows],
            "stack": [column for column, *_ in rows],
        }
        return {name: Numbers(np.array(values), ("box",)) for name, values in lists.items()}

    drawing = picture(recipes.diagram, "architecture", "Architecture", config, options, boxes)
    show(drawing.drawn, "architecture")
    return [drawing]


def picture(
    recipe: Callable, key: str, title: str, config: TransformerConfig, options: dict[str, Any], numbers: Callable
) -> Picture:
    """Return a picture of the transformer of this page."""
    kind = {"decoder": "a decoder", "encoder": "an encoder", "encoder-decoder": "an encoder-decoder"}[config.kind]
    description = f"{kind} of {config.layers} layers × {config.heads} heads, d_model {config.d_model}"
    return Picture(recipe, (), options, key, numbers, words=description if "config" in options else "", title=title)


def curves(across: str, x: np.ndarray, series: Mapping[str, Any]) -> Callable[[], dict[str, Numbers]]:
    """Return the numbers of curves over a common x."""
    names = {across: list(x), "curve": list(series)}
    return lambda: {"value": Numbers(np.array(list(series.values()), dtype=float), ("curve", across), names)}


def costs(here: Path, config: TransformerConfig, n: int, m: int) -> list[Picture]:
    """Place formulas and numbers, beside those counted in a network that was built and run."""
    parts = cost.costs(config, n, m)
    total = sum(part.parameters.value for part in parts)
    left, middle, right = st.columns(3)
    left.metric("Parameters", count(total))
    operations = count(sum(part.flops.value for part in parts))
    middle.metric(f"Operations for {_length(n)}", operations)
    cache_bytes = cost.cache_bytes(config, m, n) if config.kind == "encoder-decoder" else cost.cache_bytes(config, n)
    right.metric("Keys and values kept", "none" if config.kind == "encoder" else size(cache_bytes))
    measured, each = None, list["NetworkCost"]()
    if n > config.context or m > config.context:
        st.info(
            f"This text has {max(n, m)} tokens, more than the context of {config.context}, "
            "so the cost is calculated but not measured."
        )
    elif total > LARGEST:
        st.info(
            f"It has {count(total)} parameters. Its cost is calculated but not measured, "
            f"because at most {count(LARGEST)} are built here."
        )
    else:
        key, title = ("cost", config, n, m), "Building and measuring it"
        measured, each = jobs.result(key, lambda report: measure(config, n, m), title) or (None, [])
    say(here, "cost above", length=_length(n))
    quantity = one_of(page_state.COST_OF, tuple(OF), "", label="Of each part")
    st.table(_table(parts, measured, OF[quantity]), border="horizontal")
    weights = size(cost.scores_bytes(config, n))
    seconds = "" if measured is None else f"{1000 * measured.seconds:,.1f} ms"
    scores = next(part.flops for part in parts if part.part == recipes.SCORES)
    say(
        here,
        "cost",
        symbols=_symbols([getattr(part, OF[quantity]).formula for part in parts]),
        weights=weights,
        length=_length(n),
        operations=operations,
        scores=scores.formula,
        seconds=seconds or "not measured yet",
        crossing=_from(cost.crossing(config)),
        feedforward=_from(cost.crossing(config, "feed-forward")),
    )
    if each:
        say(here, "beside", length=_length(n))
        rows = {NETWORKS[network_cost.network]: beside_row(network_cost) for network_cost in each}
        st.table(pd.DataFrame.from_dict(rows, orient="index"), border="horizontal")
    if config.pattern != "full":
        say(here, "pattern", pattern=config.pattern, **_pair_counts(config, n, m))
    options: dict[str, Any] = {"config": asdict(config)}
    drawing = picture(
        recipes.crossing,
        "crossing",
        "Where attention overtakes",
        config,
        options,
        lambda: curves("tokens", *recipes.operations_by_length(**options))(),
    )
    show_chart(drawing.drawn, "crossing")
    return [drawing]


def measure(config: TransformerConfig, n: int, m: int) -> tuple[cost.Measured, list[NetworkCost]]:
    """Return what is measured of a transformer, and the cost of networks beside it if it is a decoder."""
    from analysis.baseline_cost import side_by_side  # with torch, for which the page does not wait

    return cost.measure(config, n, m), list(side_by_side(config, n)) if config.kind == "decoder" else []


def beside_row(network_cost: NetworkCost) -> dict[str, str]:
    """Return the columns of a network in that table."""
    return {
        "width": f"{network_cost.d_model:,}",
        "parameters": count(network_cost.parameters),
        "operations": count(network_cost.flops),
        "memory to go on": size(network_cost.memory),
        "one after the other": f"{network_cost.waits:,}",
        "milliseconds": "" if network_cost.seconds is None else f"{1000 * network_cost.seconds:.2g}",
    }


def _length(tokens: int) -> str:
    return f"{tokens:,} {'token' if tokens == 1 else 'tokens'}"


def _from(length: float) -> str:
    return "at no length of text" if length == float("inf") else f"from {length:,} tokens on"


def _pair_counts(config: TransformerConfig, n: int, m: int) -> dict[str, str]:
    """Return how many pairs of tokens may see each other under the pattern, and of how many, in all stacks."""
    from models.scratch.masks import pairs

    stacks = {"decoder": [(n, False)], "encoder": [(n, True)], "encoder-decoder": [(n, True), (m, False)]}[config.kind]
    pair_count, square = sum(pairs(config, *stack) for stack in stacks), sum(length**2 for length, _ in stacks)
    return {"pairs": f"{pair_count:,}", "square": f"{square:,}"}


def masks(here: Path, config: TransformerConfig, n: int, m: int) -> list[Picture]:
    """Place the mask, which shows which tokens may see which in a text of this length."""
    options: dict[str, Any] = {"config": asdict(config), "count": min(n, SEEN)}
    visible = recipes.may_see(**options)
    count = options["count"]
    say(here, "masks", pattern=config.pattern, share=percent(visible.mean()), count=count, pairs=f"{int(visible.sum()):,}")
    drawing = picture(
        recipes.mask,
        "mask",
        "Who may see whom",
        config,
        options,
        lambda: {"may_see": Numbers(visible.astype(np.uint8), ("query", "key"))},
    )
    show_chart(drawing.drawn, "mask")
    return [drawing]


def positions(here: Path, config: TransformerConfig, n: int, m: int) -> list[Picture]:
    """Place pictures of the vectors or rotations that positions add, and of how much of them depends on the distance."""
    options: dict[str, Any] = {"config": asdict(config), "length": min(max(n, 64), config.context)}
    scheme, pictures = recipes.scheme(**options), []
    say(here, f"positions {config.positions}")
    if scheme.values is not None:

        def values() -> dict[str, Numbers]:
            return {"value": Numbers(np.asarray(scheme.values), (scheme.down, scheme.across))}

        pictures.append(picture(recipes.position_values, "encoding", scheme.title, config, options, values))
    if scheme.by_distance:
        numbers = curves("distance", scheme.distances, scheme.by_distance)
        pictures.append(picture(recipes.by_distance, "by-distance", scheme.says, config, options, numbers))
    if (waves := scheme.wavelengths) is not None:
        numbers = curves("pair", np.arange(len(waves)), {"wavelength": waves})
        pictures.append(picture(recipes.wavelengths, "wavelengths", "Tokens until it comes round", config, options, numbers))
    for drawing in pictures:
        show_chart(drawing.drawn, drawing.key)
    return pictures


def root(here: Path, config: TransformerConfig, n: int, m: int) -> list[Picture]:
    """Place curves on why the scores are divided by √d_head."""
    table = scaling()
    at = scaling(sizes=(config.d_head,)).iloc[0]
    facts = {
        "size": config.d_head,
        "spread": f"{at.spread:.2f}",
        "expected": f"{at.expected:.2f}",
        "plain": f"{at.entropy_plain:.2f}",
        "scaled": f"{at.entropy_scaled:.2f}",
        "even": f"{np.log(32):.2f}",
        "largest": percent(at.largest_plain),
        "least": percent(at.largest_scaled),
    }
    say(here, "root", **facts)
    pictures = []
    for title, (_, series) in recipes.BENCH.items():
        numbers = curves("d_head", table["d_k"].to_numpy(), {name: table[column] for name, column in series.items()})
        pictures.append(picture(recipes.bench, title, title, config, {"title": title}, numbers))
        show_chart(pictures[-1].drawn, title)
    say(here, "root more", **facts)
    return pictures


def _table(parts: list[cost.Cost], measured: cost.Measured | None, quantity: str) -> pd.DataFrame:
    """Return a row for each part with a cost: formula, value, and the counted number."""
    write, rows = size if quantity == "activations" else _plain, []
    for part in parts:
        term, row = getattr(part, quantity), {"part": f"{part.stack} {part.part}".strip()}
        if not term.formula:
            continue
        row["formula"], row["here"] = term.formula, write(term.value)
        row["counted"] = "" if measured is None else write(getattr(measured, quantity).get((part.part, part.stack), 0))
        rows.append(row)
    return pd.DataFrame(rows).set_index("part")


def _symbols(formulas: list[str]) -> str:
    """Return what the symbols in these formulas mean."""
    letters = set(re.findall(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", " ".join([*formulas, "n"])))
    return ", ".join(meaning for meaning in cost.SYMBOLS.split(", ") if meaning[0] in letters)


def _plain(value: int) -> str:
    return f"{value:,}" if value else "0"
