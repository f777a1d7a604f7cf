"""View "Reading": the text as a paragraph, shaded by where a token looks, or by a number of each token."""

from __future__ import annotations

import numpy as np

from pages.attention import recipes
from pages.attention.settings import Settings
from ui.look import Look
from ui.picture.board import Draft, Note
from ui.picture.picture import Numbers, Picture

UNITS = {"entropy": "nats", "surprise": "bits"}


def reading(draft: Draft, look: Look, settings: Settings) -> Picture | Note:
    shade = settings.shade
    one_text, forwards = look.kind != "cross", not look.both_ways
    if (shade in ("rollout", "entropy", "surprise") and not one_text) or (shade == "surprise" and not forwards):
        return Note(
            f"There is no {shade} for this attention. Rollout, entropy and surprise need a single text. "
            "Surprise also needs a decoder.",
            "info",
        )
    options = {"kind": look.kind, "shade": shade, "layer": look.layer, "head": look.head, "target": look.second}
    if shade in ("entropy", "surprise"):

        def numbers() -> dict[str, Numbers]:
            values = recipes.token_numbers(look.trace, look.scope, shade, look.layer, look.head)
            return {f"{shade}_{UNITS[shade]}": Numbers(values.astype(np.float32), ("token",))}

        return Picture(recipes.quantity, (look,), options, "reading-view", numbers, words=shade)
    chosen = look.chosen_token
    options |= {"causal": look.causal, "chosen": None if chosen is None else look.scope.queries.index(chosen)}

    def weights() -> dict[str, np.ndarray]:
        return {"weights": recipes.shades(look.scope, shade, look.layer, look.head)}

    return Picture(recipes.reading, (look,), options, "reading-view", weights, words=shade)
