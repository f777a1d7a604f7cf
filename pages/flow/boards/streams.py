"""Board of the streams that reach a token from the inputs, drawn from layer to layer, and their numbers as a table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pages.flow import recipes
from pages.flow.boards import findings
from pages.flow.request import Request, title
from pages.flow.settings import Settings, Streams
from ui.picture.board import Draft, Table
from ui.picture.picture import Numbers
from viz import percent
from viz.tokens import label

STREAMS, TABLE = "streams", "streams-table"


def add(draft: Draft, request: Request, settings: Settings, reading: Streams) -> None:
    """Add the figure, its explanation in words, and the table."""
    method, least, strong = settings.streams_of, settings.least, reading.strong
    table, name = table_of(request, reading), title(draft.words, method)
    options = {"name": method, "least": least, "simple": draft.look.beginner}
    if not draft.look.narrow:  # a telephone has no room for names between the layers
        options["named"] = True

    def numbers() -> dict[str, Numbers]:
        shares = {"share": [stream.share for stream in reading.ranked]}
        lists = shares | {column.lower(): table[column] for column in ("Layer", "From", "To")}
        return {name: Numbers(np.array(values), ("stream",)) for name, values in lists.items()}

    drawing = request.picture(recipes.routes, STREAMS, f"Streams of {name}", options, numbers=numbers, known={"strong": strong})
    findings.say_sources(draft, request, method)
    draft.add(drawing, STREAMS)
    facts = {
        "count": len(strong),
        "least": f"{100 * least:.1f}\u00a0%" if len(strong) < recipes.MOST else percent(min(stream.share for stream in strong)),
        "left_out": percent(reading.left_out),
        "method": name,
    }
    draft.note("streams-words", "streams", **facts)
    draft.contents[TABLE] = Table(pd.DataFrame(table), scrolls=True)


def table_of(request: Request, reading: Streams) -> dict[str, list[str]]:
    """Return the numbers of the streams, as columns."""
    tokens = request.look.spell_tokens(request.attribution.ways.tokens)
    columns = recipes.columns_of(request.attribution)
    names = [f"{label(token.text)} ({i})" for i, token in enumerate(tokens)]
    ranked = reading.ranked
    return {
        "Layer": [columns[stream.to_column] for stream in ranked],
        "From": [names[stream.from_token] for stream in ranked],
        "To": [names[stream.to_token] for stream in ranked],
        "Share": [percent(stream.share) for stream in ranked],
    }
