"""View "Query-key": how one query comes to its weights, number by number."""

from __future__ import annotations

import numpy as np

from analysis import query_key
from pages.attention import recipes
from pages.attention.settings import Settings
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Picture


def numbers(draft: Draft, look: Look, settings: Settings) -> Picture:
    position = look.token if settings.query is None else settings.query

    def parts() -> dict[str, np.ndarray]:
        numbers = vars(query_key(look.attention, look.layer, look.head, position))
        return {name: np.asarray(value) for name, value in numbers.items() if value is not None}

    key = settings.key
    options = {"layer": look.layer, "head": look.head, "position": position}
    options |= {} if key is None or key >= len(look.attention.keys) else {"key": key}
    return Picture(recipes.numbers, (look,), options, "query-key-view", parts)
