"""The streams that reach a token from the inputs, drawn from layer to layer."""

from __future__ import annotations

import numpy as np
import streamlit as st

from analysis.routes import Stream
from pages.flow import recipes
from pages.flow.request import Request, title
from ui import state
from ui.choices.widgets import one_of
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from viz import percent
from viz.tokens import label

LEAST = 0.01  # the share of all that arrives from which on a stream is drawn
METHODS = (recipes.ROLLOUT, "value-weighted rollout")


def streams_picture(request: Request) -> tuple[Picture | None, dict[str, object], dict[str, list[str]]]:
    """Return the picture, facts about it in words, and its numbers as columns; None and nothing while they are calculated."""
    method, least = METHODS[0], LEAST
    if not request.look.beginner:
        left, right = st.columns(2)
        method = one_of(state.STREAMS_OF, METHODS, "", label="Streams of", format_option=title, place=left)
        least = right.slider("From a share of", 0.2, 10.0, 100 * LEAST, 0.2, format="%.1f %%", key=state.STREAMS_FROM.name) / 100

    def work(report: jobs.Report) -> tuple[list[Stream], float]:
        report(0.1, title_of)
        return recipes.streams_of(request.attribution, method, least)

    title_of = title(method)
    answer = jobs.result(("streams", *request.key, method, least), work, title_of)
    if answer is None:
        return None, {}, {}
    strong, left_out = answer
    tokens = request.look.spell_tokens(request.attribution.ways.tokens)
    columns = recipes.columns_of(request.attribution)
    names = [f"{label(token.text)} ({i})" for i, token in enumerate(tokens)]
    ranked = sorted(strong, key=lambda stream: (stream.to_column, -stream.share))
    table = {
        "Layer": [columns[stream.to_column] for stream in ranked],
        "From": [names[stream.from_token] for stream in ranked],
        "To": [names[stream.to_token] for stream in ranked],
        "Share": [percent(stream.share) for stream in ranked],
    }
    facts = {
        "count": len(strong),
        "least": f"{100 * least:.1f}\u00a0%" if len(strong) < recipes.MOST else percent(min(stream.share for stream in strong)),
        "left_out": percent(left_out),
        "method": title_of,
    }
    options = {"name": method, "least": least, "simple": request.look.beginner}

    def numbers() -> dict[str, Numbers]:
        lists = {
            "share": [stream.share for stream in ranked], **{name.lower(): table[name] for name in ("Layer", "From", "To")},
        }  # fmt: skip
        return {name: Numbers(np.array(values), ("stream",)) for name, values in lists.items()}

    drawing = request.picture(
        recipes.routes, "streams", f"Streams of {title_of}", options, numbers=numbers, known={"strong": strong}
    )
    return drawing, facts, table
