"""Parts "Evolution" and "Lens" from plain values, as a message on the line brings them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis import maps, pair
from analysis.lens import CELLS, lens, translator
from pages.layers import recipes
from pages.layers.boards.evolution import chosen_key
from pages.layers.compose import compose
from pages.layers.settings import Evolution, Predictions, Settings
from ui.look import Look
from ui.picture.board import Board
from viz.views.grid_view.layers import LENS

LARGEST = 10**9  # number of a token or a layer
WINDOW = 48  # positions of a lens that are shown at a time


def values_of(settings: Settings) -> dict[str, Any]:
    """Return the settings of this part as plain values."""
    return {"pair_key": settings.pair_key, "film": settings.film}


def compose_from(look: Look, values: Mapping[str, Any]) -> Board:
    """Return the board of a text. values: as of `settings_of`."""
    settings, attention = settings_of(values), look.attention
    if len(attention.keys) < 2:
        return compose(look, settings, None)
    mean = maps(attention)
    in_heads = pair(attention, look.token, chosen_key(look, settings, recipes.over(mean)))
    film = maps(attention, look.head) if settings.film else mean
    return compose(look, settings, Evolution(mean, in_heads, film))


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Return the settings that these values make. Errors: ValueError, a sentence, for a value that is not allowed."""
    film = values.get("film", False)
    if not isinstance(film, bool):
        raise ValueError("“film” is true or false.")
    match values.get("pair_key", (None, None)):
        case [None, None]:
            return Settings(film=film)
        case [int(key), int(id)] if min(key, id) >= 0 and max(key, id) < LARGEST:
            return Settings((key, id), film)
    raise ValueError("“pair_key” is the place of a token and its id, null and null for none.")


def compose_lens(look: Look, values: Mapping[str, Any]) -> Board:
    """Return the board "Lens" of a text.

    values: "tuned", whether the layers are seen through the model's tuned lens; "colour" of the cells; "layer", the row that was
    clicked, and "token", the position and the id of its token, null for none. Errors: ValueError, a sentence, for a value that is
    not allowed or a text that a run has to show.
    """
    tuned, colour, layer = values.get("tuned", False), values.get("colour", "probability"), values.get("layer")
    if not isinstance(tuned, bool) or colour not in LENS:
        raise ValueError(f"“tuned” is true or false, and “colour” is one of {', '.join(LENS)}.")
    if layer is not None and not (type(layer) is int and 0 <= layer < LARGEST):
        raise ValueError("“layer” is a whole number from 0, or null.")
    places = positions_of(look)
    if not is_quick(look, places):
        raise ValueError("The lens of this text takes long or has words of its own, so a run of the page shows it.")
    translate = translator(look.model) if tuned else None
    if tuned and translate is None:
        raise ValueError("This model has no tuned lens.")
    predictions = lens(look.trace, places, recipes.TOP, translate)
    settings = Settings(lens_layer=layer, lens_token=token_of(values.get("token")), colour=colour)
    return compose(look, settings, Predictions(tuple(places), predictions, tuned))


def token_of(value: object) -> tuple[int, int] | None:
    """Return the position and the id of a token from plain values. Errors: ValueError, a sentence."""
    match value:
        case None:
            return None
        case [int(place), int(id)] if min(place, id) >= 0 and max(place, id) < LARGEST:
            return place, id
    raise ValueError("“token” is the position of a token and its id, or null.")


def positions_of(look: Look) -> list[int]:
    """Return the positions at which the model predicts, the columns of a lens; none without a language-model head."""
    if look.trace.unembed is None:
        return []
    return look.model.places(look.trace) if look.model.info.kind == "encoder" else list(range(len(look.trace.read)))


def is_quick(look: Look, positions: Sequence[int]) -> bool:
    """Return whether all positions are shown at a time, and their predictions are calculated within milliseconds."""
    logits = (len(look.trace.numbers) + 1) * len(positions) * look.model.info.vocabulary
    return 0 < len(positions) <= WINDOW and logits <= CELLS
