"""The cache drawn as it fills, and what a token costs with it and without."""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from analysis.step_cost import StepCost, step_cost
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


def place(grown: Grown, look: Look, pictures: list[Picture]) -> None:
    """A switch, and below it boxes, bytes and operations. pictures: those of the page, to add the boxes to them."""
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
    costs(model, read, source)
    times(grown, look)


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


def costs(model: LanguageModel, read: int, source: int) -> None:
    """Bytes and operations of one token more, at this length and at others."""
    try:
        cost = _costs(model)
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
    st.dataframe(pd.DataFrame(table), hide_index=True)
    context = f"{model.info.context:,}" if model.info.context else "without a limit"
    say(HERE, "costs", context=context, **{name: f"{value:,}" for name, value in vars(cost).items()})


@lru_cache(maxsize=8)
def _costs(model: LanguageModel) -> StepCost:
    return step_cost(model, "The cat")


def times(grown: Grown, look: Look) -> None:
    """Milliseconds of one token more here, measured with the cache and without."""
    said = grown.said
    seconds = jobs.result(
        ("generate-times", *grown.beginning, said), lambda report: _measure(grown.beginning, said, report), "Measuring a step"
    )
    if seconds is not None and np.isfinite(seconds).all():
        kept, again = seconds
        say(HERE, "times", kept=f"{1000 * kept:.1f}", again=f"{1000 * again:.1f}", ratio=f"{again / kept:.1f}")


def _measure(beginning: Beginning, said: tuple[int, ...], report: jobs.Report) -> tuple[float, float]:
    """Seconds of reading one token more, with the cache and without it: medians."""
    name, text, target, chat = beginning
    seconds: list[list[float]] = []
    with loaded.shelf.reading(name) as model:
        for cache in (True, False):
            with closing(model.generate(text, Strategy(), TIMES + 1, target, said, cache, chat=chat)) as steps:
                seconds.append([step.read.seconds for step in steps][1:])
            report(0.5, "Measuring a step")
    if not all(seconds):  # the model ends its text here
        return float("nan"), float("nan")
    return float(np.median(seconds[0])), float(np.median(seconds[1]))
