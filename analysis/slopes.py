"""Attributions of a prediction to tokens by its slope: gradient × input, and integrated gradients from an empty text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.attribution_tests import Question, Report
from models.tokens import Patch, Token

if TYPE_CHECKING:
    from torch import Tensor

STEPS = 64  # points on the way from the empty text to the text
TOKENS = 1024  # read forward and backward at once


def gradient_times_input(question: Question, report: Report | None = None, tokens_alone: bool = False) -> np.ndarray:
    """Return the slope of the evidence with respect to the first layer's input at each token, times that input: nats, float64
    [token].

    It is the evidence lost at this slope if the vector, including its position, went to 0; its sum has no meaning. tokens_alone:
    take the slope with respect to the vector in the table of tokens, before a position is added, as captum's layer methods and
    most others do. Errors: as `models.gradients.embeddings.logits_from` and `streams_of`.
    Source: Shrikumar, Greenside and Kundaje 2017, "Learning Important Features Through Propagating Activation Differences", 2.
    """
    from captum.attr import InputXGradient  # here, because it takes long to import

    streams, _, evidence_of = _streams(question, report, 1, tokens_alone)
    return _sum_tokens(InputXGradient(evidence_of).attribute(tuple(stream.requires_grad_() for stream in streams)))


def integrated_gradients(question: Question, steps: int = STEPS, report: Report | None = None) -> np.ndarray:
    """Return the mean slope on a straight line from an empty text to this one, times that line: nats, float64 [token].

    The first layer's input moves, including positions. The empty text has `nothing` in the place of each token that can be
    deleted. The numbers sum to the evidence at the end of the line less that at its beginning, up to the error of so many steps
    (Gauss-Legendre). Errors: as `models.gradients.embeddings.logits_from`.
    Source: Sundararajan, Taly and Yan 2017, "Axiomatic Attribution for Deep Networks".
    """
    from captum.attr import IntegratedGradients

    streams, begin, evidence_of = _streams(question, report, steps)
    batch = max(1, min(steps, TOKENS // sum(stream.shape[1] for stream in streams)))
    return _sum_tokens(IntegratedGradients(evidence_of).attribute(streams, begin, n_steps=steps, internal_batch_size=batch))


def ends(question: Question) -> tuple[float, float]:
    """Return the evidence of the empty text and of the whole text, between which integrated gradients go."""
    import torch

    streams, begin, evidence_of = _streams(question, None, 1)
    with torch.inference_mode():
        first, last = evidence_of(*(torch.cat(pair) for pair in zip(begin, streams, strict=True))).tolist()
    return first, last


def _sum_tokens(attributions: tuple[Tensor, ...]) -> np.ndarray:
    """Sum numbers of streams [1, position, d_model] for each token, the source before the target."""
    return np.concatenate([attribution.detach()[0].sum(-1).double().numpy() for attribution in attributions])


def nothing(question: Question) -> Token:
    """Return the token that means nothing: the mask, else a special token of this text or of the vocabulary, else a space.

    A token whose vector is 0, as that of padding may be, is not used: a norm would divide it by zero, which no model has learned
    to read.
    """
    if question.mask:
        return question.mask
    model = question.model
    if signs := [token for token in question.trace.tokens if token.special]:
        return signs[0]
    ids = (id for id in range(model.info.vocabulary) if model.is_special(id) and model.embedding([id]).any())
    if (sign := next(ids, None)) is not None:
        return Token(sign, model.token_text(sign), 0, 0, special=True)
    return model.tokenize(" ")[-1]


def emptied(question: Question, tokens: Sequence[Token], units: set[int]) -> list[Token]:
    """Return the tokens of an empty text: `nothing` at the units; of an image, all its patches covered."""
    if any(isinstance(token, Patch) for token in tokens):
        return [token.cover() if isinstance(token, Patch) else token for token in tokens]
    sign = nothing(question)
    return [sign if i in units else token for i, token in enumerate(tokens)]


def adds_to_tokens(question: Question) -> bool:
    """Return whether the first layer's input is more than scaled vectors of tokens, for example because positions are added."""
    trace = question.trace
    if "image" in question.model.info.reads:
        return True
    stream = next(iter(trace.hidden.values()))[0].astype(np.float64)
    vectors = question.model.embedding([token.id for token in trace.tokens]).astype(np.float64)
    if vectors.shape != stream.shape:
        return True
    scale = (stream * vectors).sum() / max(np.finfo(float).tiny, (vectors * vectors).sum())
    near = 1e-4 if question.model.info.dtype == "float32" else 2e-2
    return bool(np.abs(stream - scale * vectors).max() > near * np.abs(stream).max())


def _streams(
    question: Question, report: Report | None, steps: int, tokens_alone: bool = False
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...], Callable[..., Tensor]]:
    """Return the first layer's input in each stack for the text and for the empty text [1, position, d_model], or the tokens' own
    vectors, and a function from such streams to the evidence."""

    from models.class_labels import log_chances_of
    from models.gradients.embeddings import logits_from, streams_of

    trace, units = question.trace, set(question.units)
    empty = emptied(question, [*trace.tokens, *trace.target], units)
    count, done = len(trace.tokens), 0
    if question.model.info.labels and trace.target:  # a classifier's decoder reads the text again, a place later
        empty[count + 1 :] = empty[: count - 1]
    all_streams = streams_of(question.model, trace, [trace.tokens, empty[:count]], [trace.target, empty[count:]], tokens_alone)
    full, begin = tuple(stream[:1].clone() for stream in all_streams), tuple(stream[1:].clone() for stream in all_streams)

    def evidence_of(*streams: Tensor) -> Tensor:
        nonlocal done
        if report:
            report(min(1.0, done / steps), f"{min(done, steps):,} of {steps:,} passes forward and back")
        done += len(streams[0])
        logits = logits_from(question.model, trace, streams, question.position, tokens_alone).float()
        if question.against is not None:
            return logits[:, question.token] - logits[:, question.against]
        return log_chances_of(logits, question.model.info.labels)[:, question.token]

    return full, begin, evidence_of
