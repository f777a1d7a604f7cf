"""A changed head among all heads: its effect beside theirs, and the head to begin with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis.direct import logit_attribution
from analysis.edit_numbers import fill
from analysis.effects import divergences
from models.edits import Edit, Head, Temperature
from pages.change import changes
from pages.change.changed_text import ChangedText
from pages.change.settings import Ranking
from ui import effort
from ui.look import Look
from ui.memory import jobs

LONG = 256  # tokens; of a longer text no head is suggested
QUICK = 1.0  # seconds; a longer comparison is made only where every part is tried


def suggestion(look: Look, position: int | None) -> tuple[int, int] | None:
    """Return the layer and the head that writes most towards the likeliest token; None where heads cannot be told apart."""
    trace = look.trace
    logits = None if position is None or len(trace.read) > LONG else trace.logits_at(position)
    if position is None or logits is None or (look.kind == "encoder" and trace.target):
        return None
    try:
        table = logit_attribution(look.model, trace, int(logits.argmax()), position)
    except ValueError:
        return None
    part = "cross" if look.kind == "cross" else "attention"
    rows = table[(table["part"] == part) & table["head"].notna()].sort_values("contribution", ascending=False)
    return None if rows.empty else (int(rows["layer"].iloc[0]), int(rows["head"].iloc[0]))


def rank(look: Look, changed: ChangedText, position: int | None, tries_all: bool) -> Ranking | None:
    """Return the changed head's effect among those of all heads; None unless exactly one head is changed, or while the others
    are being tried."""
    if position is None or len(changed.fitting) != 1 or ((labels := look.model.info.labels) and not labels.chances):
        return None
    edit = Edit.parse(changed.fitting[0])
    if not isinstance(edit, Head | Temperature):
        return None
    attention = look.trace.attention[edit.kind]
    heads = [(layer, head) for layer in range(attention.layers) for head in range(attention.heads)]
    at = heads.index((edit.layer, edit.head))
    time = effort.seconds(look.model.info, len(look.trace.tokens) + len(look.trace.target), len(heads))
    if time > QUICK and not tries_all:
        return Ranking(None, at)
    other = changes.other_trace(look, changed.fitting, changed.other)

    def work(report: jobs.Report) -> np.ndarray:
        head_edits = [replace(edit, layer=layer, head=head) for layer, head in heads]
        edits = [[fill(head_edit, look.model, look.trace, other)] for head_edit in head_edits]
        return divergences(look.model, look.trace, edits, position, report)

    subject = (look.model.info.name, look.trace.text, look.second, changed.other, position)
    change = str(replace(edit, layer=0, head=0))
    nats = jobs.result(("change-rank", *subject, change), work, "Changing one head after the other")
    return None if nats is None else Ranking(nats, at)
