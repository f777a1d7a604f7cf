"""The window through which a picture shows part of a long text, and the map on which it is moved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pages.attention import compare
from ui import state
from ui.look import Look
from ui.show import choice, show
from ui.words import words
from viz import percent
from viz.views.overview import overview

LONG = 256  # tokens a side; a picture of more weights says little, so a window begins with as many
MOST = 1024  # the most tokens a side of a window, as many as a picture draws at once
READING = "Reading"  # its picture is one text, so its window is as wide as high, and as long as possible

Edges = tuple[int, int, int, int]  # first and last query, first and last key


@dataclass(frozen=True)
class Window:
    """A chosen window. kind: of attention; counts: the numbers of queries and keys when it was chosen."""

    edges: Edges
    kind: str
    counts: tuple[int, int]


def window_look(folder: Path, look: Look, view: str) -> Look:
    """Return a long text as the window shows it, and place the map on which the window is moved; a short text as it is.

    folder: that of the page's words, with the sections "window" and "window Reading".
    """
    counts = len(look.attention.queries), len(look.attention.keys)
    two_texts = view == "Heatmap" and compare.chosen_way(look) in ("text", "model")  # aligned as wholes
    if two_texts or max(counts) <= (MOST if view == READING else LONG):
        return look
    edges = current_edges(look.kind, counts, view)
    seen = look.within(queries=edges[:2], keys=edges[2:])
    show_map(folder, look, seen, edges, view)
    return seen


def current_edges(kind: str, counts: tuple[int, int], view: str) -> Edges:
    """Return the edges of the chosen window, which follows a text that is typed; by default the end of the text."""
    window = state.WINDOW.get()
    if window is None or window.kind != kind:
        size = MOST if view == READING else LONG
        edges = (max(0, counts[0] - size), counts[0] - 1, max(0, counts[1] - size), counts[1] - 1)
    else:
        edges = follow_text(window.edges, window.counts, counts)
        state.WINDOW.set(Window(edges, kind, counts))
    return one_text(edges) if view == READING and kind != "cross" else edges


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
    """Return edges with the same range of queries and keys: all that a window spans, or the end of it where that is too much."""
    first, last = min(edges[0], edges[2]), max(edges[1], edges[3])
    first = max(first, last - MOST + 1)
    return first, last, first, last


def show_map(folder: Path, look: Look, seen: Look, edges: Edges, view: str) -> None:
    """Place the map of the chosen head with the window, which a visitor can move, and sentences on the window."""
    attention = look.attention
    counts = len(attention.queries), len(attention.keys)
    weights = attention[look.layer][look.head]

    def save_window() -> None:
        if valid(window := choice("window-map"), counts):
            state.WINDOW.set(Window(tuple(window), look.kind, counts))

    facts = {
        "first": f"{edges[0]:,}", "last": f"{edges[1]:,}", "first_key": f"{edges[2]:,}", "last_key": f"{edges[3]:,}",
        "queries": f"{counts[0]:,}", "keys": f"{counts[1]:,}", "layer": look.number(look.layer), "head": look.head,
        "outside": percent(outside(look, seen)),
    }  # fmt: skip
    note = words(folder, "window cross" if look.kind == "cross" else "window", **facts)
    window = (edges[0], edges[1]), (edges[2], edges[3])
    show(
        overview(attention.rows, attention.keys, weights, window, most=MOST, note=note, boxes=not look.beginner),
        "window-map",
        save_window,
    )


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
