"""Part "Evolution" from plain values, as a message on the line brings them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis import maps, pair
from pages.layers import recipes
from pages.layers.boards.evolution import chosen_key, plays_one_head
from pages.layers.compose import compose
from pages.layers.settings import Evolution, Settings
from ui.look import Look
from ui.picture.board import Board

LARGEST = 10**9  # number of a token, a layer or a head


def values_of(settings: Settings) -> dict[str, Any]:
    """Return the settings of this part as plain values."""
    return {"pair_key": settings.pair_key, "film": settings.film, "clicked": settings.clicked}


def compose_from(look: Look, values: Mapping[str, Any]) -> Board:
    """Return the board of a text. values: as of `settings_of`."""
    settings, attention = settings_of(values), look.attention
    if len(attention.keys) < 2:
        return compose(look, settings, None)
    mean = maps(attention)
    in_heads = pair(attention, look.token, chosen_key(look, settings, recipes.over(mean)))
    film = maps(attention, look.head) if plays_one_head(look, settings) else mean
    return compose(look, settings, Evolution(mean, in_heads, film))


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Return the settings that these values make. Errors: ValueError, a sentence, for a value that is not allowed."""
    film = values.get("film", False)
    if not isinstance(film, bool):
        raise ValueError("“film” is true or false.")
    match values.get("clicked", (-1, -1)):
        case [int(layer), int(head)] if min(layer, head) >= -1 and max(layer, head) < LARGEST:
            clicked = (layer, head)
        case _:
            raise ValueError("“clicked” is a layer and a head, -1 and -1 for none.")
    match values.get("pair_key", (None, None)):
        case [None, None]:
            return Settings(film=film, clicked=clicked)
        case [int(key), int(id)] if min(key, id) >= 0 and max(key, id) < LARGEST:
            return Settings((key, id), film, clicked)
    raise ValueError("“pair_key” is the place of a token and its id, null and null for none.")
