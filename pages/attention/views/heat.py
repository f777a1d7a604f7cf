"""View "Heatmap": one head, or all heads of a layer; `pages.attention.compare` has two beside each other."""

from __future__ import annotations

from pages.attention import recipes
from pages.attention.settings import Settings
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Picture


def heat(draft: Draft, look: Look, settings: Settings) -> Picture:
    options = {"layer": look.layer, "causal": look.causal, "title": look.layer_name}
    if settings.heat == "all heads":
        if look.narrow:
            options["columns"] = 2
        return Picture(recipes.layer_heads, (look,), options, "heatmap", lambda: {"weights": look.scope[look.layer]})
    options |= {"head": look.head, "title": look.head_name} | ({"simple": True} if look.beginner else {})
    return Picture(recipes.one_head, (look,), options, "heatmap", lambda: {"weights": look.scope[look.layer][look.head]})
