"""What is changed in the model: kept as a link writes it, undone, told of where it does not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from models.edits import Edit, check
from models.trace import Trace
from pages.change import recipes
from ui import state
from ui.choices import boxes
from ui.look import Look
from ui.memory import loaded
from viz.tokens import named

MOST = 500  # changes that are kept


@dataclass(frozen=True)
class Changed:
    """Of what is changed, as a link writes it: what fits model and text, and why the rest does not; the text read with it; the
    text out of which a head is taken, "" for none."""

    fitting: list[str]
    unfit: dict[str, str]
    trace: Trace
    other: str = ""

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
    """A press on a head: off; then its mean, where the model allows it; then as in another text, where there is one; then as it
    was."""
    letters = "h" + "m" * look.model.info.queries + "r" * bool(look.model.info.queries and other_text())
    states = [at(look, f"{letter}{layer}.{head}") for letter in letters]
    return turned_on(changes, without(look, changes, "hmrs", layer, head), states)


def turned_on(changes: Sequence[str], rest: list[str], states: Sequence[str]) -> list[str]:
    """The state that comes after the one that is among the changes; none after the last. rest: the changes but for these."""
    now = next((i for i, one in enumerate(states) if one in changes), -1)
    return rest if now == len(states) - 1 else [*rest, states[now + 1]]


def other_text() -> str:
    """Another text, out of which a head is taken; "" where there is none."""
    return (state.CHANGE_OTHER.get() or "").replace(boxes.BREAK, "\n").strip() if state.RESAMPLE.get() else ""


def press_part(look: Look, changes: Sequence[str], letter: str, layer: int) -> list[str]:
    """A press on a feed-forward ("f"): skipped; then its mean, where a head has one; then as it was. On a whole block ("b"):
    skipped, or not."""
    letters = "fg" if letter == "f" and look.model.info.queries else letter
    states = [at(look, f"{one}{layer}", recipes.stack_of(look.kind)) for one in letters]
    return turned_on(changes, [one for one in changes if one not in states], states)


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
    rest = without(look, changes, "hmrs" if letter == "s" else "t", look.layer, look.head)
    return rest if value == 1 else [*rest, at(look, f"{letter}{look.layer}.{look.head}~{value:g}")]


def cuts(look: Look, changes: Sequence[str]) -> list[tuple[int, int, int]]:
    """Head, query and key of what is cut in the layer that is looked at."""
    each = [recipes.taken_apart(one) for one in changes]
    found = [
        (numbers[1], numbers[2], numbers[3])
        for letter, numbers, _, kind in each
        if letter == "c" and numbers[0] == look.layer and kind == look.kind
    ]
    return found + [
        (look.head, numbers[0], numbers[1]) for letter, numbers, _, kind in each if letter == "x" and kind == look.kind
    ]


def read(look: Look, changes: Sequence[str]) -> Changed:
    """The text, read again with the changes that fit."""
    lengths = {kind: len(stream[0]) for kind, stream in look.trace.hidden.items()}
    edits: dict[str, Edit] = {}
    unfit: dict[str, str] = {}
    other = other_trace(look, changes)
    for one in changes:
        try:
            edit = recipes.edit_of(look.model, look.trace, one, other)
            check([edit], look.model.info, lengths)
            edits[one] = edit
        except ValueError as error:
            unfit[one] = str(error)

    def trace(some: Sequence[Edit]) -> Trace:
        return loaded.read(look.model.info.name, look.trace.text, look.second, some)

    if not edits:
        return Changed([], unfit, look.trace)
    try:
        return Changed(list(edits), unfit, trace(list(edits.values())), other.text if other else "")
    except ValueError:
        refused = {one: said for one, edit in edits.items() if (said := refusal(trace, edit))}
        if not refused:
            raise
    left = {one: edit for one, edit in edits.items() if one not in refused}
    return Changed(list(left), unfit | refused, trace(list(left.values())) if left else look.trace, other.text if other else "")


def other_trace(look: Look, changes: Sequence[str]) -> Trace | None:
    """The other text, read, where some head is taken out of it."""
    text = other_text()
    if not text or not any(one.startswith("r") for one in changes):
        return None
    return loaded.read(look.model.info.name, text, look.second)


def press_edge(look: Look, changes: Sequence[str], pair: Sequence[int], everywhere: bool) -> list[str]:
    """A press on the effect of a line: cut in the head that is looked at, or in all; where it is cut, there again."""
    return toggle(changes, at(look, f"x{pair[0]}.{pair[1]}")) if everywhere else press_line(look, changes, pair, [look.head])


def set_row(look: Look, changes: Sequence[str], query: int, as_in: int | None) -> list[str]:
    """The row of a query in the head that is looked at: even, or for a number as in that head of its layer."""
    row = f"{look.layer}.{look.head}.{query}"
    one = at(look, f"e{row}" if as_in is None else f"o{row}.{as_in}")

    def is_of_it(old: str) -> bool:
        letter, numbers, _, kind = recipes.taken_apart(old)
        return letter in "eo" and numbers[:3] == [look.layer, look.head, query] and kind == look.kind

    return [*(old for old in changes if not is_of_it(old)), one]


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
        return f"{where}{look.named(layer, kind=kind)}: {skipped if letter == 'f' else 'whole layer'} skipped"
    if letter == "g":
        return f"{where}{look.named(layer, kind=kind)} {skipped}: mean"
    if letter == "x":
        return f"{where}all layers: {pair_name(look, kind, (layer, rest[0]))} cut"
    head = f"{where}{look.named(layer, rest[0], kind)}" if headed == "head" else f"{headed} {rest[0]} of layer {layer}"
    if letter == "c":
        return f"{head}: {pair_name(look, kind, rest[1:])} cut"
    if letter in "eo":
        return f"{head}: row of {pair_name(look, kind, rest[1:2])} {'even' if letter == 'e' else f'as in H{rest[2]}'}"
    word = {"h": "off", "m": "mean", "r": "as in the other text", "s": f"strength {value:g}", "t": f"temperature {value:g}"}[
        letter
    ]
    return f"{head}: {word}"


def pair_name(look: Look, kind: str, places: Sequence[int]) -> str:
    """A query, or a query and a key, by their tokens."""
    attention = look.trace.attention.get(kind)
    sides = (attention.queries, attention.keys) if attention else ((), ())
    return " → ".join(
        f"“{named(side[at].text)}” ({at})" if at < len(side) else str(at) for side, at in zip(sides, places, strict=False)
    )
