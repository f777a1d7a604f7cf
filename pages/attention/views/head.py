"""View "Head": a layer's heads as lines from token to token."""

from __future__ import annotations

from pages.attention import recipes
from pages.attention.settings import Settings
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Picture


def lines(draft: Draft, look: Look, settings: Settings) -> Picture:
    seen, chosen = look.scope, look.chosen_token
    key = seen.keys.index(settings.key)  # None where another text has no such token, or it is not in the window
    if look.beginner and chosen is None and key is None:
        chosen = look.token  # so that a newcomer sees the lines of one token first
    on = heads_on(look, settings)
    return Picture(
        recipes.head_lines,
        (look,),
        {"layer": look.layer, "heads": on, "chosen": None if chosen is None else seen.queries.index(chosen)}
        | ({} if key is None else {"key": key})
        | ({"simple": True} if look.beginner else {}),
        "head-view",
        lambda: {"weights": seen[look.layer] if on is None else seen[look.layer][on]},
    )


def heads_on(look: Look, settings: Settings) -> list[int] | None:
    """Return the heads whose lines are drawn, None for all: the chosen one alone, until others are switched on."""
    count = look.scope.attention.heads
    on = [head for head in settings.heads if head < count] if settings.of_head == look.head else []
    return None if len(on) == count > 1 else on or [look.head]


def heads_seen(look: Look, settings: Settings) -> list[int] | None:
    """Return the heads whose lines are seen: those of `heads_on`, none where the reader has switched off each of them."""
    return [] if settings.of_head == look.head and not settings.heads else heads_on(look, settings)
