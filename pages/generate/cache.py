"""The cache drawn as it fills, and what a token costs with it and without."""

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
from pages.generate.grown import Beginning, Grown
from pages.generate.shown import what_was_said
from ui import state
from ui.choices.widgets import switch
from ui.look import Look
from ui.memory import jobs, loaded
from ui.picture.picture import Numbers, Picture
from ui.picture.picture import place as draw
from ui.text import plain
from ui.words import say, words

HERE = Path(__file__).parent
LENGTHS = (1024, 8192, 131_072)
TIMES = 3  # readings that a time is the median of
Timed = tuple[float, float, Speeds] | tuple[()]

_known: WeakKeyDictionary[LanguageModel, dict[int, StepCost]] = WeakKeyDictionary()  # by the tokens of the source, 0: no source


def place(grown: Grown, look: Look, pictures: list[Picture]) -> None:
    """A switch, and below it boxes, bytes, operations and milliseconds. pictures: those of the page, to add the boxes to them."""
    on = switch(state.GENERATE_CACHE, words(HERE, "cache switch"))
    state.keep(state.GENERATE_CACHE, on, False)
    if not on:
        return
    model, step = look.model, grown.ahead or grown.steps[-1]
    read, source = len(step.tokens), len(step.source)
    if not step.read.bytes:
        say(HERE, "no cache")
        return
    kept_boxes = boxes(grown, look)
    pictures.append(kept_boxes)
    draw(kept_boxes)
    facts: dict[str, object] = {
        "tokens": f"{read:,}",
        "measured": f"{step.read.bytes:,}",
        "formula": f"{model.cache_bytes(read, source):,}",
    }
    facts |= {"layers": recipes.decoder_layers(model), "kv_heads": model.info.kv_heads, "source": f"{source:,}"}
    say(HERE, "cache both" if source else "cache", **facts)
    costs(grown, model, read, source)


def boxes(grown: Grown, look: Look) -> Picture:
    """A box for each token in each layer."""
    ahead = grown.ahead
    step = ahead or grown.steps[-1]
    options = {"said": what_was_said(grown, grown.steps[: step.position]), "fresh": 1 if grown.steps else len(step.tokens)}

    def numbers() -> dict[str, Numbers]:
        kept = np.full((recipes.decoder_layers(look.model), len(step.tokens)), recipes.each(look.model, step), dtype=np.int64)
        return {"numbers kept": Numbers(kept, ("layer", "token"), {"token": [token.text for token in step.tokens]})}

    return Picture(
        recipes.cache, (look,), options, "generate-boxes", numbers, words=f"{len(step.tokens)} tokens", title="Cache",
        takes=("model", "trace"), known={"step": step},
    )  # fmt: skip


def costs(grown: Grown, model: LanguageModel, read: int, source: int) -> None:
    """Bytes, operations and milliseconds of one token more, at this length and at others."""
    try:
        cost = _costs(model, grown.beginning.text, source)
    except ValueError as error:
        st.caption(plain(str(error)))
        return
    lengths = (read, *LENGTHS)
    table = {
        "tokens": [f"{length:,}" for length in lengths],
        "keys and values": [size(model.cache_bytes(length, source)) for length in lengths],
        "operations with the cache": [count(cost.kept(length)) for length in lengths],
        "without it": [count(cost.unkept(length)) for length in lengths],
        "times as many": [f"{cost.unkept(length) / cost.kept(length):,.0f}" for length in lengths],
    }
    place = st.empty()  # the times come later
    place.dataframe(pd.DataFrame(table), hide_index=True)
    context = f"{model.info.context:,}" if model.info.context else "without a limit"
    facts = {name: f"{value:,}" for name, value in (*vars(cost).items(), ("source", source))}
    say(HERE, "costs both" if source else "costs", context=context, **facts)
    found = times(grown, cost, read)
    if found is not None:
        place.dataframe(pd.DataFrame(table | milliseconds(found, lengths)), hide_index=True)


def _costs(model: LanguageModel, text: str, source: int) -> StepCost:
    """What a step costs, for any text of a decoder, or beside a source of so many tokens, which is counted itself."""
    known = _known.setdefault(model, {})
    if source not in known:
        known[source] = step_cost(model, text if source else "The cat")
    return known[source]


def milliseconds(found: StepTime, lengths: Sequence[int]) -> dict[str, list[str]]:
    """Of one token more at each length: the first as measured, the others as estimated."""

    def each(seconds: Callable[[int], float]) -> list[str]:
        return [f"{'about ' * (length != found.length)}{in_figures(1000 * seconds(length))}" for length in lengths]

    return {"milliseconds with the cache": each(found.kept), "milliseconds without it": each(found.unkept)}


def in_figures(number: float) -> str:
    """Three digits that count: "2.31", "48,200"."""
    rounded = float(f"{number:.2e}")
    return f"{rounded:,.{max(0, 2 - int(f'{number:.2e}'.split('e')[1]))}f}"


def times(grown: Grown, cost: StepCost, read: int) -> StepTime | None:
    """What one token more takes here, measured with the cache and without, and told of; None until that is known."""
    said = grown.said
    measured = jobs.result(
        ("generate-times", *grown.beginning, said),
        lambda report: _measure(grown.beginning, said, cost, report),
        "Measuring a step",
    )
    if not measured:
        if measured == ():
            say(HERE, "no times")
        return None
    kept, again, quick = measured
    facts = {f"{name}_speed": f"{float(f'{1e-9 / value:.2g}'):,g}" for name, value in vars(quick).items()}
    say(HERE, "times", kept=in_figures(1000 * kept), again=in_figures(1000 * again), ratio=f"{again / kept:.1f}", **facts)
    return StepTime(cost, quick, read, kept, again)


def _measure(beginning: Beginning, said: tuple[int, ...], cost: StepCost, report: jobs.Report) -> Timed:
    """Seconds of reading one token more, with the cache and without it: medians; and how quick this machine is. () where the
    model ends its text here."""
    name, text, target, chat = beginning
    seconds: list[list[float]] = []
    with loaded.shelf.reading(name) as model:
        for share, cache in ((0.4, True), (0.7, False)):
            with closing(model.generate(text, Strategy(), TIMES + 1, target, said, cache, chat=chat)) as steps:
                seconds.append([step.read.seconds for step in steps][1:])
            report(share, "Measuring a step")
        if not all(seconds):
            return ()
        return float(np.median(seconds[0])), float(np.median(seconds[1])), speeds(model, cost)
