"""Several versions of a text, one below the other, each with its name; words that a model wrote are highlighted."""

from __future__ import annotations

from collections.abc import Sequence

from viz.view import View, pack


def versions(names: Sequence[str], texts: Sequence[Sequence[str]], label: str = "") -> View:
    """Draw the versions. texts: the pieces of each version, which alternate between the given text (even places) and the model's
    (odd).

    Raises ValueError where texts and names differ in number.
    """
    if len(names) != len(texts):
        raise ValueError(f"{len(texts)} texts for {len(names)} names: give one for each.")
    name = label or f"{len(names)} versions of a text"
    return View("versions", pack({"label": name, "names": list(names), "texts": [list(pieces) for pieces in texts]}), name)
