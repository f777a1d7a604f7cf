"""The selected token, which stays selected on every page."""

from __future__ import annotations

from ui import state
from ui.live import visits


def keep(position: int | None) -> None:
    """Select a token; None: deselect it."""
    state.TOKEN.set(position)
    state.KEPT_KEY.set(None)


def current_token() -> int | None:
    """Return the selected token; None if none is, or if the line has deselected it."""
    if visits.take_lost_token():
        keep(None)
    return state.TOKEN.get()


def press(position: int, newest: int) -> None:
    """Select a token, or deselect it at a second click; then the newest token is shown."""
    keep(None if position in (current_token(), newest) else position)
