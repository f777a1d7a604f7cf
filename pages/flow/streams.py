"""What reaches a token from the inputs, drawn from layer to layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from analysis import streams
from analysis.routes import Stream
from pages.flow.asked import Asked, title
from ui import state
from ui.choices.widgets import one_of
from ui.memory import jobs
from viz import percent
from viz.figures.sankey import sankey
from viz.tokens import label

if TYPE_CHECKING:
    import plotly.graph_objects as go

LEAST = 0.01  # of all that arrives, for a stream to be drawn
MOST = 400  # streams in a picture
FOLLOWED = ("rollout", "value-weighted rollout")


def drawn(asked: Asked) -> tuple[go.Figure | None, dict[str, object], dict[str, list[str]]]:
    """The figure, facts about it in words, and its numbers as columns; None and nothing while they are under way."""
    method, least = FOLLOWED[0], LEAST
    if not asked.look.beginner:
        left, right = st.columns(2)
        method = one_of(state.STREAMS_OF, FOLLOWED, "", label="Streams of", written=title, place=left)
        least = right.slider("From a share of", 0.2, 10.0, 100 * LEAST, 0.2, format="%.1f %%", key=state.STREAMS_FROM.name) / 100
    matrices = "attention" if method == FOLLOWED[0] else "values"

    def work(report: jobs.Report) -> tuple[list[Stream], float]:
        report(0.1, title_of)
        attribution = asked.attribution
        weights, query, residual = getattr(attribution, matrices), asked.position, attribution.residual
        found, left_out = streams(attribution.ways, weights, query, residual, least)
        if len(found) > MOST:
            smallest = sorted((one.share for one in found), reverse=True)[MOST - 1]
            found, left_out = streams(attribution.ways, weights, query, residual, smallest)
        return found, left_out

    title_of = title(method)
    made = jobs.result(("streams", *asked.key, method, least), work, title_of)
    if made is None:
        return None, {}, {}
    found, left_out = made
    ways, tokens = asked.attribution.ways, asked.look.written(asked.attribution.ways.tokens)
    columns = ["input", *(step.name for step in ways.steps)]
    names = [f"{label(token.text)} ({i})" for i, token in enumerate(tokens)]
    ranked = sorted(found, key=lambda one: (one.to_column, -one.share))
    table = {
        "Layer": [columns[one.to_column] for one in ranked],
        "From": [names[one.from_token] for one in ranked],
        "To": [names[one.to_token] for one in ranked],
        "Share": [percent(one.share) for one in ranked],
    }
    facts = {
        "count": len(found),
        "least": percent(min((one.share for one in found), default=least)),
        "left_out": percent(left_out),
        "method": title_of,
    }
    return sankey(tokens, found, columns), facts, table
