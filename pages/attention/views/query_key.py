"""View "Query-key": how one query comes to its weights, number by number."""

from __future__ import annotations

import numpy as np

from analysis import query_key
from pages.attention import recipes
from pages.attention.settings import Settings
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Picture
from viz.numbers import decimal


def numbers(draft: Draft, look: Look, settings: Settings) -> Picture:
    position = look.token if settings.query is None else settings.query
    draft.add_words("score", score(draft, look))

    def parts() -> dict[str, np.ndarray]:
        numbers = vars(query_key(look.attention, look.layer, look.head, position))
        return {name: np.asarray(value) for name, value in numbers.items() if value is not None}

    key = settings.key
    options = {"layer": look.layer, "head": look.head, "position": position}
    options |= {} if key is None or key >= len(look.attention.keys) else {"key": key}
    return Picture(recipes.numbers, (look,), options, "query-key-view", parts)


def score(draft: Draft, look: Look) -> str:
    """Return what the score of a key is, for the line above the numbers."""
    call, dimensions = look.attention.call(look.layer), look.attention.q(look.layer).shape[-1]
    usual = abs(call.scale * dimensions**0.5 - 1) < 1e-4
    headings = ["score usual" if usual else "score"]
    headings += ["score bias"] if call.bias is not None else []
    headings += ["score softcap"] if call.softcap is not None else []
    return draft.paragraph(*headings, dimensions=dimensions, scale=decimal(call.scale), softcap=decimal(call.softcap or 0))
