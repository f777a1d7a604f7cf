"""A slider through the steps of something that may still go on: it keeps up with the newest until somebody moves it."""

from __future__ import annotations

from collections.abc import Sequence

from viz.view import View, pack


def time_slider(names: Sequence[str], newest: int, at: int, label: str = "Step") -> View:
    """Positions called `names`, of which those up to `newest` can be chosen and `at` is; a button plays through them.

    While somebody drags or it plays, data that arrive do not move it. A move tells `chosen`: the position, a whole number.
    Raises ValueError for a position that is not there.
    """
    if not 0 <= at <= newest < len(names):
        raise ValueError(f"Position {at} of at most {newest}: there are {len(names)} names.")
    return View("time_slider", pack({"label": label, "names": list(names), "newest": newest, "at": at}), label)
