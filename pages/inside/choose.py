"""Which stage stands open, which of its numbers is looked at, and the numbers that somebody came from: all in the link."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ui import state
from ui.choices import heads
from ui.choices.token import keep
from ui.choices.widgets import one_of
from ui.look import Look

AFTER = "~"  # between the numbers of a trail in an address
FURTHEST = 40  # numbers of a trail that are kept: where it began, and the last ones
WRITTEN = re.compile(r"(?P<stage>[^~@]+?)(?P<index>(\.\d{1,9})+)@(?P<stack>[a-z]+)(?P<layer>\d{0,9})")


@dataclass(frozen=True)
class Spot:
    """A number of a stage: the stage's name, where in its array, and the layer and stack that it is of."""

    stage: str
    index: tuple[int, ...]
    layer: int | None
    stack: str

    def __str__(self) -> str:
        return f"{'.'.join([self.stage, *map(str, self.index)])}@{self.stack}{'' if self.layer is None else self.layer}"

    @classmethod
    def read(cls, text: str) -> Spot | None:
        if not (found := WRITTEN.fullmatch(text)):
            return None
        return cls(
            found["stage"], indices(found["index"][1:]) or (), int(found["layer"]) if found["layer"] else None, found["stack"]
        )


@dataclass(frozen=True)
class Chosen:
    """What is open: "" for none; the number that was pressed, None for the one that is shown first; where it was come from."""

    stage: str = ""
    index: tuple[int, ...] | None = None
    trail: tuple[Spot, ...] = ()


def text(look: Look) -> Look:
    """Which of the two texts of an encoder-decoder is followed, for a beginner, who chooses no attention in the side bar: the
    answer, or what was typed."""
    if look.kind == "self" or not look.beginner:
        return look
    if (state.waits(state.BLOCK) or state.BLOCK.get()).startswith("encoder"):  # a number of it is looked at
        state.INSIDE_TEXT.set(state.INSIDE_TEXT.values[1])
    chosen = one_of(
        state.INSIDE_TEXT, state.INSIDE_TEXT.values, "the text that is followed", label="Follow", wrap=False, on_change=anew
    )
    state.keep(state.INSIDE_TEXT, chosen, state.INSIDE_TEXT.default)
    return replace(look, kind="encoder") if chosen == state.INSIDE_TEXT.values[1] else look


def followed(look: Look) -> Look:
    """The same, with the token at which a classifier reads its label followed while none is kept chosen."""
    labels = look.model.info.labels
    alone = labels is not None and not labels.each and not labels.pooled and look.kind != "encoder"
    return replace(look, at_first=look.asked_first) if alone else look


def anew() -> None:
    """What was looked at is of another text."""
    state.BLOCK.set("")
    keep(None)


def block(look: Look) -> tuple[str, int]:
    """The stack and the layer whose block is shown: those that are chosen; for a beginner, who chooses none, those that a number
    was followed to."""
    stack = "decoder" if look.kind == "cross" else look.kind
    if (asked := state.once(state.BLOCK)) is not None:
        state.BLOCK.set(asked)
    found = re.fullmatch(r"([a-z]+)(\d{1,9})", state.BLOCK.get()) if look.beginner else None
    stacks = {name: look.trace.attention[name].layers for name in look.trace.attention if name != "cross"}
    if found and int(found[2]) < stacks.get(found[1], 0):
        state.keep(state.BLOCK, state.BLOCK.get(), "")
        return found[1], int(found[2])
    if asked and look.beginner:
        state.complain(state.BLOCK, asked, "the block")
    state.BLOCK.set("")
    state.keep(state.BLOCK, "", "")
    return stack, look.layer


def chosen(shapes: Mapping[str, Sequence[int]], others: Sequence[str] = ()) -> Chosen:
    """What is chosen of these stages, each with the shape of its array, and of others that hold no numbers. What a link asks for
    in vain is told of; what another text or model no longer has is let go."""
    for key, meaning in ((state.STAGE, "the stage"), (state.CELL, "the number at"), (state.TRAIL, "the trail")):
        if (asked := state.once(key)) is not None:
            key.set(asked)
            if not _fits(key, shapes, others):
                state.complain(key, asked, meaning)
        if not _fits(key, shapes, others):
            key.set(key.default)
        state.keep(key, key.get(), key.default)
    return Chosen(state.STAGE.get(), indices(state.CELL.get()), tuple(filter(None, map(Spot.read, _trail()))))


def press(stage: str) -> None:
    """Open a stage; pressed again it is closed."""
    state.BLOCK.set("")
    _open("" if stage == state.STAGE.get() else stage, (), ())


def look_at(stage: str, index: tuple[int, ...]) -> None:
    """Look at another number of the stage that is open: what was come from is no longer how."""
    _open(stage, index, ())


def follow(look: Look, here: Spot, trail: Sequence[Spot], source: Spot) -> None:
    """Go from a number to one that it comes from."""
    _go(look, source, (*trail[:1], *(*trail[1:], here)[1 - FURTHEST :]))


def back(look: Look, trail: Sequence[Spot], at: int) -> None:
    """Go back to a number that was come from."""
    _go(look, trail[at], trail[:at])


def indices(text: str) -> tuple[int, ...] | None:
    parts = text.split(".")
    return tuple(map(int, parts)) if all(one.isdecimal() and len(one) < 10 for one in parts) else None


def _go(look: Look, to: Spot, trail: Sequence[Spot]) -> None:
    """To a number, which may be of another layer or stack."""
    _open(to.stage, to.index, trail)
    if to.layer is None and (to.stack == block(look)[0]):
        return
    layer = look.layer if to.layer is None else to.layer
    if look.beginner:
        state.BLOCK.set(f"{to.stack}{layer}")
        if look.kind != "self":
            state.INSIDE_TEXT.set(state.INSIDE_TEXT.values[to.stack == "encoder"])
    elif (to.stack, layer) != block(look):
        if to.stack != block(look)[0]:
            state.ATTENTION.set(to.stack.capitalize())
        heads.choose(layer, look.head)


def _open(stage: str, index: Sequence[int], trail: Sequence[Spot]) -> None:
    state.STAGE.set(stage)
    state.CELL.set(".".join(map(str, index)))
    state.TRAIL.set(AFTER.join(map(str, trail)))


def _trail() -> list[str]:
    return [one for one in state.TRAIL.get().split(AFTER) if one]


def _fits(key: state.Key[str], shapes: Mapping[str, Sequence[int]], others: Sequence[str]) -> bool:
    value = key.get()
    if not value:
        return True
    if key is state.STAGE:
        return value in shapes or value in others
    if key is state.CELL:
        return _within(indices(value), shapes.get(state.STAGE.get()))
    return all(map(Spot.read, _trail()))


def _within(index: tuple[int, ...] | None, shape: Sequence[int] | None) -> bool:
    return index is not None and shape is not None and len(index) == len(shape) and all(np.less(index, shape))
