"""The board "Switch off" from plain values, as a message on the line brings them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pages.change import changes, recipes
from pages.change.compose import compose, compose_unfit
from pages.change.settings import Settings, Switched
from ui import state
from ui.look import Look
from ui.picture.board import Board

PARTS = ("parts", "after", "changes", "dials")  # of the board, in which something can be changed


def values_of(settings: Settings, other_text: str) -> dict[str, Any]:
    """Return the settings of this experiment, and the other text, as plain values."""
    return {"changes": list(settings.changes), "undo": settings.undo, "other": other_text}


def compose_from(look: Look, values: Mapping[str, Any]) -> Board:
    """Return the board of a text, below the reasons why some changes are left out. The rank of a changed head among all heads is
    left to the run that follows, because every head is tried for it. values: as of `values_of`."""
    settings, other_text = settings_of(values)
    look = changes.through_changed_head(replace(look, options={}), settings.changes)
    changed = changes.apply(look, settings.changes, other_text)
    unfit = compose_unfit(look, changed)
    explained = None if look.explained is None else {**look.explained, **unfit.explained}
    return join(unfit, compose(replace(look, explained=explained), settings, Switched(changed)))


def after_click(look: Look, click: object, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the values that a click on the board changes; None for one that changes none, or takes a step back. values: as of
    `values_of`."""
    settings, other_text = settings_of(values)
    look = changes.through_changed_head(replace(look, options={}), settings.changes)
    after = changes.after_click(look, settings.changes, click, other_text)
    return None if after is None else {"changes": changes.bounded(after), "undo": True}


def join(above: Board, below: Board) -> Board:
    """Return two boards of a page as one."""
    return Board(
        {**above.contents, **below.contents},
        (*above.beside, *below.beside),
        (*above.pictures, *below.pictures),
        {**above.explained, **below.explained},
    )


def settings_of(values: Mapping[str, Any]) -> tuple[Settings, str]:
    """Return the settings that these values make, and the other text. Errors: ValueError, a sentence, for a value that is not
    allowed."""
    listed, undo, other_text = values.get("changes", []), values.get("undo", False), values.get("other", "")
    if not isinstance(listed, list) or len(listed) > changes.MOST or not all(map(is_change, listed)):
        raise ValueError(f"“changes” is a list of at most {changes.MOST} changes, as a link writes them.")
    if not isinstance(undo, bool):
        raise ValueError("“undo” is true or false.")
    if not isinstance(other_text, str) or len(other_text) > state.LINKED:
        raise ValueError(f"“other” is a text of at most {state.LINKED:,} characters.")
    return Settings(tuple(listed), undo), other_text


def is_change(value: object) -> bool:
    return isinstance(value, str) and recipes.is_change(value)
