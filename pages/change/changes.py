"""What is changed in the model: kept as a link writes it, undone, told of where it does not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from models.edits import Edit, check
from models.trace import Trace
from pages.change import recipes
from ui import state
from ui.look import Look
from ui.memory import loaded
from viz.tokens import named

MOST = 500  # changes that are kept


@dataclass(frozen=True)
class Changed:
    """Of what is changed, as a link writes it: what fits model and text, and why the rest does not; the text read with it."""

    fitting: list[str]
    unfit: dict[str, str]
    trace: Trace

    @property
    def text(self) -> str:
        return ",".join(self.fitting)


def kept() -> list[str]:
    """All that is changed. What a link asks for in vain is told of."""
    if (asked := state.once(state.CHANGES)) is not None:
        wanted = [one for one in asked.split(",") if one]
        good = [one for one in dict.fromkeys(wanted) if recipes.CHANGE.fullmatch(one)][:MOST]
        state.CHANGES.set(",".join(good))
        if wrong := [one for one in wanted if not recipes.CHANGE.fullmatch(one)]:
            state.complain(state.CHANGES, ",".join(wrong), "the changes")
    changes = state.CHANGES.get() or ""
    state.keep(state.CHANGES, changes, "")
    return [one for one in changes.split(",") if one]


def change(changes: Sequence[str]) -> None:
    """From now on this is changed; one step back is what was changed before."""
    state.CHANGES_BEFORE.set((*(state.CHANGES_BEFORE.get() or ()), state.CHANGES.get())[-100:])
    state.CHANGES.set(",".join(list(dict.fromkeys(changes))[:MOST]))


def undo() -> None:
    if before := state.CHANGES_BEFORE.get():
        state.CHANGES.set(before[-1])
        state.CHANGES_BEFORE.set(before[:-1])


def at(look: Look, written: str, kind: str | None = None) -> str:
    """A change of this kind of attention, or of another stack."""
    kind = look.kind if kind is None else kind
    return written if kind == "self" else f"{written}@{kind}"


def press_head(look: Look, changes: Sequence[str], layer: int, head: int) -> list[str]:
    """A press on a head: off; then its mean, where the model allows it; then as it was."""
    off, mean = (at(look, f"{letter}{layer}.{head}") for letter in "hm")
    rest = without(look, changes, "hms", layer, head)
    if off in changes:
        return [*rest, mean] if look.model.info.queries else rest
    return rest if mean in changes else [*rest, off]


def press_part(look: Look, changes: Sequence[str], letter: str, layer: int) -> list[str]:
    """A press on a feed-forward ("f") or a whole block ("b"): skipped, or not."""
    return toggle(changes, at(look, f"{letter}{layer}", recipes.stack_of(look.kind)))


def press_line(look: Look, changes: Sequence[str], pair: Sequence[int], heads: Sequence[int]) -> list[str]:
    """A press on a line: cut in these heads, or where all of them are cut, there again."""
    cuts = [at(look, f"c{look.layer}.{head}.{pair[0]}.{pair[1]}") for head in heads]
    if all(cut in changes for cut in cuts):
        return [one for one in changes if one not in cuts]
    return [*changes, *(cut for cut in cuts if cut not in changes)]


def toggle(changes: Sequence[str], one: str) -> list[str]:
    return [other for other in changes if other != one] if one in changes else [*changes, one]


def without(look: Look, changes: Sequence[str], letters: str, layer: int, head: int) -> list[str]:
    """The changes, but none of these letters of this head."""

    def of_it(one: str) -> bool:
        letter, numbers, _, kind = recipes.taken_apart(one)
        return letter in letters and numbers[:2] == [layer, head] and kind == look.kind

    return [one for one in changes if not of_it(one)]


def value_of(look: Look, changes: Sequence[str], letter: str) -> float:
    """The strength ("s") or the temperature ("t") of the chosen head: 1 as it was."""
    for one in changes:
        found, numbers, value, kind = recipes.taken_apart(one)
        if numbers == [look.layer, look.head] and kind == look.kind and found in (letter, "h" if letter == "s" else letter):
            return 0.0 if found == "h" else value
    return 1.0


def set_value(look: Look, changes: Sequence[str], letter: str, value: float) -> list[str]:
    rest = without(look, changes, "hms" if letter == "s" else "t", look.layer, look.head)
    return rest if value == 1 else [*rest, at(look, f"{letter}{look.layer}.{look.head}~{value:g}")]


def cuts(look: Look, changes: Sequence[str]) -> list[tuple[int, int, int]]:
    """Head, query and key of what is cut in the layer that is looked at."""
    each = [recipes.taken_apart(one) for one in changes]
    return [
        (numbers[1], numbers[2], numbers[3])
        for letter, numbers, _, kind in each
        if letter == "c" and numbers[0] == look.layer and kind == look.kind
    ]


def read(look: Look, changes: Sequence[str]) -> Changed:
    """The text, read again with the changes that fit."""
    lengths = {kind: len(stream[0]) for kind, stream in look.trace.hidden.items()}
    edits: dict[str, Edit] = {}
    unfit: dict[str, str] = {}
    for one in changes:
        try:
            edit = recipes.edit_of(look.trace, one)
            check([edit], look.model.info, lengths)
            edits[one] = edit
        except ValueError as error:
            unfit[one] = str(error)

    def trace(some: Sequence[Edit]) -> Trace:
        return loaded.read(look.model.info.name, look.trace.text, look.second, some)

    if not edits:
        return Changed([], unfit, look.trace)
    try:
        return Changed(list(edits), unfit, trace(list(edits.values())))
    except ValueError:
        refused = {one: said for one, edit in edits.items() if (said := refusal(trace, edit))}
        if not refused:
            raise
    left = {one: edit for one, edit in edits.items() if one not in refused}
    return Changed(list(left), unfit | refused, trace(list(left.values())) if left else look.trace)


def refusal(trace: Callable[[Sequence[Edit]], Trace], edit: Edit) -> str:
    """Why a model does not allow a change by itself; "" where it does."""
    try:
        trace([edit])
    except ValueError as error:
        return str(error)
    return ""


def name(look: Look, one: str, headed: str, skipped: str) -> str:
    """A change in words. headed: what a head is called, skipped: a feed-forward."""
    letter, (layer, *rest), value, kind = recipes.taken_apart(one)
    where = "" if kind == "self" else f"{kind} "
    if letter in "fb":
        return f"{where}L{layer}: {skipped if letter == 'f' else 'whole layer'} skipped"
    head = f"{where}L{layer} H{rest[0]}" if headed == "head" else f"{headed} {rest[0]} of layer {layer}"
    if letter == "c":
        attention = look.trace.attention.get(kind)
        sides = (attention.queries, attention.keys) if attention else ((), ())
        tokens = [
            f"“{named(side[at].text)}” ({at})" if at < len(side) else str(at) for side, at in zip(sides, rest[1:], strict=True)
        ]
        return f"{head}: {' → '.join(tokens)} cut"
    word = {"h": "off", "m": "mean", "s": f"strength {value:g}", "t": f"temperature {value:g}"}[letter]
    return f"{head}: {word}"
