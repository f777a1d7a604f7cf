"""The open stage, the explained number, and the trail of numbers that led to it, all in the link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pages.inside import state as page_state
from pages.inside.parts import own_block, stack_layers
from pages.inside.spots import AFTER, Selection, Spot, block_of, fitting, selection_of
from ui import state
from ui.choices import heads
from ui.choices.token import keep
from ui.choices.widgets import one_of
from ui.look import Look

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


def reset() -> None:
    """Forget the block and the token, which belong to another text."""
    page_state.BLOCK.set("")
    keep(None)


def block(look: Look) -> tuple[str, int]:
    """Return the stack and the layer whose block is shown: those that are chosen; for a beginner, who chooses none, those that a
    number was followed to."""
    if (link := state.take_linked_value(page_state.BLOCK)) is not None:
        page_state.BLOCK.set(link)
    if look.beginner and (block := block_of(page_state.BLOCK.get(), stack_layers(look))):
        state.keep(page_state.BLOCK, page_state.BLOCK.get(), "")
        return block
    if link and look.beginner:
        state.complain(page_state.BLOCK, link, "the block")
    page_state.BLOCK.set("")
    state.keep(page_state.BLOCK, "", "")
    return own_block(look)


def begin(look: Look, first: str) -> None:
    """Open the first stage for a beginner who comes to the page, unless a link or the session has another one open."""
    if look.beginner and not page_state.BEGUN.get():
        page_state.BEGUN.set(True)
        if not (state.linked_value(page_state.STAGE) or page_state.STAGE.get()):
            page_state.STAGE.set(first)


def selection(shapes: Mapping[str, Sequence[int]], others: Sequence[str] = ()) -> Selection:
    """Return what is chosen. shapes: of the stages' arrays; others: stages without numbers. What a link asks for in vain is
    reported; what another text or model no longer has is dropped."""
    keys = {page_state.STAGE: "the stage", page_state.CELL: "the number at", page_state.TRAIL: "the trail"}
    links = [state.take_linked_value(key) for key in keys]
    for key, link in zip(keys, links, strict=True):
        if link is not None:
            key.set(link)
    chosen = fitting(*written(), shapes, others)
    for (key, meaning), link, value in zip(keys.items(), links, chosen, strict=True):
        if link and not value:
            state.complain(key, link, meaning)
        if key.get() != value:
            key.set(value)
        state.keep(key, value, key.default)
    return selection_of(*chosen)


def written() -> tuple[str, str, str]:
    """Return the open stage, the number and the trail as a link writes them."""
    return page_state.STAGE.get(), page_state.CELL.get(), page_state.TRAIL.get()


def toggle(stage: str) -> None:
    """Open a stage, or close it when it is open."""
    page_state.BLOCK.set("")
    _open("" if stage == page_state.STAGE.get() else stage, (), ())


def look_at(stage: str, index: tuple[int, ...]) -> None:
    """Explain another number of the open stage; the trail is dropped, because it did not lead there."""
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
