"""Page "Inside" from plain values, as a message on the line brings them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pages.inside import opened, parts, stops
from pages.inside.compose import compose
from pages.inside.opened import Slider
from pages.inside.settings import Below, Cuts, Reading, Settings, Stages, Tokenizer
from pages.inside.spots import block_of, fitting, selection_of
from ui.look import Look
from ui.picture.board import Board, compose_parts

LONGEST = 10_000  # characters of a trail
BY_RUNS = (stops.ORDER, "feed-forward")  # open stages with controls for the words of a text, or with charts of it


def compose_from(look: Look, values: Mapping[str, Any], other: Tokenizer | None = None) -> Board:
    """Return the board of a text.

    other: the tokenizer beside which the page shows its own. values: "stage", "cell", "trail" and "block" as a link writes them;
    "every": whether the small stages are unfolded; "text": whether a beginner follows the text and not the answer; "word": the
    one that was clicked among the words of the text, null for none; "steps": whether a beginner sees the steps of a word;
    "columns": the count of numbers and the number for which the page has a slider, and where it stands, null for none. Errors:
    ValueError, a sentence, for a value that is not allowed, and where the text needs another slider.
    """
    stage, cell, trail, block = (written(values, name) for name in ("stage", "cell", "trail", "block"))
    if stage in BY_RUNS:
        raise ValueError(f"The stage “{stage}” has controls, so a run of the page draws it.")
    if values.get("text") is True and look.beginner and look.kind != "self":
        look = replace(look, kind="encoder")
    look = parts.follow_label(look)
    followed = block_of(block, parts.stack_layers(look)) if look.beginner else None
    way = parts.way_of(look, followed or parts.own_block(look), stage)
    chosen = selection_of(*fitting(stage, cell, trail, parts.shapes(look, way), parts.names(way)))
    here = parts.of_stage(look, way, chosen, slider_of(values.get("columns")))
    cuts = pieces_of(look, values, other) if chosen.stage == "pieces" else []
    settings = Settings(chosen, every_stage=values.get("every") is True)
    readings = [(settings, reading) for reading in (Stages(way), *here)]
    return compose_parts(compose, look, [*readings, *cuts, (settings, Below(way))])


def pieces_of(look: Look, values: Mapping[str, Any], other: Tokenizer | None) -> list[tuple[Settings, Reading]]:
    """Return what the stage "pieces" shows: how the text was cut, and another tokenizer beside it."""
    word, pieces = values.get("word"), parts.cuts_of(look)
    if word is not None and not (type(word) is int and word >= 0):
        raise ValueError("“word” is a whole number from 0, or null.")
    clicked = word if word is not None and word < len(pieces.words) else None
    with_steps = not look.beginner or clicked is not None or values.get("steps") is True
    return [(Settings(word=clicked), Cuts(pieces, with_steps)), *([(Settings(), other)] if other else [])]


def slider_of(columns: object) -> Slider:
    """Return what answers for the slider that a run has placed."""

    def last(count: int, at: int) -> int:
        match columns:
            case [int(all_columns), int(number), int(end)] if (all_columns, number) == (
                count,
                at,
            ) and opened.COLUMNS <= end <= count:
                return end
        raise ValueError("This text needs another slider, which a run of the page places.")

    return last


def written(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name, "")
    if not isinstance(value, str) or len(value) > LONGEST:
        raise ValueError(f"“{name}” is a text of at most {LONGEST:,} characters.")
    return value
