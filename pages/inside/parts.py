"""The parts of the page for one text: its way through the model, and what is read of the open stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analysis import inside
from models.pieces.values import Pieces
from pages.inside import kept, naming, recipes, stops
from pages.inside.opened import Slider, open_stage
from pages.inside.settings import Explained, Glimpse, Hidden, Opened, Reading
from pages.inside.spots import Selection
from ui.look import Look
from ui.memory import visitors


def follow_label(look: Look) -> Look:
    """Follow the token at which a classifier reads its label, while no other token is chosen."""
    labels = look.model.info.labels
    alone = labels is not None and not labels.each and not labels.pooled and look.kind != "encoder"
    return replace(look, at_first=look.default_position) if alone else look


def own_block(look: Look) -> tuple[str, int]:
    """Return the stack and the layer of the head that is looked at."""
    return "decoder" if look.kind == "cross" else look.kind, look.layer


def stack_layers(look: Look) -> dict[str, int]:
    """Return how many layers each stack has."""
    return {name: attention.layers for name, attention in look.trace.attention.items() if name != "cross"}


def way_of(look: Look, block: tuple[str, int], stage: str) -> inside.Way:
    """Return the way of a text through a block; it is followed once for each visitor. stage: the one that is to be open."""
    stack, layer = block
    count = len(look.trace.target if stack == "decoder" else look.trace.tokens)
    return kept.way(visitors.me(), look.model, look.trace, stack, layer, min(look.token, count - 1), stage)


def shapes(look: Look, way: inside.Way) -> dict[str, tuple[int, ...]]:
    """Return the sizes of the stages with numbers, over the whole text."""
    return {stage.name: naming.sizes(look, stage) for stage in way.stages if recipes.known(stage)}


def names(way: inside.Way) -> list[str]:
    """Return the names of all that can be opened."""
    return [*stops.BEGINNING, stops.ORDER, *(stage.name for stage in way.stages)]


def of_stage(
    look: Look, way: inside.Way, chosen: Selection, slider: Slider | None = None, is_unfolded: bool | None = None
) -> Sequence[Reading]:
    """Return what is read of the open stage, none where none is open. slider: as of `open_stage`. is_unfolded: whether beginners
    see the numbers one by one; by default they do once a number is chosen."""
    if chosen.stage in ("", *stops.BEGINNING, stops.ORDER):
        return [Explained(chosen.stage)] if chosen.stage else []
    stage = recipes.stage_of(way, chosen.stage)
    hidden = [Hidden(stage.missing)] if stage.missing else []
    if not recipes.known(stage):
        return hidden
    is_whole = not look.beginner or (chosen.index is not None if is_unfolded is None else is_unfolded)
    here = open_stage(look, way, stage, chosen, slider if is_whole else None)
    if not look.beginner:
        return [*hidden, Opened(here)]
    first = Glimpse(here)
    return [*hidden, first, *([Opened(here)] if is_whole and first.folds else [])]


def cuts_of(look: Look) -> Pieces:
    """Return how the tokenizer cut the text."""
    return look.model.pieces(look.trace.text[look.trace.cut :])
