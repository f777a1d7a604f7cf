"""A text as the changed model reads it, and its changes in words and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.edits import EVEN, SAMPLE, Cut, Edit, Head, Part, Row, Skip, Temperature
from models.trace import Trace
from ui.look import Look
from viz.tokens import named


@dataclass(frozen=True)
class ChangedText:
    """The text as the changed model reads it. fitting: the changes that fit model and text, in the text form of links; unfit: for
    each other change the reason; trace: the text, read with the changes; other: the text that a head's output is taken from;
    whole: of a picture with covered patches, its trace without changes and with none covered."""

    fitting: list[str]
    unfit: dict[str, str]
    trace: Trace
    other: str = ""
    whole: Trace | None = None

    @property
    def is_changed(self) -> bool:
        """Whether anything is changed: the model, or patches of a picture."""
        return bool(self.fitting) or self.whole is not None

    @property
    def text(self) -> str:
        return ",".join(self.fitting)


def value_of(look: Look, changes: Sequence[str], letter: str) -> float:
    """Return the strength ("s") or the temperature ("t") of the chosen head, 1 where it is unchanged."""
    for edit in map(Edit.parse, changes):
        match edit:
            case Head(look.layer, look.head, value, None, kind=look.kind) if letter == "s":
                return value
            case Temperature(look.layer, look.head, value, kind=look.kind) if letter == "t":
                return value
    return 1.0


def cuts(look: Look, changes: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return the head, query and key of each line that is cut in the chosen layer; lines cut in all layers come last."""
    edits = [edit for edit in map(Edit.parse, changes) if isinstance(edit, Cut) and edit.kind == look.kind]
    lines = sorted((edit for edit in edits if edit.layer in (look.layer, None)), key=lambda edit: edit.layer is None)
    places = [(look.head if edit.head is None else edit.head, edit.query, edit.key) for edit in lines]
    return [(head, query, key) for head, query, key in places if query is not None and key is not None]


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
        f"“{named(side[place].text)}” ({place})" if place < len(side) else str(place)
        for side, place in zip(sides, places, strict=False)
    )
