"""The numbers that an edit names: means over the sample of texts, a head's output in another text, rows of attention."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis.references import feedforward_means, head_means
from models.edits import EVEN, SAMPLE, Edit, Head, Part, Row, check
from models.language_model import LanguageModel
from models.trace import Attention, Trace


def fill(edit: Edit, model: LanguageModel, trace: Trace | None = None, other: Trace | None = None) -> Edit:
    """Return an edit with the numbers that it names, such as "sample"; an edit that names none is returned unchanged.

    trace: the text that the edit changes; rows of attention are taken from it. other: another text of as many tokens, from which
    a head's output is taken. Errors: ValueError, a sentence, for a place that the model or the text does not have, and for
    numbers that are not available.
    """
    match edit:
        case Head(layer, head, mean=str() as name):
            check([replace(edit, mean=None)], model.info, {})
            if name == SAMPLE:
                return replace(edit, mean=head_means(model, edit.kind)[layer, head])
            return replace(edit, mean=head_output(edit, trace, other))
        case Row(layer, head, weights=str() as name):
            as_in = head if name == EVEN else int(name[1:])
            check([Head(layer, number, kind=edit.kind) for number in (head, as_in)], model.info, {})
            row = row_of(edit, trace, as_in)
            return replace(edit, weights=(row > 0) / (row > 0).sum() if name == EVEN else row / row.sum())
        case Part(layer, value=str()):
            check([replace(edit, position=None, value=np.zeros(model.info.d_model))], model.info, {})
            if edit.part != "feedforward":
                raise ValueError("Only the means of heads and of feed-forwards over the sample are known. Give the numbers.")
            return replace(edit, value=feedforward_means(model, edit.kind)[layer])
    return edit


def head_output(edit: Head, trace: Trace | None, other: Trace | None) -> np.ndarray:
    """Return the output of a head in another text, [query, d_head]."""
    if trace is None or other is None:
        raise ValueError("There is no other text to take the head’s output from. Write one.")
    ours, theirs = (len(attention_of(reading, edit.kind).queries) for reading in (trace, other))
    if ours != theirs:
        raise ValueError(f"The other text has {theirs} tokens and this one has {ours}. Write one with {ours} tokens.")
    return other.attention[edit.kind].out(edit.layer)[edit.head]


def row_of(edit: Row, trace: Trace | None, head: int) -> np.ndarray:
    """Return a head's weights for the query of an edit, [key]."""
    if trace is None:
        raise ValueError("A row of attention is taken from a text, and there is none here.")
    attention = attention_of(trace, edit.kind)
    if not -len(attention.queries) <= edit.query < len(attention.queries):
        raise ValueError(f"There is no query {edit.query}: the text has only {len(attention.queries)} tokens.")
    return attention[edit.layer][head, edit.query]


def attention_of(trace: Trace, kind: str) -> Attention:
    if kind not in trace.attention:
        raise ValueError(f"There is no {kind} attention to take numbers from; there is {', '.join(trace.attention) or 'none'}.")
    return trace.attention[kind]
