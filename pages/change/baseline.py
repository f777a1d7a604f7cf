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
from pages.change.settings import Beginning, Ranking
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


def beginning(look: Look, position: int | None, tries_more: bool) -> Beginning | None:
    """Return the head without which the prediction changes most, if every head is tried quickly; else the one that writes most
    towards the likeliest token. tries_more: whether every part or every line is tried, which is work enough."""
    written = suggestion(look, position)
    logits = None if position is None or tries_more else look.trace.logits_at(position)
    heads = heads_of(look, look.kind)
    if position is None or logits is None or seconds(look, len(heads)) > QUICK or len(look.trace.read) > LONG:
        return None if written is None else Beginning(*written)
    nats = every_head(look, Head(0, 0, kind=look.kind), [], "", position)
    if nats is None:
        return None
    best, order = int(logits.argmax()), np.argsort(-nats, kind="stable")

    def chance(place: tuple[int, int]) -> float:
        scores = changes.apply(look, [str(Head(*place, kind=look.kind))]).trace.logits_at(position)
        assert scores is not None, "it predicts there"
        return float(look.model.chances(scores)[best])

    first, middle = heads[int(order[0])], heads[int(order[len(order) // 2])]
    before = float(look.model.chances(logits)[best])
    return Beginning(*first, before, chance(first), chance(middle), len(heads))


def heads_of(look: Look, kind: str) -> list[tuple[int, int]]:
    """Return the places of all heads of a kind."""
    attention = look.trace.attention[kind]
    return [(layer, head) for layer in range(attention.layers) for head in range(attention.counts[layer])]


def seconds(look: Look, heads: int) -> float:
    """Estimate how long it takes to change each head."""
    return effort.seconds(look.model.info, len(look.trace.tokens) + len(look.trace.target), heads)


def every_head(look: Look, edit: Head | Temperature, fitting: list[str], other_text: str, position: int) -> np.ndarray | None:
    """Return by how much the prediction changes if each head in turn is changed as `edit` changes one; None while they are being
    tried."""
    heads = heads_of(look, edit.kind)
    other = changes.other_trace(look, fitting, other_text)

    def work(report: jobs.Report) -> np.ndarray:
        head_edits = [replace(edit, layer=layer, head=head) for layer, head in heads]
        edits = [[fill(head_edit, look.model, look.trace, other)] for head_edit in head_edits]
        return divergences(look.model, look.trace, edits, position, report)

    subject = (look.model.info.name, look.trace.text, look.second, other_text, position)
    change = str(replace(edit, layer=0, head=0))
    return jobs.result(("change-rank", *subject, change), work, "Changing one head after the other")


def rank(look: Look, changed: ChangedText, position: int | None, tries_all: bool) -> Ranking | None:
    """Return the changed head's effect among those of all heads; None unless exactly one head is changed, or while the others
    are being tried."""
    if position is None or len(changed.fitting) != 1 or ((labels := look.model.info.labels) and not labels.chances):
        return None
    edit = Edit.parse(changed.fitting[0])
    if not isinstance(edit, Head | Temperature):
        return None
    heads = heads_of(look, edit.kind)
    at = heads.index((edit.layer, edit.head))
    if seconds(look, len(heads)) > QUICK and not tries_all:
        return Ranking(None, at)
    nats = every_head(look, edit, changed.fitting, changed.other, position)
    return None if nats is None else Ranking(nats, at)
