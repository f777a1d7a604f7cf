"""The effect of a change of one head on the prediction, compared with the same change of every other head."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis.effects import divergences
from pages.change import changes, recipes
from pages.change.changes import ChangedText
from ui import effort, state
from ui.look import Look
from ui.memory import jobs
from ui.words import words
from viz.numbers import under

QUICK = 1.0  # seconds; a longer comparison is made only where every part is tried


def rank(folder: Path, look: Look, changed: ChangedText, position: int | None) -> str:
    """Return the rank of the changed head among all heads, in words; "" unless exactly one head is changed, or while the others
    are being tried."""
    if position is None or len(changed.fitting) != 1 or ((labels := look.model.info.labels) and not labels.chances):
        return ""
    letter, numbers, value, kind = recipes.parse(changed.fitting[0])
    if letter not in "hmrst":
        return ""
    attention = look.trace.attention[kind]
    heads = [(layer, head) for layer in range(attention.layers) for head in range(attention.heads)]
    time = effort.seconds(look.model.info, len(look.trace.tokens) + len(look.trace.target), len(heads))
    if time > QUICK and not state.TRY_ALL.get():
        return words(folder, "prediction no rank")
    other = changes.other_trace(look, changed.fitting)
    end = (f"~{value:g}" if letter in "st" else "") + (f"@{kind}" if kind != "self" else "")

    def work(report: jobs.Report) -> np.ndarray:
        head_changes = [f"{letter}{layer}.{head}{end}" for layer, head in heads]
        edits = [[recipes.edit_of(look.model, look.trace, change, other)] for change in head_changes]
        return divergences(look.model, look.trace, edits, position, report)

    subject = (look.model.info.name, look.trace.text, look.second, changed.other, position)
    head_nats = jobs.result(("change-rank", *subject, kind, letter, end), work, "Changing one head after the other")
    if head_nats is None:
        return ""
    own, nats = head_nats[heads.index((numbers[0], numbers[1]))], {"median": np.median(head_nats), "largest": head_nats.max()}
    facts = {name: under(float(value)) for name, value in nats.items()}
    return words(folder, "prediction rank", rank=int((head_nats >= own).sum()), all=len(heads), **facts)
