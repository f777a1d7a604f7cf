"""A store of the path that each visitor follows, so that a click on a stage calculates nothing again."""

from __future__ import annotations

from threading import Lock

from analysis import inside
from models.language_model import LanguageModel
from models.reading.bounded import Bounded
from models.trace import Trace
from pages.inside import recipes
from ui.memory import loaded, visitors

ONE, BYTES = "the way", 128 * 2**20  # of all visitors' ways

_lock, ways = Lock(), Bounded[str, inside.Way](1, BYTES)


def way(visitor: str, model: LanguageModel, trace: Trace, stack: str, layer: int, around: int, stage: str = "") -> inside.Way:
    """Return the path of a trace: the visitor's stored one, else a new one, which replaces it.

    stage: the stage to open. The steps after the blocks are followed for one token only, unless the stage is there.
    """
    with _lock:
        known = ways.of(visitor).get(ONE)
    beyond = bool(stage) and (known is None or not any(each.name == stage and each.held is None for each in known.stages))
    if known is not None:
        same = known.trace is trace and (known.model, known.stack, known.layer) == (model, stack, layer)
        known = known if same and known.serves(around, beyond) else None
    way = known or recipes.way_of(model, trace, stack, layer, around, None if beyond else [around])
    with _lock:
        ways.keep(visitor, ONE, way)  # a stored way too, for it may have grown
    return way


def forget(model: LanguageModel) -> None:
    """Drop the paths through a model."""
    with _lock:
        for visitor in ways.owners:
            if any(way.model is model for way in ways.of(visitor).values()):
                ways.drop(visitor, ONE)


def keep_for(here: visitors.Here) -> None:
    """Drop the paths of visitors who have left."""
    with _lock:
        ways.keep_for(here)


loaded.shelf.leaving.append(forget)
visitors.leaving.append(keep_for)
