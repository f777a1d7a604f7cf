"""Readable texts: tokens with the typed text in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.scopes import Scope
from models.tokens import Token
from models.trace import Trace


def as_written(tokens: Sequence[Token], *texts: str) -> list[Token]:
    """Return tokens with the typed text in their place, with capitals and spaces; special tokens and fragments stay.

    texts: one for each segment; offsets count in them.
    """
    readable: list[Token] = []
    ends: dict[int, int] = {}
    for token in tokens:
        text = texts[min(token.segment, len(texts) - 1)]
        start = ends.get(token.segment, token.start)
        if token.start < token.end and token.end > start and not token.fragment:
            typed_text = text[start : token.end]  # an unknown token is what was typed; a mask is a mask
            token = replace(token, text=typed_text, special=token.special and typed_text.strip() == token.text.strip())
        if token.start < token.end or not token.special:  # one that was added has read nothing
            ends[token.segment] = max(start, token.end)
        readable.append(token)
    return readable


def paragraph(
    trace: Trace, kind: str, scope: Scope, weights: np.ndarray | None, target: str = ""
) -> tuple[list[Token], np.ndarray | None, int]:
    """Return the readable text of a trace: tokens as typed, weights [..., token, token] or None, and where the queries begin.

    kind: of the attention in `scope`; target: the typed target or second text. In cross-attention the text is the source and then
    the target; the source looks nowhere there.
    """
    if kind != "cross":
        return as_written(scope.queries.tokens, *([target] if kind == "decoder" else [trace.text, target])), weights, 0
    start, count = len(scope.keys.tokens), len(scope.keys.tokens) + len(scope.queries.tokens)
    joint = None
    if weights is not None:
        joint = np.zeros((*weights.shape[:-2], count, count), dtype=np.float32)
        joint[..., start:, :start] = weights
    return [*as_written(scope.keys.tokens, trace.text), *as_written(scope.queries.tokens, target)], joint, start
