"""The changes to the model, in the text form of links: made by clicks, kept in the session, and the text read with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from analysis.edit_numbers import fill
from models.edits import EVEN, OTHER, SAMPLE, Cut, Edit, Head, Part, Row, Skip, Temperature, check
from models.trace import Trace
from pages.change import recipes
from pages.change import state as page_state
from pages.change.boards.switching import DIALS
from pages.change.changed_text import ChangedText
from ui import state
from ui.choices import text_boxes
from ui.look import Look
from ui.memory import loaded

MOST = 500  # changes at a time


# ---------------------------------------------------------------- what clicks make of them


def after_click(look: Look, changes: Sequence[str], click: object, other: str = "", everywhere: bool = False) -> list[str] | None:
    """Return the changes after a click on the board; None after one that changes none of them, or takes a step back.

    other: the text of `click_head`. everywhere: whether a line is cut in all heads.
    """
    heads = look.attention.heads
    match click:
        case {"part": "parts", "value": [int(row), int(column)]} if 0 <= column < heads:
            return click_head(look, changes, row, column, other)
        case {"part": "parts", "value": [int(row), int(column)]} if 0 <= column - heads < 2:
            return click_part(look, changes, "fb"[column - heads], row)
        case {"part": "after", "value": {"cut": [int(query), int(key)], "heads": list(on)}}:
            return click_line(look, changes, (query, key), on)
        case {"part": "edges", "value": [int(query), int(key)]}:
            return click_edge(look, changes, (query, key), everywhere)
        case {"part": "changes", "value": "reset"}:
            return []
        case {"part": "changes", "value": int(number)}:
            return [change for i, change in enumerate(changes) if i != number]
        case {"part": "dials", "value": [int(number), int(value) | float(value)]} if 0 <= number < len(DIALS):
            return set_value(look, changes, tuple(DIALS)[number], round(value, 1))
    return None


def click_head(look: Look, changes: Sequence[str], layer: int, head: int, other: str = "") -> list[str]:
    """Return the changes after a click on a head: off; then its mean, where the model and the level have it; then as in another
    text, where there is one; then as it was. other: that text."""
    means = [None, SAMPLE, *([OTHER] if other else [])] if has_means(look) else [None]
    states = [str(Head(layer, head, mean=mean, kind=look.kind)) for mean in means]
    return next_state(changes, leave_out(look, changes, Head, layer, head), states)


def click_part(look: Look, changes: Sequence[str], letter: str, layer: int) -> list[str]:
    """Return the changes after a click on a feed-forward ("f"): skipped; then its mean, where a head has one; then as it was. On
    a whole block ("b"): skipped, or not."""
    stack = recipes.stack_of(look.kind)
    states = [str(Skip(layer, "feedforward" if letter == "f" else "block", kind=stack))]
    if letter == "f" and has_means(look):
        states.append(str(Part(layer, None, SAMPLE, "feedforward", kind=stack)))
    return next_state(changes, [old for old in changes if old not in states], states)


def has_means(look: Look) -> bool:
    """Return whether a click sets parts to their mean too: a beginner switches them off and on, and the mean is over texts."""
    return bool(look.model.info.queries) and not look.beginner and "image" not in look.model.info.reads


def next_state(changes: Sequence[str], rest: list[str], states: Sequence[str]) -> list[str]:
    """Return the changes with the state that follows the present one; without any after the last. rest: all other changes."""
    now = next((i for i, state in enumerate(states) if state in changes), -1)
    return rest if now == len(states) - 1 else [*rest, states[now + 1]]


def click_line(look: Look, changes: Sequence[str], pair: Sequence[int], heads: Sequence[int]) -> list[str]:
    """Return the changes after a click on a line: cut in these heads, or restored where it is cut in all of them."""
    query, key = pair
    cuts = [str(Cut(query, key, look.layer, head, kind=look.kind)) for head in heads]
    if all(cut in changes for cut in cuts):
        return [old for old in changes if old not in cuts]
    return [*changes, *(cut for cut in cuts if cut not in changes)]


def click_edge(look: Look, changes: Sequence[str], pair: Sequence[int], everywhere: bool) -> list[str]:
    """Return the changes after a click on the effect of a line: cut in the chosen head, or in all; restored where it is cut."""
    return toggle(changes, str(Cut(*pair, kind=look.kind))) if everywhere else click_line(look, changes, pair, [look.head])


def toggle(changes: Sequence[str], change: str) -> list[str]:
    return [other for other in changes if other != change] if change in changes else [*changes, change]


def set_value(look: Look, changes: Sequence[str], letter: str, value: float) -> list[str]:
    edits = Head if letter == "s" else Temperature
    rest = leave_out(look, changes, edits, look.layer, look.head)
    return rest if value == 1 else [*rest, str(edits(look.layer, look.head, value, kind=look.kind))]


def set_row(look: Look, changes: Sequence[str], query: int, as_in: int | None) -> list[str]:
    """Return the changes with another row for a query of the chosen head: even, or as in head `as_in` of its layer."""
    new = Row(look.layer, look.head, query, EVEN if as_in is None else f"H{as_in}", kind=look.kind)

    def belongs(edit: Edit) -> bool:
        return isinstance(edit, Row) and replace(edit, weights=new.weights) == new

    return [*(old for old in changes if not belongs(Edit.parse(old))), str(new)]


def leave_out(look: Look, changes: Sequence[str], edits: type[Head | Temperature], layer: int, head: int) -> list[str]:
    """Return the changes without the edits of this class of a head."""

    def belongs(edit: Edit) -> bool:
        return isinstance(edit, edits) and (edit.layer, edit.head, edit.kind) == (layer, head, look.kind)

    return [change for change in changes if not belongs(Edit.parse(change))]


def through_changed_head(look: Look, changes: Sequence[str]) -> Look:
    """Return the look through the head that a beginner changed last, who chooses no head elsewhere; at other levels the look as
    it is."""
    edits = [edit for edit in map(Edit.parse, changes if look.beginner else ()) if isinstance(edit, Head)]
    attention = look.attention
    places = [
        (edit.layer, edit.head)
        for edit in edits
        if edit.kind == look.kind and edit.layer < attention.layers and edit.head < attention.counts[edit.layer]
    ]
    return look.at(*places[-1]) if places else look


# ---------------------------------------------------------------- where they are kept


def load() -> list[str]:
    """Return all changes, of the link or of the session. A notice tells of those in the link that are no changes."""
    if (link_text := state.take_linked_value(page_state.CHANGES)) is not None:
        texts = [text for text in link_text.split(",") if text]
        valid = [text for text in dict.fromkeys(texts) if recipes.is_change(text)][:MOST]
        page_state.CHANGES.set(",".join(valid))
        if invalid := [text for text in texts if not recipes.is_change(text)]:
            state.complain(page_state.CHANGES, ",".join(invalid), "the changes")
    changes = page_state.CHANGES.get() or ""
    state.keep(page_state.CHANGES, changes, "")
    return [text for text in changes.split(",") if text]


def save(changes: Sequence[str]) -> None:
    """Replace all changes; `undo` brings the old ones back."""
    page_state.CHANGES_BEFORE.set((*(page_state.CHANGES_BEFORE.get() or ()), page_state.CHANGES.get())[-100:])
    page_state.CHANGES.set(",".join(bounded(changes)))


def bounded(changes: Sequence[str]) -> list[str]:
    """Return each change once, and at most MOST."""
    return list(dict.fromkeys(changes))[:MOST]


def undo() -> None:
    if before := page_state.CHANGES_BEFORE.get():
        page_state.CHANGES.set(before[-1])
        page_state.CHANGES_BEFORE.set(before[:-1])


def other_text() -> str:
    """Return the other text, from which a head's output is taken; "" where there is none."""
    return (page_state.CHANGE_OTHER.get() or "").replace(text_boxes.BREAK, "\n").strip() if page_state.RESAMPLE.get() else ""


# ---------------------------------------------------------------- the text read with them


def apply(look: Look, changes: Sequence[str], other_text: str = "") -> ChangedText:
    """Return the text as the model reads it with the changes that fit. other_text: where the output of a head is taken from."""
    lengths = {kind: len(stream[0]) for kind, stream in look.trace.hidden.items()}
    edits: dict[str, Edit] = {}
    unfit: dict[str, str] = {}
    other = other_trace(look, changes, other_text)
    for change in changes:
        try:
            edit = fill(Edit.parse(change), look.model, look.trace, other)
            check([edit], look.model.info, lengths)
            edits[change] = edit
        except ValueError as error:
            unfit[change] = str(error)

    def trace(chosen: Sequence[Edit]) -> Trace:
        return loaded.read(look.model.info.name, look.trace.text, look.second, chosen)

    if not edits:
        return ChangedText([], unfit, look.trace)
    try:
        return ChangedText(list(edits), unfit, trace(list(edits.values())), other.text if other else "")
    except ValueError:
        refusals = {change: why for change, edit in edits.items() if (why := refusal(trace, edit))}
        if not refusals:
            raise
    rest = {change: edit for change, edit in edits.items() if change not in refusals}
    return ChangedText(
        list(rest), unfit | refusals, trace(list(rest.values())) if rest else look.trace, other.text if other else ""
    )


def other_trace(look: Look, changes: Sequence[str], other_text: str) -> Trace | None:
    """Return the trace of the other text, where the output of some head is taken from it."""
    if not other_text or not any(isinstance(edit, Head) and edit.mean == OTHER for edit in map(Edit.parse, changes)):
        return None
    return loaded.read(look.model.info.name, other_text, look.second)


def refusal(trace: Callable[[Sequence[Edit]], Trace], edit: Edit) -> str:
    """Return why a model does not allow a change by itself; "" where it does."""
    try:
        trace([edit])
    except ValueError as error:
        return str(error)
    return ""
