"""The window through which a picture shows part of a long text, and the map on which it is moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ui.look import Look
from ui.picture.board import Draft
from viz.numbers import percent
from viz.view import View
from viz.views.overview import overview

MAP = "window-map"  # its key on the board
LONG = 256  # tokens a side; a picture of more weights says little, so a window begins with as many
MOST = 1024  # the most tokens a side of a window, as many as a picture draws at once
WHOLE = ("Model", "Query-key", "BertViz")  # views of all of a long text
READING = "Reading"  # its picture is one text, so its window is as wide as high, and as long as possible

Edges = tuple[int, int, int, int]  # first and last query, first and last key


@dataclass(frozen=True)
class Window:
    """A chosen window. kind: of attention; counts: the numbers of queries and keys when it was chosen."""

    edges: Edges
    kind: str
    counts: tuple[int, int]


def needs_window(look: Look, view: str) -> bool:
    """Return whether a text is so long that a view shows a part of it."""
    return view not in WHOLE and max(sides(look)) > (MOST if view == READING else LONG)


def sides(look: Look) -> tuple[int, int]:
    """Return the numbers of queries and keys."""
    return len(look.attention.queries), len(look.attention.keys)


def follow(window: Window | None, look: Look) -> Window | None:
    """Return the chosen window, adapted to a text that may have changed; None if none is chosen for this attention."""
    if window is None or window.kind != look.kind:
        return window
    return Window(follow_text(window.edges, window.counts, sides(look)), look.kind, sides(look))


def seen_through(look: Look, window: Window | None, view: str) -> Look:
    """Return a long text as a window shows it; by default its end."""
    counts = sides(look)
    if window is None or window.kind != look.kind:
        size = MOST if view == READING else LONG
        edges = (max(0, counts[0] - size), counts[0] - 1, max(0, counts[1] - size), counts[1] - 1)
    else:
        edges = follow_text(window.edges, window.counts, counts)
    if view == READING and look.kind != "cross":
        edges = one_text(edges)
    return look.within(queries=edges[:2], keys=edges[2:])


def follow_text(edges: Edges, before: tuple[int, int], counts: tuple[int, int]) -> Edges:
    """Return a window's edges after the text's length has changed. A window on the whole text or on its end stays so."""
    new_edges: list[int] = []
    for first, last, old_count, count in zip(edges[::2], edges[1::2], before, counts, strict=True):
        is_whole = last - first + 1 >= old_count
        length = min(MOST if is_whole else last - first + 1, count)
        end = count - 1 if last >= old_count - 1 else min(last, count - 1)
        start = max(0, end - length + 1)
        new_edges += [start, start + length - 1]
    return new_edges[0], new_edges[1], new_edges[2], new_edges[3]


def one_text(edges: Edges) -> Edges:
    """Return edges with the same range of queries and keys: all that a window spans, or its end if that is too long."""
    first, last = min(edges[0], edges[2]), max(edges[1], edges[3])
    first = max(first, last - MOST + 1)
    return first, last, first, last


def map_of(draft: Draft, seen: Look) -> View:
    """Return the map of the chosen head with the window, which a visitor can move, and sentences on the window."""
    look = draft.look
    attention, counts = look.attention, sides(look)
    weights = attention[look.layer][look.head]
    window: tuple[tuple[int, int], tuple[int, int]] = seen.options["queries"], seen.options["keys"]
    facts = {
        "first": f"{window[0][0]:,}",
        "last": f"{window[0][1]:,}",
        "first_key": f"{window[1][0]:,}",
        "last_key": f"{window[1][1]:,}",
        "queries": f"{counts[0]:,}",
        "keys": f"{counts[1]:,}",
        "layer": look.number(look.layer),
        "head": look.head,
        "outside": percent(outside(look, seen)),
    }
    note = draft.words("window cross" if look.kind == "cross" else "window", **facts)
    return overview(attention.rows, attention.keys, weights, window, most=MOST, note=note, boxes=not look.beginner)


def outside(look: Look, seen: Look) -> float:
    """Return the share of attention that queries in the window give to keys outside of it, as a mean over these queries."""
    weights = look.attention[look.layer][look.head]
    row = look.within(queries=seen.options["queries"]).scope.apply(weights).sum(-1)
    return float(np.clip((row - seen.scope.apply(weights).sum(-1)).mean(), 0, 1))


def valid(window: object, counts: tuple[int, int]) -> bool:
    """Return whether a window from the browser fits this text."""
    if not (isinstance(window, list) and len(window) == 4 and all(isinstance(edge, int) for edge in window)):
        return False
    return all(
        0 <= first <= last < count and last - first < MOST
        for first, last, count in zip(window[::2], window[1::2], counts, strict=True)
    )
