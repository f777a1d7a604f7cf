"""Long texts: the window that a picture looks through, and the map on which it is moved."""

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

LONG = 256  # tokens a side: beyond, a picture of every weight between them says little, and a window shows as many at first
MOST = 1024  # tokens a side that a window can have: what a picture draws at once
READING = "Reading"  # its picture is one text, so its window is as wide as high; and a text is read as a whole where it can be

Edges = tuple[int, int, int, int]  # first and last query, first and last key


@dataclass(frozen=True)
class Held:
    """A window that was chosen, and what of: the kind of attention, and how many queries and keys there were."""

    edges: Edges
    kind: str
    counts: tuple[int, int]


def through(folder: Path, look: Look, view: str) -> Look:
    """Of a long text, what the window shows of it, with the map on which the window is moved; else what was given.

    folder: where the words of the page stand, sections "window" and "window Reading".
    """
    counts = len(look.attention.queries), len(look.attention.keys)
    two_texts = view == "Heatmap" and compare.chosen(look) in ("text", "model")  # aligned as wholes
    if two_texts or max(counts) <= (MOST if view == READING else LONG):
        return look
    edges = chosen(look.kind, counts, view)
    seen = look.within(queries=edges[:2], keys=edges[2:])
    show_map(folder, look, seen, edges, view)
    return seen


def chosen(kind: str, counts: tuple[int, int], view: str) -> Edges:
    """The window as it was chosen, moved along with a text that is typed on; or the end of the text."""
    held = state.WINDOW.get()
    if held is None or held.kind != kind:
        size = MOST if view == READING else LONG
        edges = (max(0, counts[0] - size), counts[0] - 1, max(0, counts[1] - size), counts[1] - 1)
    else:
        edges = followed(held.edges, held.counts, counts)
        state.WINDOW.set(Held(edges, kind, counts))
    return one_text(edges) if view == READING and kind != "cross" else edges


def followed(edges: Edges, before: tuple[int, int], counts: tuple[int, int]) -> Edges:
    """A window on a text that has become longer or shorter: all stays all, its end its end, else it stays where it is."""
    moved: list[int] = []
    for first, last, was, count in zip(edges[::2], edges[1::2], before, counts, strict=True):
        everything = last - first + 1 >= was
        length = min(MOST if everything else last - first + 1, count)
        end = count - 1 if last >= was - 1 else min(last, count - 1)
        start = max(0, end - length + 1)
        moved += [start, start + length - 1]
    return moved[0], moved[1], moved[2], moved[3]


def one_text(edges: Edges) -> Edges:
    """The same stretch as queries and as keys: all that a window spans, or its end where that is more than is drawn."""
    first, last = min(edges[0], edges[2]), max(edges[1], edges[3])
    first = max(first, last - MOST + 1)
    return first, last, first, last


def show_map(folder: Path, look: Look, seen: Look, edges: Edges, view: str) -> None:
    """The map of the chosen head, what is said of the window, and the window, which a visitor moves."""
    attention = look.attention
    counts = len(attention.queries), len(attention.keys)
    weights = attention[look.layer][look.head]

    def moved() -> None:
        if valid(window := choice("window-map"), counts):
            state.WINDOW.set(Held(tuple(window), look.kind, counts))

    facts = {
        "first": f"{edges[0]:,}", "last": f"{edges[1]:,}", "first_key": f"{edges[2]:,}", "last_key": f"{edges[3]:,}",
        "queries": f"{counts[0]:,}", "keys": f"{counts[1]:,}", "layer": look.layer, "head": look.head,
        "outside": percent(outside(look, seen)),
    }  # fmt: skip
    note = words(folder, "window cross" if look.kind == "cross" else "window", **facts)
    window = (edges[0], edges[1]), (edges[2], edges[3])
    show(
        overview(attention.rows, attention.keys, weights, window, most=MOST, note=note, boxes=not look.beginner),
        "window-map",
        moved,
    )


def outside(look: Look, seen: Look) -> float:
    """The share of the attention of the queries in the window that goes to keys outside of it: the mean over these queries."""
    weights = look.attention[look.layer][look.head]
    row = look.within(queries=seen.options["queries"]).scope.apply(weights).sum(-1)
    return float(np.clip((row - seen.scope.apply(weights).sum(-1)).mean(), 0, 1))


def valid(window: object, counts: tuple[int, int]) -> bool:
    """Whether a browser told of a window that this text has."""
    if not (isinstance(window, list) and len(window) == 4 and all(isinstance(edge, int) for edge in window)):
        return False
    return all(
        0 <= first <= last < count and last - first < MOST
        for first, last, count in zip(window[::2], window[1::2], counts, strict=True)
    )
