"""View "Head": a layer's heads as lines from token to token."""

from __future__ import annotations

from pages.attention import recipes
from ui import state
from ui.choices.token import keep
from ui.look import Look
from ui.picture.picture import Picture
from ui.show import choice


def lines(look: Look) -> Picture:
    seen, chosen = look.scope, look.chosen_token
    key = seen.keys.index(state.KEPT_KEY.get())  # None where another text has no such token, or it is not in the window
    on = heads_on(look)

    def react() -> None:
        match choice("head-view"):
            case {"heads": heads}:
                state.HEADS_ON.set((look.head, heads))
            case {"token": ["from", position]}:
                keep(seen.queries.groups[position][0])
            case {"token": ["to", position]}:
                state.KEPT_KEY.set(seen.keys.groups[position][0])
            case {"token": None}:
                keep(None)

    return Picture(
        recipes.head_lines,
        (look,),
        {"layer": look.layer, "heads": on, "chosen": None if chosen is None else seen.queries.index(chosen)}
        | ({} if key is None else {"key": key})
        | ({"simple": True} if look.beginner else {}),
        "head-view",
        lambda: {"weights": seen[look.layer] if on is None else seen[look.layer][on]},
        react,
    )


def heads_on(look: Look) -> list[int] | None:
    """Return the heads whose lines are drawn, None for all: the chosen one alone, until others are switched on."""
    chosen, on = state.HEADS_ON.get()
    count = look.scope.attention.heads
    on = [head for head in on if head < count] if chosen == look.head else []
    return None if len(on) == count > 1 else on or [look.head]
