"""Page "Attention" from plain values, as a message on the line brings them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from pages.attention import of_image
from pages.attention.compose import compose
from pages.attention.settings import Settings
from pages.attention.views import BEGINNER
from pages.attention.window import Window, follow
from ui.look import Look
from ui.picture.board import Board

VIEWS = ("Head", "Reading", "Model", "Query-key")  # that are views of ours
OPTIONS = {
    "shade": ("head", "layer", "all heads", "rollout", "entropy", "surprise"),
    "order": ("layer", "similarity", "pattern", "entropy", "distance", "previous", "first", "induction"),
    "only": ("all", "token before", "first token", "itself", "earlier copies"),
}
LARGEST = 10**6  # number of a token or a head
MOST = 1000  # heads whose lines are switched on


def values_of(settings: Settings) -> dict[str, Any]:
    """Return the settings of a view as plain values. The query is a choice of every page, and so none of these."""
    values = asdict(settings)
    return {name: values[name] for name in ("view", *OPTIONS, "heads", "of_head", "single", "key", "window")}


def compose_from(look: Look, values: Mapping[str, Any]) -> Board:
    """Return the board of a text. values: as of `settings_of`."""
    if "image" in look.model.info.reads:
        return of_image.compose(look)
    settings = settings_of(look.level, values)
    if look.apart:
        raise ValueError("Here tokens are not joined to words, which a run of the page says.")
    return compose(look, replace(settings, window=follow(settings.window, look)))


def settings_of(level: str, values: Mapping[str, Any]) -> Settings:
    """Return the settings that these values make at a level. Errors: ValueError, a sentence, for a value that is not allowed."""
    view = values.get("view", "Head")
    if view not in VIEWS or (level == "beginner" and view not in BEGINNER):
        raise ValueError(f"“view” is one of {', '.join(VIEWS)}, for beginners one of {', '.join(BEGINNER)}.")
    options = {name: values.get(name, allowed[0]) for name, allowed in OPTIONS.items()}
    for name, allowed in OPTIONS.items():
        if options[name] not in allowed:
            raise ValueError(f"“{name}” is one of {', '.join(allowed)}.")
    heads = values.get("heads", ())
    if not isinstance(heads, list | tuple) or len(heads) > MOST or not all(map(is_number, heads)):
        raise ValueError("“heads” is a list of heads, counted from 0.")
    places: dict[str, Any] = {name: values.get(name) for name in ("of_head", "single", "key")}
    if not all(place is None or is_number(place) for place in places.values()):
        raise ValueError("“of_head”, “single” and “key” are whole numbers from 0, or null.")
    window = window_of(values.get("window"))
    return Settings(view, **options, heads=tuple(heads), window=window, **places)


def window_of(values: object) -> Window | None:
    """Return a window from plain values. Errors: ValueError, a sentence."""
    match values:
        case None:
            return None
        case {"edges": [first, last, first_key, last_key], "kind": str(kind), "counts": [queries, keys]}:
            edges = first, last, first_key, last_key
            if all(map(is_number, (*edges, queries, keys))) and first <= last < queries and first_key <= last_key < keys:
                return Window(edges, kind, (queries, keys))
    raise ValueError("“window” has edges within the counts of queries and keys, and a kind of attention.")


def is_number(value: object) -> bool:
    return type(value) is int and 0 <= value < LARGEST
