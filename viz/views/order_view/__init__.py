"""The words of a text as chips that can be reordered by dragging, by clicking, and with the keyboard."""

from __future__ import annotations

from collections.abc import Sequence

from viz.tokens import pieces
from viz.view import View, pack


def order_view(words: Sequence[str], order: Sequence[int], changed: Sequence[int] = (), label: str = "") -> View:
    """Draw the words in an order; below each moved word is its original place, counted from 1.

    words: as they were typed; order: for each place, the number of its word; changed: words that are marked because their tokens
    have changed. Moving a word sends `chosen`: `{"order", "n"}`, where `n` grows. Raises ValueError for an invalid order.
    """
    if sorted(order) != list(range(len(words))):
        raise ValueError(f"An order of {len(words)} words names each of 0 to {len(words) - 1} once.")
    name = label or f"{len(words)} words in an order of your own"
    marked = [place in set(changed) for place in range(len(words))]
    header = {"label": name, "words": [pieces(word) for word in words], "order": list(order), "changed": marked}
    return View("order_view", pack(header), name)
