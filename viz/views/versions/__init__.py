"""A text in several versions below each other, each with its name; what a model wrote stands out from what it was given."""

from __future__ import annotations

from collections.abc import Sequence

from viz.view import View, pack


def versions(names: Sequence[str], texts: Sequence[Sequence[str]], label: str = "") -> View:
    """texts: of each version its pieces, which alternate between what was given (even places) and what the model wrote (odd).

    Raises ValueError where their number is not that of the names.
    """
    if len(names) != len(texts):
        raise ValueError(f"{len(texts)} texts for {len(names)} names: give one for each.")
    name = label or f"{len(names)} versions of a text"
    return View("versions", pack({"label": name, "names": list(names), "texts": [list(pieces) for pieces in texts]}), name)
