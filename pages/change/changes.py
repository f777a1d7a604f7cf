"""The changes to the model, in the text form of links: what clicks make of them, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.trace import Trace
from pages.change import recipes
from ui.look import Look
from viz.tokens import named


@dataclass(frozen=True)
class ChangedText:
    """The text as the changed model reads it. fitting: the changes that fit model and text, in the text form of links; unfit: for
    each other change the reason; trace: the text, read with the changes; other: the text that a head's output is taken from."""

    fitting: list[str]
    unfit: dict[str, str]
    trace: Trace
    other: str = ""

    @property
    def text(self) -> str:
        return ",".join(self.fitting)


def qualify(look: Look, written: str, kind: str | None = None) -> str:
    """Return the text of a change with the kind of attention that it belongs to, by default the one on screen."""
    kind = look.kind if kind is None else kind
    return written if kind == "self" else f"{written}@{kind}"


def click_head(look: Look, changes: Sequence[str], layer: int, head: int, other: str = "") -> list[str]:
    """Return the changes after a click on a head: off; then its mean, where the model allows it; then as in another text, where
    there is one; then as it was. other: that text."""
    letters = "h" + "m" * look.model.info.queries + "r" * bool(look.model.info.queries and other)
    states = [qualify(look, f"{letter}{layer}.{head}") for letter in letters]
    return next_state(changes, leave_out(look, changes, "hmrs", layer, head), states)


def next_state(changes: Sequence[str], rest: list[str], states: Sequence[str]) -> list[str]:
    """Return the changes with the state that follows the present one; without any after the last. rest: all other changes."""
    now = next((i for i, state in enumerate(states) if state in changes), -1)
    return rest if now == len(states) - 1 else [*rest, states[now + 1]]


def click_part(look: Look, changes: Sequence[str], letter: str, layer: int) -> list[str]:
    """Return the changes after a click on a feed-forward ("f"): skipped; then its mean, where a head has one; then as it was. On
    a whole block ("b"): skipped, or not."""
    letters = "fg" if letter == "f" and look.model.info.queries else letter
    states = [qualify(look, f"{old}{layer}", recipes.stack_of(look.kind)) for old in letters]
    return next_state(changes, [old for old in changes if old not in states], states)


def click_line(look: Look, changes: Sequence[str], pair: Sequence[int], heads: Sequence[int]) -> list[str]:
    """Return the changes after a click on a line: cut in these heads, or restored where it is cut in all of them."""
    cuts = [qualify(look, f"c{look.layer}.{head}.{pair[0]}.{pair[1]}") for head in heads]
    if all(cut in changes for cut in cuts):
        return [old for old in changes if old not in cuts]
    return [*changes, *(cut for cut in cuts if cut not in changes)]


def toggle(changes: Sequence[str], change: str) -> list[str]:
    return [other for other in changes if other != change] if change in changes else [*changes, change]


def leave_out(look: Look, changes: Sequence[str], letters: str, layer: int, head: int) -> list[str]:
    """Return the changes without those of these letters of this head."""

    def belongs(change: str) -> bool:
        letter, numbers, _, kind = recipes.parse(change)
        return letter in letters and numbers[:2] == [layer, head] and kind == look.kind

    return [change for change in changes if not belongs(change)]


def value_of(look: Look, changes: Sequence[str], letter: str) -> float:
    """Return the strength ("s") or the temperature ("t") of the chosen head, 1 where it is unchanged."""
    for change in changes:
        its_letter, numbers, value, kind = recipes.parse(change)
        if numbers == [look.layer, look.head] and kind == look.kind and its_letter in (letter, "h" if letter == "s" else letter):
            return 0.0 if its_letter == "h" else value
    return 1.0


def set_value(look: Look, changes: Sequence[str], letter: str, value: float) -> list[str]:
    rest = leave_out(look, changes, "hmrs" if letter == "s" else "t", look.layer, look.head)
    return rest if value == 1 else [*rest, qualify(look, f"{letter}{look.layer}.{look.head}~{value:g}")]


def cuts(look: Look, changes: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return the head, query and key of each line that is cut in the chosen layer."""
    parsed = [recipes.parse(change) for change in changes]
    pairs = [
        (numbers[1], numbers[2], numbers[3])
        for letter, numbers, _, kind in parsed
        if letter == "c" and numbers[0] == look.layer and kind == look.kind
    ]
    return pairs + [
        (look.head, numbers[0], numbers[1]) for letter, numbers, _, kind in parsed if letter == "x" and kind == look.kind
    ]


def click_edge(look: Look, changes: Sequence[str], pair: Sequence[int], everywhere: bool) -> list[str]:
    """Return the changes after a click on the effect of a line: cut in the chosen head, or in all; restored where it is cut."""
    return toggle(changes, qualify(look, f"x{pair[0]}.{pair[1]}")) if everywhere else click_line(look, changes, pair, [look.head])


def set_row(look: Look, changes: Sequence[str], query: int, as_in: int | None) -> list[str]:
    """Return the changes with another row for a query of the chosen head: even, or as in head `as_in` of its layer."""
    row = f"{look.layer}.{look.head}.{query}"
    new = qualify(look, f"e{row}" if as_in is None else f"o{row}.{as_in}")

    def belongs(old: str) -> bool:
        letter, numbers, _, kind = recipes.parse(old)
        return letter in "eo" and numbers[:3] == [look.layer, look.head, query] and kind == look.kind

    return [*(old for old in changes if not belongs(old)), new]


def name(look: Look, change: str, head_name: str, feedforward_name: str) -> str:
    """Return a change in words. head_name, feedforward_name: the words for these parts."""
    letter, (layer, *rest), value, kind = recipes.parse(change)
    where = "" if kind == "self" else f"{kind} "
    if letter in "fb":
        return f"{where}{look.named(layer, kind=kind)}: {feedforward_name if letter == 'f' else 'whole layer'} skipped"
    if letter == "g":
        return f"{where}{look.named(layer, kind=kind)} {feedforward_name}: mean"
    if letter == "x":
        return f"{where}all layers: {pair_name(look, kind, (layer, rest[0]))} cut"
    head = (
        f"{where}{look.named(layer, rest[0], kind)}"
        if head_name == "head"
        else f"{head_name} {rest[0]} of layer {look.number(layer, kind)}"
    )
    if letter == "c":
        return f"{head}: {pair_name(look, kind, rest[1:])} cut"
    if letter in "eo":
        return f"{head}: row of {pair_name(look, kind, rest[1:2])} {'even' if letter == 'e' else f'as in H{rest[2]}'}"
    word = {"h": "off", "m": "mean", "r": "as in the other text", "s": f"strength {value:g}", "t": f"temperature {value:g}"}[
        letter
    ]
    return f"{head}: {word}"


def pair_name(look: Look, kind: str, places: Sequence[int]) -> str:
    """Return the tokens of a query, or of a query and a key, in words."""
    attention = look.trace.attention.get(kind)
    sides = (attention.queries, attention.keys) if attention else ((), ())
    return " → ".join(
        f"“{named(side[qualify].text)}” ({qualify})" if qualify < len(side) else str(qualify)
        for side, qualify in zip(sides, places, strict=False)
    )
