"""The changes to the model, in the text form of links: what clicks make of them, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from models.edits import EVEN, OTHER, SAMPLE, Cut, Edit, Head, Part, Row, Skip, Temperature
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


def click_head(look: Look, changes: Sequence[str], layer: int, head: int, other: str = "") -> list[str]:
    """Return the changes after a click on a head: off; then its mean, where the model allows it; then as in another text, where
    there is one; then as it was. other: that text."""
    means = [None, SAMPLE, *([OTHER] if other else [])] if look.model.info.queries else [None]
    states = [str(Head(layer, head, mean=mean, kind=look.kind)) for mean in means]
    return next_state(changes, leave_out(look, changes, Head, layer, head), states)


def next_state(changes: Sequence[str], rest: list[str], states: Sequence[str]) -> list[str]:
    """Return the changes with the state that follows the present one; without any after the last. rest: all other changes."""
    now = next((i for i, state in enumerate(states) if state in changes), -1)
    return rest if now == len(states) - 1 else [*rest, states[now + 1]]


def click_part(look: Look, changes: Sequence[str], letter: str, layer: int) -> list[str]:
    """Return the changes after a click on a feed-forward ("f"): skipped; then its mean, where a head has one; then as it was. On
    a whole block ("b"): skipped, or not."""
    stack = recipes.stack_of(look.kind)
    states = [str(Skip(layer, "feedforward" if letter == "f" else "block", kind=stack))]
    if letter == "f" and look.model.info.queries:
        states.append(str(Part(layer, None, SAMPLE, "feedforward", kind=stack)))
    return next_state(changes, [old for old in changes if old not in states], states)


def click_line(look: Look, changes: Sequence[str], pair: Sequence[int], heads: Sequence[int]) -> list[str]:
    """Return the changes after a click on a line: cut in these heads, or restored where it is cut in all of them."""
    query, key = pair
    cuts = [str(Cut(query, key, look.layer, head, kind=look.kind)) for head in heads]
    if all(cut in changes for cut in cuts):
        return [old for old in changes if old not in cuts]
    return [*changes, *(cut for cut in cuts if cut not in changes)]


def toggle(changes: Sequence[str], change: str) -> list[str]:
    return [other for other in changes if other != change] if change in changes else [*changes, change]


def leave_out(look: Look, changes: Sequence[str], edits: type[Head | Temperature], layer: int, head: int) -> list[str]:
    """Return the changes without the edits of this class of a head."""

    def belongs(edit: Edit) -> bool:
        return isinstance(edit, edits) and (edit.layer, edit.head, edit.kind) == (layer, head, look.kind)

    return [change for change in changes if not belongs(Edit.parse(change))]


def value_of(look: Look, changes: Sequence[str], letter: str) -> float:
    """Return the strength ("s") or the temperature ("t") of the chosen head, 1 where it is unchanged."""
    for edit in map(Edit.parse, changes):
        match edit:
            case Head(look.layer, look.head, value, None, kind=look.kind) if letter == "s":
                return value
            case Temperature(look.layer, look.head, value, kind=look.kind) if letter == "t":
                return value
    return 1.0


def set_value(look: Look, changes: Sequence[str], letter: str, value: float) -> list[str]:
    edits = Head if letter == "s" else Temperature
    rest = leave_out(look, changes, edits, look.layer, look.head)
    return rest if value == 1 else [*rest, str(edits(look.layer, look.head, value, kind=look.kind))]


def cuts(look: Look, changes: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return the head, query and key of each line that is cut in the chosen layer; lines cut in all layers come last."""
    edits = [edit for edit in map(Edit.parse, changes) if isinstance(edit, Cut) and edit.kind == look.kind]
    lines = sorted((edit for edit in edits if edit.layer in (look.layer, None)), key=lambda edit: edit.layer is None)
    places = [(look.head if edit.head is None else edit.head, edit.query, edit.key) for edit in lines]
    return [(head, query, key) for head, query, key in places if query is not None and key is not None]


def click_edge(look: Look, changes: Sequence[str], pair: Sequence[int], everywhere: bool) -> list[str]:
    """Return the changes after a click on the effect of a line: cut in the chosen head, or in all; restored where it is cut."""
    return toggle(changes, str(Cut(*pair, kind=look.kind))) if everywhere else click_line(look, changes, pair, [look.head])


def set_row(look: Look, changes: Sequence[str], query: int, as_in: int | None) -> list[str]:
    """Return the changes with another row for a query of the chosen head: even, or as in head `as_in` of its layer."""
    new = Row(look.layer, look.head, query, EVEN if as_in is None else f"H{as_in}", kind=look.kind)

    def belongs(edit: Edit) -> bool:
        return isinstance(edit, Row) and replace(edit, weights=new.weights) == new

    return [*(old for old in changes if not belongs(Edit.parse(old))), str(new)]


def name(look: Look, change: str, feedforward_name: str) -> str:
    """Return a change in words. feedforward_name: the word for that part."""
    edit = Edit.parse(change)
    kind = edit.kind
    where = "" if kind == "self" else f"{kind} "
    match edit:
        case Skip(layer, part):
            return f"{where}{look.named(layer, kind=kind)}: {'whole layer' if part == 'block' else feedforward_name} skipped"
        case Part(layer):
            return f"{where}{look.named(layer, kind=kind)} {feedforward_name}: mean"
        case Cut(int(query), int(key), layer=None):
            return f"{where}all layers: {pair_name(look, kind, (query, key))} cut"
        case Head(layer, head) | Temperature(layer, head) | Row(layer, head) | Cut(layer=int(layer), head=int(head)):
            return f"{where}{look.named(layer, head, kind)}: {head_change(look, edit)}"
    raise ValueError(f"{edit} is not a change of this page.")


def head_change(look: Look, edit: Edit) -> str:
    """Return the change of a head in words."""
    match edit:
        case Head(mean=None, scale=scale):
            return f"strength {scale:g}" if scale else "off"
        case Head(mean=source):
            return "mean" if source == SAMPLE else "as in the other text"
        case Temperature(value=value):
            return f"temperature {value:g}"
        case Cut(int(query), int(key)):
            return f"{pair_name(look, edit.kind, (query, key))} cut"
        case Row(query=query, weights=weights):
            return f"row of {pair_name(look, edit.kind, (query,))} {EVEN if weights == EVEN else f'as in {weights}'}"
    raise ValueError(f"{edit} is not a change of a head.")


def pair_name(look: Look, kind: str, places: Sequence[int]) -> str:
    """Return the tokens of a query, or of a query and a key, in words."""
    attention = look.trace.attention.get(kind)
    sides = (attention.queries, attention.keys) if attention else ((), ())
    return " → ".join(
        f"“{named(side[qualify].text)}” ({qualify})" if qualify < len(side) else str(qualify)
        for side, qualify in zip(sides, places, strict=False)
    )
