"""The changes that a visitor has chosen: of the link, made and undone in the session."""

from __future__ import annotations

from collections.abc import Sequence

from pages.change import recipes
from pages.change import state as page_state
from ui import state
from ui.choices import text_boxes

MOST = 500  # changes at a time


def load() -> list[str]:
    """Return all changes, of the link or of the session. A notice tells of those in the link that are no changes."""
    if (link_text := state.take_linked_value(page_state.CHANGES)) is not None:
        texts = [text for text in link_text.split(",") if text]
        valid = [text for text in dict.fromkeys(texts) if recipes.is_change(text)][:MOST]
        page_state.CHANGES.set(",".join(valid))
        if invalid := [text for text in texts if not recipes.is_change(text)]:
            state.complain(page_state.CHANGES, ",".join(invalid), "the changes")
    changes = page_state.CHANGES.get() or ""
    state.keep(page_state.CHANGES, changes, "")
    return [text for text in changes.split(",") if text]


def change(changes: Sequence[str]) -> None:
    """Replace all changes; `undo` brings the old ones back."""
    page_state.CHANGES_BEFORE.set((*(page_state.CHANGES_BEFORE.get() or ()), page_state.CHANGES.get())[-100:])
    page_state.CHANGES.set(",".join(list(dict.fromkeys(changes))[:MOST]))


def undo() -> None:
    if before := page_state.CHANGES_BEFORE.get():
        page_state.CHANGES.set(before[-1])
        page_state.CHANGES_BEFORE.set(before[:-1])


def other_text() -> str:
    """Return the other text, from which a head's output is taken; "" where there is none."""
    return (page_state.CHANGE_OTHER.get() or "").replace(text_boxes.BREAK, "\n").strip() if page_state.RESAMPLE.get() else ""
