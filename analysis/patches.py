"""Activation patching: what a model read in one text is put into another, piece by piece, to see where the answer comes from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analysis.effects import log_softmax
from models.edits import Edit, Head, Part, Stream
from models.given import Text
from models.language_model import LanguageModel
from models.trace import Trace

PARTS = ("stream", "attention", "feedforward", "head")
MEASURES = ("logit difference", "probability", "KL")
DIRECTIONS = ("denoising", "noising")


def patching(
    model: LanguageModel,
    clean: Text,
    corrupt: Text,
    part: str = "stream",
    measure: str = "logit difference",
    direction: str = "denoising",
    position: int = -1,
    token: int | None = None,
    other: int | None = None,
    target: Text = "",
    kind: str | None = None,
) -> np.ndarray:
    """How much of the clean answer comes back when a piece of the clean run is put into the corrupt one: 0 none, 1 all.

    direction "noising": how much of it goes when a piece of the corrupt run is put into the clean one. part: "stream", float64
    [layers + 1, position] (0 after the embedding); "attention" or "feedforward", what a block's part adds, [layers, position];
    "head", what a head gives at all positions, [layers, heads]. measure: "logit difference" of the clean answer `token` and the
    corrupt one `other` (ids; None for the likeliest of each text), "probability" of `token`, or "KL" from the run that is put in.
    position: of `trace.read`, where is predicted; target: what an encoder-decoder has said to both; kind: where is patched, None
    for "self" or "encoder". Values beyond 0 and 1 are possible. Errors: ValueError for texts of unequal length or the same
    answer, and for a part, measure or direction that there is not.
    Source: Heimersheim and Nanda 2024, "How to use and interpret activation patching".
    """
    for name, choice, known in (("part", part, PARTS), ("measure", measure, MEASURES), ("direction", direction, DIRECTIONS)):
        if choice not in known:
            raise ValueError(f'{name} is "{choice}"; it must be one of {", ".join(known)}.')
    from models.batches import answers  # brings torch, which the first page does not wait for

    runs = model.traces([clean, corrupt], targets=target)
    check_lengths(model, *runs)
    source, base = runs if direction == "denoising" else runs[::-1]
    kind = kind or next(name for name in ("self", "encoder") if name in base.attention)
    edits, shape = pieces(model, source, part, kind)
    first, second = (log_softmax(answers(model, run, [[]], position)) for run in runs)
    ends = (second, first) if direction == "denoising" else (first, second)
    score = scorer(measure, first, second, ends[1], token, other)
    low, high = (float(score(end)[0]) for end in ends)
    if abs(high - low) < 1e-6:
        raise ValueError(f"Both texts give the same answer, measured by {measure}: there is nothing that could come back.")
    scores = score(log_softmax(answers(model, base, edits, position)))
    return ((scores - low) / (high - low)).reshape(shape)


def check_lengths(model: LanguageModel, clean: Trace, corrupt: Trace) -> None:
    """Errors: ValueError for texts of unequal length."""
    ours, theirs = len(clean.tokens), len(corrupt.tokens)
    if ours != theirs:
        raise ValueError(
            f"The clean text has {ours} tokens and the corrupt one {theirs}: for {model.info.name} both must have as many, so "
            "that each place of one is a place of the other. Change a word for one of the same number of tokens."
        )


def pieces(model: LanguageModel, source: Trace, part: str, kind: str) -> tuple[list[list[Edit]], tuple[int, int]]:
    """The edits that put each piece of a run into another one, and how many layers and positions (or heads) there are."""
    if part == "head":
        attention = source.attention[kind]
        outs = [attention.out(layer) for layer in range(attention.layers)]
        return [[Head(layer, head, mean=out, kind=kind)] for layer, heads in enumerate(outs) for head, out in enumerate(heads)], (
            attention.layers,
            attention.heads,
        )
    if part == "stream":
        stream = source.hidden[kind]
        return [[Stream(layer, at, value=stream[layer, at], kind=kind)] for layer, at in np.ndindex(stream.shape[:2])], (
            stream.shape[0],
            stream.shape[1],
        )
    added = model.parts(source).get(kind, {}).get(part)
    if added is None or np.isnan(added).any():
        raise ValueError(
            f"What the {part} of {model.info.name} adds to its stream cannot be told apart from the rest of a block."
        )
    return [[Part(layer, at, added[layer, at], part, kind=kind)] for layer, at in np.ndindex(added.shape[:2])], added.shape[:2]


def scorer(
    measure: str, clean: np.ndarray, corrupt: np.ndarray, source: np.ndarray, token: int | None, other: int | None
) -> Callable[[np.ndarray], np.ndarray]:
    """ln p [row, vocabulary] to a number a row. The three: ln p [1, vocabulary] of the runs."""
    token = int(clean[0].argmax()) if token is None else token
    other = int(corrupt[0].argmax()) if other is None else other
    if measure == "KL":
        return lambda logs: -(np.exp(source) * (source - logs)).sum(-1)
    if measure == "probability":
        return lambda logs: np.exp(logs[:, token])
    if token == other:
        raise ValueError(
            "Both texts have the same answer, so there is no difference of logits. Name token and other, or measure by KL."
        )
    return lambda logs: logs[:, token] - logs[:, other]
