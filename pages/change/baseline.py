"""How far a change of one head moves the prediction, beside the same change of every other head of its attention."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis.effects import divergences
from pages.change import changes, recipes
from pages.change.changes import Changed
from ui import effort, state
from ui.look import Look
from ui.memory import jobs
from ui.words import words
from viz.numbers import under

QUICK = 1.0  # seconds; what takes longer is done where every part is tried


def rank(folder: Path, look: Look, changed: Changed, position: int | None) -> str:
    """The place of the changed head among all heads, in words; "" where anything but one head is changed, or while the others are
    under way."""
    if position is None or len(changed.fitting) != 1 or ((labels := look.model.info.labels) and not labels.chances):
        return ""
    letter, numbers, value, kind = recipes.taken_apart(changed.fitting[0])
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
        each = [f"{letter}{layer}.{head}{end}" for layer, head in heads]
        edits = [[recipes.edit_of(look.model, look.trace, change, other)] for change in each]
        return divergences(look.model, look.trace, edits, position, report)

    subject = (look.model.info.name, look.trace.text, look.second, changed.other, position)
    every = jobs.result(("change-rank", *subject, kind, letter, end), work, "Changing one head after the other")
    if every is None:
        return ""
    own, nats = every[heads.index((numbers[0], numbers[1]))], {"median": np.median(every), "largest": every.max()}
    facts = {name: under(float(each)) for name, each in nats.items()}
    return words(folder, "prediction rank", rank=int((every >= own).sum()), all=len(heads), **facts)
