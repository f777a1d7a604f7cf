"""A slider through the steps of a process that may still be running: it follows the newest step until somebody moves it."""

from __future__ import annotations

from collections.abc import Sequence

from viz.view import View, pack


def time_slider(names: Sequence[str], newest: int, at: int, label: str = "Step") -> View:
    """Draw a slider over positions with these `names`: those up to `newest` can be chosen, `at` is chosen; a button plays through
    them.

    While somebody drags it or it plays, new data does not move it. A move sends `chosen`: the position, a whole number. Raises
    ValueError for a position that does not exist.
    """
    if not 0 <= at <= newest < len(names):
        raise ValueError(f"Position {at} of at most {newest}: there are {len(names)} names.")
    return View("time_slider", pack({"label": label, "names": list(names), "newest": newest, "at": at}), label)
