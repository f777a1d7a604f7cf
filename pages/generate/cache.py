"""The cache of keys and values, drawn as it fills, and what a token costs with it and without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
import streamlit as st

from analysis.step_cost import StepCost, step_cost
from analysis.step_time import Speeds, StepTime, speeds
from models.language_model import LanguageModel
from models.sizes import count, size
from models.strategy import Strategy
from pages.generate import recipes
from pages.generate.continuation import Beginning, Continuation
from pages.generate.parts import replay
from ui import state
from ui.choices.widgets import switch
from ui.look import Look
from ui.memory import jobs, loaded
from ui.picture.mount import place as draw
from ui.picture.picture import Numbers, Picture
from ui.text import plain
from ui.words import say, words

HERE = Path(__file__).parent
LENGTHS = (1024, 8192, 131_072)
TIMES = 3  # a time is the median of so many readings
Timing = tuple[float, float, Speeds] | tuple[()]

_step_costs: WeakKeyDictionary[LanguageModel, dict[int, StepCost]] = WeakKeyDictionary()  # by tokens of the source, 0: none


def place(continuation: Continuation, look: Look, pictures: list[Picture]) -> None:
    """Place a switch, and below it boxes, bytes, operations and milliseconds. pictures: the page's; the boxes are added."""
    on = switch(state.GENERATE_CACHE, words(HERE, "cache switch"))
    state.keep(state.GENERATE_CACHE, on, False)
    if not on:
        return
    model, step = look.model, continuation.next_step or continuation.steps[-1]
    read, source = len(step.tokens), len(step.source)
    if not step.read.bytes:
        say(HERE, "no cache")
        return
    boxes_picture = boxes(continuation, look)
    pictures.append(boxes_picture)
    draw(boxes_picture)
    facts: dict[str, object] = {
        "tokens": f"{read:,}",
        "measured": f"{step.read.bytes:,}",
        "formula": f"{model.cache_bytes(read, source):,}",
    }
    facts |= {"layers": recipes.decoder_layers(model), "kv_heads": model.info.kv_heads, "source": f"{source:,}"}
    say(HERE, "cache both" if source else "cache", **facts)
    costs(continuation, model, read, source)


def boxes(continuation: Continuation, look: Look) -> Picture:
    """Return the picture of the cache: a box for each token in each layer."""
    next_step = continuation.next_step
    step = next_step or continuation.steps[-1]
    options = {
        "answer": replay(continuation, continuation.steps[: step.position]),
        "fresh": 1 if continuation.steps else len(step.tokens),
    }

    def numbers() -> dict[str, Numbers]:
        counts = np.full(
            (recipes.decoder_layers(look.model), len(step.tokens)), recipes.numbers_per_token(look.model, step), dtype=np.int64
        )
        names = {"layer": look.trace.numbers, "token": [token.text for token in step.tokens]}
        return {"numbers kept": Numbers(counts, ("layer", "token"), names)}

    return Picture(
        recipes.cache, (look,), options, "generate-boxes", numbers, words=f"{len(step.tokens)} tokens", title="Cache",
        takes=("model", "trace"), known={"step": step},
    )  # fmt: skip


def costs(continuation: Continuation, model: LanguageModel, read: int, source: int) -> None:
    """Place a table of the bytes, operations and milliseconds of one more token, at this length and at others."""
    try:
        cost = _costs(model, continuation.beginning.text, source)
    except ValueError as error:
        st.caption(plain(str(error)))
        return
    lengths = (read, *LENGTHS)
    table = {
        "tokens": [f"{length:,}" for length in lengths],
        "keys and values": [size(model.cache_bytes(length, source)) for length in lengths],
        "operations with the cache": [count(cost.with_cache(length)) for length in lengths],
        "without it": [count(cost.without_cache(length)) for length in lengths],
        "times as many": [f"{cost.without_cache(length) / cost.with_cache(length):,.0f}" for length in lengths],
    }
    place = st.empty()  # the times come later
    place.dataframe(pd.DataFrame(table), hide_index=True)
    context = f"{model.info.context:,}" if model.info.context else "without a limit"
    facts = {name: f"{value:,}" for name, value in (*vars(cost).items(), ("source", source))}
    say(HERE, "costs both" if source else "costs", context=context, **facts)
    step_time = times(continuation, cost, read)
    if step_time is not None:
        place.dataframe(pd.DataFrame(table | milliseconds(step_time, lengths)), hide_index=True)


def _costs(model: LanguageModel, text: str, source: int) -> StepCost:
    """Return what a step costs: in a decoder for any text, in an encoder-decoder for a source of so many tokens."""
    by_source = _step_costs.setdefault(model, {})
    if source not in by_source:
        by_source[source] = step_cost(model, text if source else "The cat")
    return by_source[source]


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


def times(continuation: Continuation, cost: StepCost, read: int) -> StepTime | None:
    """Measure what one more token takes here, with the cache and without it, and say so; None until the measurement is done."""
    ids = continuation.ids
    timing = jobs.result(
        ("generate-times", *continuation.beginning, ids),
        lambda report: _measure(continuation.beginning, ids, cost, report),
        "Measuring a step",
    )
    if not timing:
        if timing == ():
            say(HERE, "no times")
        return None
    cached, uncached, machine_speeds = timing
    facts = {f"{name}_speed": f"{float(f'{1e-9 / value:.2g}'):,g}" for name, value in vars(machine_speeds).items()}
    say(
        HERE,
        "times",
        kept=in_figures(1000 * cached),
        again=in_figures(1000 * uncached),
        ratio=f"{uncached / cached:.1f}",
        **facts,
    )
    return StepTime(cost, machine_speeds, read, cached, uncached)


def _measure(beginning: Beginning, ids: tuple[int, ...], cost: StepCost, report: jobs.Report) -> Timing:
    """Return the median seconds of reading one more token, with the cache and without it, and how quick this machine is; () where
    the model ends its text here."""
    name, text, target, chat = beginning
    seconds: list[list[float]] = []
    with loaded.shelf.reading(name) as model:
        for share, cache in ((0.4, True), (0.7, False)):
            with closing(model.generate(text, Strategy(), TIMES + 1, target, ids, cache, chat=chat)) as steps:
                seconds.append([step.read.seconds for step in steps][1:])
            report(share, "Measuring a step")
        if not all(seconds):
            return ()
        return float(np.median(seconds[0])), float(np.median(seconds[1])), speeds(model, cost)
