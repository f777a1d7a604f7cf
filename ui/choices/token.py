"""The token that is kept chosen, on every page."""

from __future__ import annotations

from ui import state
from ui.live import visits


def keep(position: int | None) -> None:
    """Keep a token chosen; None: let it go."""
    state.TOKEN.set(position)
    state.KEPT_KEY.set(None)


def press(position: int, newest: int) -> None:
    """Keep a token chosen; pressed again it is let go, and then, as for the newest one, that is shown."""
    if visits.take_lost_token():
        keep(None)
    keep(None if position in (state.TOKEN.get(), newest) else position)
