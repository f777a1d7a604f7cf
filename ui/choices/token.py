"""The token that is kept chosen, on every page."""

from __future__ import annotations

from ui import state
from ui.live import visits


def keep(position: int | None) -> None:
    """Keep a token chosen; None: let it go."""
    state.TOKEN.set(position)
    state.KEPT_KEY.set(None)


def current_token() -> int | None:
    """Return the token that is kept chosen; None for none, also where the line has let it go."""
    if visits.take_lost_token():
        keep(None)
    return state.TOKEN.get()


def press(position: int, newest: int) -> None:
    """Keep a token chosen; pressed again it is let go, and then, as for the newest one, that is shown."""
    keep(None if position in (current_token(), newest) else position)
