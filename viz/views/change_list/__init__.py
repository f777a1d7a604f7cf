"""The list of changes, each with an undo button; buttons to undo the last step and all changes."""

from __future__ import annotations

from collections.abc import Sequence

from viz.view import View, pack


def change_list(names: Sequence[str], back: bool = False, more: str = "") -> View:
    """Draw two buttons, “Undo” and “As it was”, and a button for each of `names`.

    back: whether there is a step to undo; more: a few words behind the names. A click sends `chosen`: "undo", "reset", or the
    index of a name.
    """
    return View("change_list", pack({"names": list(names), "back": back, "more": more}), "What is changed")
