"""The path that a visitor follows: clicks on the open stage, and the slider beside it."""

from __future__ import annotations

import streamlit as st

from analysis import inside
from pages.inside import choose, glimpse, naming, parts, recipes
from pages.inside import state as page_state
from pages.inside.opened import COLUMNS, OpenStage, last_around
from pages.inside.spots import Spot
from ui import state
from ui.choices.token import keep, press
from ui.look import Look
from ui.show import choice


def current_way(look: Look) -> inside.Way:
    """Return the path of this text through the chosen block; it is followed once per visitor."""
    return parts.way_of(look, choose.block(look), state.linked_value(page_state.STAGE) or page_state.STAGE.get())


def last_column(count: int, at: int) -> int:
    """Place a slider for the last shown number of a row, and return it. at: the explained number."""
    key = page_state.INSIDE_COLUMNS.of(f"{count}-{at}")
    return st.slider(
        "Numbers up to", COLUMNS, count, last_around(count, at), key=key.name, help=f"{COLUMNS} of {count:,} are shown at a time."
    )


def react(here: OpenStage, key: str) -> None:
    """Handle a click in a board of the open stage."""
    stage = here.stage
    match choice(key):
        case {"part": "chips" | "bars", "value": int(token)}:
            press(token, here.look.newest)
        case {"part": "matrix", "value": [row, column]}:
            if naming.row_axis(stage) != "source":  # the token of a row is the one that is followed
                keep(here.rows[row])
            choose.look_at(stage.name, here.at(here.rows[row], here.columns[column]))
        case {"part": "row", "value": [_, column]}:
            choose.look_at(stage.name, here.at(here.place[0], here.columns[column]))
        case {"part": "strip", "value": [line, place]}:
            of, row, column = glimpse.pressed(here, line, place)
            if row != here.place[0]:
                keep(row)
            choose.look_at(of.name, here.at(row, column))
        case {"part": "cell", "value": {"term": number, "side": side}}:
            terms, _ = recipes.largest(here.cell)
            place = (terms[number].other if side else terms[number].source) if number < len(terms) else None
            if place is not None:
                choose.follow(here.look, here.spot, here.trail, Spot(*place))
        case {"part": "cell", "value": {"back": number}} if number < len(here.trail):
            choose.back(here.look, here.trail, number)
