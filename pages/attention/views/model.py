"""View "Model": every head of the model as a thumbnail."""

from __future__ import annotations

from analysis.head_patterns import patterns
from pages.attention import recipes, wording
from pages.attention.settings import Settings
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Picture

FILTERS = {
    "all": "",
    "token before": "previous",
    "first token": "first",
    "itself": "current",
    "earlier copies": "duplicate",
}
CLEAR = 0.3  # the share of a head's attention with which it passes a filter


def all_heads(draft: Draft, look: Look, settings: Settings) -> Picture:
    table = patterns(look.scope.attention)
    draft.add_words("model-patterns", wording.counts(draft, look, table))
    return Picture(
        recipes.all_heads,
        (look,),
        {"layer": look.layer, "head": look.head, "by": settings.order, "filter": FILTERS[settings.only], "clear": CLEAR},
        "model-view",
        lambda: {"weights": look.scope},
        known={"table": table},
    )
