"""The effect of a change of one head on the prediction, compared with the same change of every other head."""

from __future__ import annotations

import numpy as np

from analysis.effects import divergences
from pages.change import reading, recipes
from pages.change.changes import ChangedText
from pages.change.settings import Ranking
from ui import effort
from ui.look import Look
from ui.memory import jobs

QUICK = 1.0  # seconds; a longer comparison is made only where every part is tried


def rank(look: Look, changed: ChangedText, position: int | None, tries_all: bool) -> Ranking | None:
    """Return the changed head's effect among those of all heads; None unless exactly one head is changed, or while the others
    are being tried."""
    if position is None or len(changed.fitting) != 1 or ((labels := look.model.info.labels) and not labels.chances):
        return None
    letter, numbers, value, kind = recipes.parse(changed.fitting[0])
    if letter not in "hmrst":
        return None
    attention = look.trace.attention[kind]
    heads = [(layer, head) for layer in range(attention.layers) for head in range(attention.heads)]
    at = heads.index((numbers[0], numbers[1]))
    time = effort.seconds(look.model.info, len(look.trace.tokens) + len(look.trace.target), len(heads))
    if time > QUICK and not tries_all:
        return Ranking(None, at)
    other = reading.other_trace(look, changed.fitting, changed.other)
    end = (f"~{value:g}" if letter in "st" else "") + (f"@{kind}" if kind != "self" else "")

    def work(report: jobs.Report) -> np.ndarray:
        head_changes = [f"{letter}{layer}.{head}{end}" for layer, head in heads]
        edits = [[recipes.edit_of(look.model, look.trace, change, other)] for change in head_changes]
        return divergences(look.model, look.trace, edits, position, report)

    subject = (look.model.info.name, look.trace.text, look.second, changed.other, position)
    nats = jobs.result(("change-rank", *subject, kind, letter, end), work, "Changing one head after the other")
    return None if nats is None else Ranking(nats, at)
