"""Clicks on the pictures of page "Attention"."""

from __future__ import annotations

from pages.attention import state as page_state
from pages.attention.window import MAP, Window, sides, valid
from ui import state
from ui.choices import heads
from ui.choices.token import keep, press
from ui.look import Look
from ui.show import choice


def on_lines(look: Look) -> None:
    seen = look.scope
    match choice("head-view"):
        case {"heads": on}:
            page_state.HEADS_ON.set((look.head, on))
        case {"token": ["from", position]}:
            keep(seen.queries.groups[position][0])
        case {"token": ["to", position]}:
            state.KEPT_KEY.set(seen.keys.groups[position][0])
        case {"token": None}:
            keep(None)


def on_text(look: Look) -> None:
    start = len(look.scope.keys.tokens) if look.kind == "cross" else 0  # the source stands before the target there
    if (position := choice("reading-view") - start) >= 0:
        press(look.scope.queries.groups[position][0], look.newest)


def on_thumbnail(look: Look) -> None:
    state.VIEW.set("Head")
    heads.choose(*choice("model-view"))


def on_numbers(look: Look) -> None:
    state.KEPT_KEY.set(choice("query-key-view")["key"])


def on_map(look: Look) -> None:
    if valid(window := choice(MAP), counts := sides(look)):
        page_state.WINDOW.set(Window(tuple(window), look.kind, counts))


REACTIONS = {"head-view": on_lines, "reading-view": on_text, "model-view": on_thumbnail, "query-key-view": on_numbers}
