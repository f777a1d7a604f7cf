"""The cache of keys and values, drawn as it fills, and the cost of a token with it and without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from analysis.step_time import StepTime
from models.generation.generate import Step
from models.numbers.sizes import count, size
from pages.generate import recipes
from pages.generate.parts import replay
from pages.generate.settings import Cost, Grown, Measured
from ui.picture.board import Draft, Note, Table
from ui.picture.picture import Numbers, Picture

BOXES, WORDS, TABLE = "generate-boxes", "cache", "costs"
LENGTHS = (1024, 8192, 131_072)


def last_step(grown: Grown) -> Step:
    """Return the step whose reading filled the cache last."""
    return grown.next_step or grown.steps[-1]


def add(draft: Draft, grown: Grown) -> None:
    """Add the boxes and the number of bytes, or a sentence that there is no cache."""
    model, step = draft.look.model, last_step(grown)
    read, source = len(step.tokens), len(step.source)
    if not step.read.bytes:
        draft.note(WORDS, "no cache")
        return
    draft.add(boxes(draft, grown), BOXES)
    facts: dict[str, object] = {
        "tokens": f"{read:,}",
        "measured": f"{step.read.bytes:,}",
        "formula": f"{model.cache_bytes(read, source):,}",
    }
    facts |= {"layers": recipes.decoder_layers(model), "kv_heads": model.info.kv_heads, "source": f"{source:,}"}
    draft.note(WORDS, "cache both" if source else "cache", **facts)


def boxes(draft: Draft, grown: Grown) -> Picture:
    """Return the picture of the cache: a box for each token in each layer."""
    look, step = draft.look, last_step(grown)
    options = {"answer": replay(grown, grown.steps[: step.position]), "fresh": 1 if grown.steps else len(step.tokens)}

    def numbers() -> dict[str, Numbers]:
        counts = np.full(
            (recipes.decoder_layers(look.model), len(step.tokens)), recipes.numbers_per_token(look.model, step), dtype=np.int64
        )
        names = {"layer": look.trace.numbers, "token": [token.text for token in step.tokens]}
        return {"numbers kept": Numbers(counts, ("layer", "token"), names)}

    return Picture(
        recipes.cache,
        (look,),
        options,
        BOXES,
        numbers,
        words=f"{len(step.tokens)} tokens",
        title="Cache",
        takes=("model", "trace"),
        known={"step": step},
    )


def add_cost(draft: Draft, reading: Cost) -> None:
    """Add a table of the bytes, operations and, once they are known, milliseconds of one more token, at this length and at
    others; and words on the operations."""
    model, cost, source = draft.look.model, reading.cost, reading.source
    lengths = (reading.read, *LENGTHS)
    table = {
        "tokens": [f"{length:,}" for length in lengths],
        "keys and values": [size(model.cache_bytes(length, source)) for length in lengths],
        "operations with the cache": [count(cost.with_cache(length)) for length in lengths],
        "without it": [count(cost.without_cache(length)) for length in lengths],
        "times as many": [f"{cost.without_cache(length) / cost.with_cache(length):,.0f}" for length in lengths],
    }
    if reading.times is not None:
        table |= milliseconds(reading.times, lengths)
    draft.contents[TABLE] = Table(pd.DataFrame(table), scrolls=True)
    context = f"{model.info.context:,}" if model.info.context else "without a limit"
    facts = {name: f"{value:,}" for name, value in (*vars(cost).items(), ("source", source))}
    draft.contents["operations"] = Note(draft.words("costs both" if source else "costs", context=context, **facts))


def milliseconds(step_time: StepTime, lengths: Sequence[int]) -> dict[str, list[str]]:
    """Return two columns, the milliseconds of one more token at each length: measured at the first, estimated at others."""

    def format_times(seconds: Callable[[int], float]) -> list[str]:
        return [f"{'about ' * (length != step_time.length)}{in_figures(1000 * seconds(length))}" for length in lengths]

    return {
        "milliseconds with the cache": format_times(step_time.with_cache),
        "milliseconds without it": format_times(step_time.without_cache),
    }


def in_figures(number: float) -> str:
    """Format a number with three significant digits: "2.31", "48,200"."""
    rounded = float(f"{number:.2e}")
    return f"{rounded:,.{max(0, 2 - int(f'{number:.2e}'.split('e')[1]))}f}"


def add_measured(draft: Draft, reading: Measured) -> None:
    """Add the measured time of one more token, with the cache and without it."""
    if reading.timing is None:
        draft.note("times", "no times")
        return
    cached, uncached, machine_speeds = reading.timing
    speeds = {f"{name}_speed": f"{float(f'{1e-9 / value:.2g}'):,g}" for name, value in vars(machine_speeds).items()}
    figures = {"kept": in_figures(1000 * cached), "again": in_figures(1000 * uncached), "ratio": f"{uncached / cached:.1f}"}
    draft.note("times", "times", **figures, **speeds)
