"""A text as one reads it: tokens with what was typed in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.scopes import Scope
from models.tokens import Token
from models.trace import Trace


def as_written(tokens: Sequence[Token], *texts: str) -> list[Token]:
    """The tokens with what was typed in their place, capitals and spaces and all; special tokens and fragments stay.

    texts: one a segment, which the offsets count in.
    """
    written: list[Token] = []
    ends: dict[int, int] = {}
    for token in tokens:
        text = texts[min(token.segment, len(texts) - 1)]
        start = ends.get(token.segment, token.start)
        if token.start < token.end and token.end > start and not token.fragment:
            typed = text[start : token.end]  # an unknown token is what was typed; a mask is a mask
            token = replace(token, text=typed, special=token.special and typed.strip() == token.text.strip())
        if token.start < token.end or not token.special:  # one that was added has read nothing
            ends[token.segment] = max(start, token.end)
        written.append(token)
    return written


def paragraph(
    trace: Trace, kind: str, seen: Scope, weights: np.ndarray | None, target: str = ""
) -> tuple[list[Token], np.ndarray | None, int]:
    """What one reads of a trace: tokens as they were typed, weights [..., token, token] or None, and where the queries begin.

    kind: which attention `seen` is of; target: what was typed as the target or the second text. In cross-attention it is the
    source and then the target, as one: the source looks nowhere there.
    """
    if kind != "cross":
        return as_written(seen.queries.tokens, *([target] if kind == "decoder" else [trace.text, target])), weights, 0
    start, count = len(seen.keys.tokens), len(seen.keys.tokens) + len(seen.queries.tokens)
    joint = None
    if weights is not None:
        joint = np.zeros((*weights.shape[:-2], count, count), dtype=np.float32)
        joint[..., start:, :start] = weights
    return [*as_written(seen.keys.tokens, trace.text), *as_written(seen.queries.tokens, target)], joint, start
