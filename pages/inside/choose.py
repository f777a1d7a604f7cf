"""The open stage, the number that is looked at, and the trail of numbers that led to it: all in the link."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pages.inside import state as page_state
from pages.inside.spots import Selection, Spot, indices
from ui import state
from ui.choices import heads
from ui.choices.token import keep
from ui.choices.widgets import one_of
from ui.look import Look

AFTER = "~"  # between the numbers of a trail in an address
FURTHEST = 40  # numbers of a trail that are kept: where it began, and the last ones


def text(look: Look) -> Look:
    """Return the look at the text of an encoder-decoder that a beginner follows: the answer, or what was typed. Others choose the
    attention in the side bar."""
    if look.kind == "self" or not look.beginner:
        return look
    if (state.linked_value(page_state.BLOCK) or page_state.BLOCK.get()).startswith("encoder"):  # a number of it is looked at
        page_state.INSIDE_TEXT.set(page_state.INSIDE_TEXT.values[1])
    chosen = one_of(
        page_state.INSIDE_TEXT,
        page_state.INSIDE_TEXT.values,
        "the text that is followed",
        label="Follow",
        wrap=False,
        on_change=reset,
    )
    state.keep(page_state.INSIDE_TEXT, chosen, page_state.INSIDE_TEXT.default)
    return replace(look, kind="encoder") if chosen == page_state.INSIDE_TEXT.values[1] else look


def follow_label(look: Look) -> Look:
    """Follow the token at which a classifier reads its label, while no other token is chosen."""
    labels = look.model.info.labels
    alone = labels is not None and not labels.each and not labels.pooled and look.kind != "encoder"
    return replace(look, at_first=look.default_position) if alone else look


def reset() -> None:
    """Forget the block and the token, which belong to another text."""
    page_state.BLOCK.set("")
    keep(None)


def block(look: Look) -> tuple[str, int]:
    """Return the stack and the layer whose block is shown: those that are chosen; for a beginner, who chooses none, those that a
    number was followed to."""
    stack = "decoder" if look.kind == "cross" else look.kind
    if (link := state.take_linked_value(page_state.BLOCK)) is not None:
        page_state.BLOCK.set(link)
    match = re.fullmatch(r"([a-z]+)(\d{1,9})", page_state.BLOCK.get()) if look.beginner else None
    stacks = {name: look.trace.attention[name].layers for name in look.trace.attention if name != "cross"}
    if match and int(match[2]) < stacks.get(match[1], 0):
        state.keep(page_state.BLOCK, page_state.BLOCK.get(), "")
        return match[1], int(match[2])
    if link and look.beginner:
        state.complain(page_state.BLOCK, link, "the block")
    page_state.BLOCK.set("")
    state.keep(page_state.BLOCK, "", "")
    return stack, look.layer


def selection(shapes: Mapping[str, Sequence[int]], others: Sequence[str] = ()) -> Selection:
    """Return what is chosen. shapes: of the stages' arrays; others: stages without numbers. What a link asks for in vain is
    reported; what another text or model no longer has is dropped."""
    for key, meaning in ((page_state.STAGE, "the stage"), (page_state.CELL, "the number at"), (page_state.TRAIL, "the trail")):
        if (link := state.take_linked_value(key)) is not None:
            key.set(link)
            if not _fits(key, shapes, others):
                state.complain(key, link, meaning)
        if not _fits(key, shapes, others):
            key.set(key.default)
        state.keep(key, key.get(), key.default)
    return Selection(page_state.STAGE.get(), indices(page_state.CELL.get()), tuple(filter(None, map(Spot.read, _trail()))))


def toggle(stage: str) -> None:
    """Open a stage, or close it when it is open."""
    page_state.BLOCK.set("")
    _open("" if stage == page_state.STAGE.get() else stage, (), ())


def look_at(stage: str, index: tuple[int, ...]) -> None:
    """Look at another number of the open stage; the trail is dropped, for it did not lead there."""
    _open(stage, index, ())


def follow(look: Look, here: Spot, trail: Sequence[Spot], source: Spot) -> None:
    """Go from a number to one of its sources."""
    _go(look, source, (*trail[:1], *(*trail[1:], here)[1 - FURTHEST :]))


def back(look: Look, trail: Sequence[Spot], at: int) -> None:
    """Go back to a number of the trail."""
    _go(look, trail[at], trail[:at])


def _go(look: Look, to: Spot, trail: Sequence[Spot]) -> None:
    """Go to a number, which may be of another layer or stack."""
    _open(to.stage, to.index, trail)
    if to.layer is None and (to.stack == block(look)[0]):
        return
    layer = look.layer if to.layer is None else to.layer
    if look.beginner:
        page_state.BLOCK.set(f"{to.stack}{layer}")
        if look.kind != "self":
            page_state.INSIDE_TEXT.set(page_state.INSIDE_TEXT.values[to.stack == "encoder"])
    elif (to.stack, layer) != block(look):
        if to.stack != block(look)[0]:
            state.ATTENTION.set(to.stack.capitalize())
        heads.choose(layer, look.head)


def _open(stage: str, index: Sequence[int], trail: Sequence[Spot]) -> None:
    page_state.STAGE.set(stage)
    page_state.CELL.set(".".join(map(str, index)))
    page_state.TRAIL.set(AFTER.join(map(str, trail)))


def _trail() -> list[str]:
    return [part for part in page_state.TRAIL.get().split(AFTER) if part]


def _fits(key: state.Key[str], shapes: Mapping[str, Sequence[int]], others: Sequence[str]) -> bool:
    value = key.get()
    if not value:
        return True
    if key is page_state.STAGE:
        return value in shapes or value in others
    if key is page_state.CELL:
        return _within(indices(value), shapes.get(page_state.STAGE.get()))
    return all(map(Spot.read, _trail()))


def _within(index: tuple[int, ...] | None, shape: Sequence[int] | None) -> bool:
    return index is not None and shape is not None and len(index) == len(shape) and all(np.less(index, shape))
