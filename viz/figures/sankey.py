"""The flow through the layers to one token, as a Sankey diagram: each stream is as wide as its share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR, GREY, escape_plotly
from viz.numbers import percent
from viz.tokens import label

WHOLE = 260  # pixels of all that arrives
GAP = 14  # pixels between two states, at least: a line of text
_TOP, _BOTTOM, _LEFT = 26, 8, 84  # pixels around; the names of the inputs stand at the left
_CARRIED = "rgba(208,108,36,.5)"  # by attention: the accent, in sight on a light and on a dark page
_STAYS = "rgba(128,136,150,.38)"
_LONGEST = 12  # characters of a name
_COLUMNS = 8  # that have their name above them, at most
_WIDE = 7  # pixels of a character
_TALL = 20  # pixels of a state between the ends that has its name beside it


def sankey(tokens: Sequence[Any], streams: Sequence[Any], columns: Sequence[str], named: bool = False) -> go.Figure:
    """Draw streams between the states of tokens with Plotly, from the input on the left to one state on the right.

    tokens: anything with a `.text`, or strings. streams: each has `share` (of the total that arrives), `from_column`,
    `from_token`, `to_column` and `to_token`. columns: the names of the columns of states, the inputs first. Grey streams stay
    with their token; orange ones come from another token by attention. A state is as high as its drawn streams. named: the
    largest state of a token between the ends has its name too, if there is room. Raises ValueError where there is no stream, or
    where a stream names a token or column that does not exist.
    """
    if not streams:
        raise ValueError("There is nothing to draw: no stream is as large as asked for. Ask for smaller ones.")
    ends = [((stream.from_column, stream.from_token), (stream.to_column, stream.to_token)) for stream in streams]
    shares = [stream.share for stream in streams]
    size = _sizes(ends, shares)
    states = sorted(size)
    if not all(0 <= column < len(columns) and 0 <= token < len(tokens) for column, token in states):
        raise ValueError(f"A stream names a state that is not there; there are {len(columns)} columns of {len(tokens)} tokens.")
    number = {state: i for i, state in enumerate(states)}
    texts = [label(token if isinstance(token, str) else token.text) for token in tokens]
    names = [f"“{escape_plotly(text)}” ({i})" for i, text in enumerate(texts)]
    titles = [escape_plotly(column) for column in columns]
    last, ending = states[-1]
    middle, height, gap = _places(size, ends)
    x = {column: min(max(column / last, 0.001), 0.999) for column, _ in states}
    node = {
        "x": [x[column] for column, _ in states],
        "y": [min(max(middle[state] / height, 0.001), 0.999) for state in states],
        "color": GREY,
        "line": {"width": 0},
        "thickness": 8,
        "pad": gap,
        "align": "left",
        "customdata": [f"{names[token]}, {titles[column]}: {percent(size[column, token])}" for column, token in states],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    link = {
        "source": [number[start] for start, _ in ends],
        "target": [number[end] for _, end in ends],
        "value": shares,
        "color": [_STAYS if start[1] == end[1] else _CARRIED for start, end in ends],
        "customdata": [
            f"from {names[start[1]]} to {names[end[1]]}, {titles[end[0]]}: {percent(share)}"
            for (start, end), share in zip(ends, shares, strict=True)
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    figure = go.Figure(go.Sankey(node=node, link=link, arrangement="fixed"))
    figure.update_layout(
        height=height + _TOP + _BOTTOM,
        margin={"l": _LEFT, "r": 14 + _WIDE * len(_short(texts[ending])), "t": _TOP, "b": _BOTTOM},
        **CLEAR,
    )
    place = {"xref": "paper", "yref": "paper", "showarrow": False}
    used = sorted({column for column, _ in states})
    for column in [*used[: -1 : -(-len(used) // _COLUMNS)], last]:
        side = "right" if column == last else "left" if column == 0 else "center"
        figure.add_annotation(x=x[column], y=1, yanchor="bottom", xanchor=side, text=titles[column], font={"size": 11}, **place)
    for at_left, states_named in ((True, _inputs(ends)), (False, [*(_largest(size) if named else []), states[-1]])):
        for column, token in states_named:
            y, text = 1 - middle[column, token] / height, escape_plotly(_short(texts[token]))
            beside = {"xanchor": "right", "xshift": -7} if at_left else {"xanchor": "left", "xshift": 9}
            figure.add_annotation(x=x[column], y=y, yanchor="middle", text=text, **beside, **place)
    return figure


def _inputs(ends: list) -> list[tuple[int, int]]:
    """Return the first state of each token that is put in: in the first column, or where no stream arrives."""
    states = sorted({state for stream in ends for state in stream})
    arrive = {end for _, end in ends}
    begins = {token: min(column for column, other in states if other == token) for _, token in states}
    return [(column, token) for token, column in begins.items() if column == 0 or (column, token) not in arrive]


def _largest(size: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    """Return of each token its largest state between the ends, if there is room for a name."""
    last = max(column for column, _ in size)
    between = [state for state in sorted(size) if 0 < state[0] < last and WHOLE * size[state] >= _TALL]
    return [
        (column, token) for token, column in {token: column for column, token in sorted(between, key=size.__getitem__)}.items()
    ]


def _sizes(ends: list, shares: list[float]) -> dict[tuple[int, int], float]:
    """Return the drawn flow through each state: the larger of its inflow and its outflow."""
    comes: dict[tuple[int, int], float] = {}
    goes: dict[tuple[int, int], float] = {}
    for (start, end), share in zip(ends, shares, strict=True):
        goes[start] = goes.get(start, 0.0) + share
        comes[end] = comes.get(end, 0.0) + share
    return {state: max(comes.get(state, 0.0), goes.get(state, 0.0)) for state in comes | goes}


def _places(size: dict[tuple[int, int], float], ends: list) -> tuple[dict[tuple[int, int], float], int, float]:
    """Return the middle of each state in pixels from the top, the total height, and the gap that makes Plotly draw to this scale.

    A token keeps its height from column to column where there is room, and always its place in the order. Plotly makes the scale
    as large as its own columns allow, which it counts from the beginning of the streams.
    """
    by_column: dict[int, list[int]] = {}
    for column, token in sorted(size):
        by_column.setdefault(column, []).append(token)
    depth = dict.fromkeys(sorted(size), 0)
    for start, end in sorted(ends, key=lambda pair: pair[1]):  # a stream goes to a later column
        depth[end] = max(depth[end], depth[start] + 1)
    theirs: dict[int, list[float]] = {}
    for state, column in depth.items():
        theirs.setdefault(column, []).append(size[state])
    height = max(
        *(WHOLE * sum(each) for each in theirs.values()),
        *(WHOLE * sum(size[column, token] for token in each) + GAP * (len(each) - 1) for column, each in by_column.items()),
    )
    height = int(np.ceil(height)) + 2
    gap = min(((height - WHOLE * sum(each)) / (len(each) - 1) for each in theirs.values() if len(each) > 1), default=0.0)
    middle: dict[tuple[int, int], float] = {}
    home: dict[int, float] = {}  # of a token, where it was first
    for column, each in by_column.items():
        high = np.array([size[column, token] * WHOLE for token in each])
        order = np.array([home.get(token, np.interp(token, *_line(home)) if home else 0.0) for token in each])
        top = order - high / 2
        for i in range(len(each)):  # down, out of the way of those above
            top[i] = max(top[i], 0.0 if i == 0 else top[i - 1] + high[i - 1] + GAP)
        for i in reversed(range(len(each))):  # and up again, into the picture
            top[i] = min(top[i], height - high[i] if i == len(each) - 1 else top[i + 1] - GAP - high[i])
        for token, start, tall in zip(each, top, high, strict=True):
            middle[column, token] = float(start + tall / 2)
            home.setdefault(token, middle[column, token])
    return middle, height, gap


def _line(home: dict[int, float]) -> tuple[list[int], list[float]]:
    tokens = sorted(home)
    return tokens, [home[token] for token in tokens]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
