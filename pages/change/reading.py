"""The text as the changed model reads it. Nothing here asks the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from models.edits import OTHER, Edit, Head, check
from models.trace import Trace
from pages.change import recipes
from pages.change.changes import ChangedText
from ui.look import Look
from ui.memory import loaded


def read(look: Look, changes: Sequence[str], other_text: str = "") -> ChangedText:
    """Read the text again with the changes that fit. other_text: where the output of a head is taken from."""
    lengths = {kind: len(stream[0]) for kind, stream in look.trace.hidden.items()}
    edits: dict[str, Edit] = {}
    unfit: dict[str, str] = {}
    other = other_trace(look, changes, other_text)
    for change in changes:
        try:
            edit = recipes.edit_of(look.model, look.trace, change, other)
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
