"""Reads texts that wait at the same moment in one pass, each exactly as if it were read alone.

The weights of a network are then fetched from memory once for all texts; fetching them takes most of the time of a pass over one
or two new tokens. A single text takes the same path, as a pass over one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from models.attention.recorded_call import Call
from models.attention.side_by_side import Part, ReadPart
from models.numbers.readonly import read_only
from models.reading.prefix import Stamp, first, joined
from models.reading.requests import Request, Trial
from models.tokens import Token
from models.trace import Attention, Trace

if TYPE_CHECKING:
    from models.reading.readable import ReadableModel

PASTS = (512, 128, 32)  # tokens before a new one that a trial tries, the most first
PAST_BYTES = 128 * 2**20  # of keys and values that a trial may make up
CLOSE = 1e-5  # the largest difference of two ways to read, as a share of the largest number and of at least 1


def request_for(model: ReadableModel, text: str, tokens: Sequence[Token], cut: int, stamp: Stamp | None) -> Request:
    """Return the request for a text of a decoder, with the trace that it is read on from."""
    ids = tuple(token.id for token in tokens)
    before, shared = model.recent.longest_shared(stamp, ids)
    return Request(text, tokens, cut, stamp, ids, before, shared)


def read_alone(model: ReadableModel, request: Request) -> Trace:
    """Return the trace of one text. Errors: those of its reading."""
    (outcome,) = read(model, [request])
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def read(model: ReadableModel, requests: Sequence[Request]) -> list[Trace | Exception]:
    """Return the trace of each text, or the error of its reading, which concerns no other text.

    Equal texts are read once, and share the recording. Texts that may not be read beside others are read alone.
    """
    trial = Trial()
    if len(requests) > 1:
        stamp = model.recent.now()  # the network may have changed since the texts came
        trial = model.trial if stamp is not None and stamp.number == model.trial.number else trial
    outcomes: list[Trace | Exception | None] = [_known(model, request) for request in requests]
    groups: dict[object, list[int]] = {}
    for number in (number for number, outcome in enumerate(outcomes) if outcome is None):
        request = requests[number]
        key = (request.stamp.number, request.ids, request.text, tuple(request.tokens)) if request.stamp else number
        groups.setdefault(key, []).append(number)
    for numbers in _passes(requests, list(groups.values()), trial):
        for same, outcome in zip(numbers, _pass(model, [requests[same[0]] for same in numbers]), strict=True):
            for number in same:
                outcomes[number] = outcome
                if isinstance(outcome, Trace):
                    model.recent.keep(requests[number].stamp, requests[number].ids, outcome)
    return [outcome for outcome in outcomes if outcome is not None]


def remembered(model: ReadableModel, request: Request) -> Trace | None:
    """Return the remembered trace of exactly this text, as `LanguageModel.trace` returns it; None if it has not been read."""
    known = _known(model, request)
    return None if known is None else replace(known, model=model)


def _known(model: ReadableModel, request: Request) -> Trace | None:
    known: Trace | None = model.recent.same(request.stamp, request.ids, request.text, request.tokens)
    return known


def _passes(requests: Sequence[Request], groups: list[list[int]], trial: Trial) -> Iterator[list[list[int]]]:
    """Yield groups of equal texts that are read in one pass."""
    beside = [numbers for numbers in groups if trial.allows(requests[numbers[0]])]
    if beside:
        yield beside
    yield from ([numbers] for numbers in groups if numbers not in beside)


def _pass(model: ReadableModel, requests: Sequence[Request]) -> Sequence[Trace | Exception]:
    """Read texts in one pass. Where that fails, each is read by itself, so that an error stays with its text."""
    try:
        return _traces(model, requests)
    except Exception as error:  # of whatever kind: it belongs to one of the texts, or to reading them at once
        if len(requests) == 1:
            return [error]
        return [outcome for request in requests for outcome in _pass(model, [request])]


def _traces(model: ReadableModel, requests: Sequence[Request]) -> list[Trace]:
    parts = [Part(request.ids[request.shared :], request.calls) for request in requests if request.new]
    read_parts = iter(model.read_parts(parts) if parts else ())
    traces = [_trace(model, request, next(read_parts) if request.new else None) for request in requests]
    if len(traces) > 1 and model.info.predicts and model.tail is None:
        ends = [trace.hidden["self"][-1][-1] for trace in traces]
        for trace, row in zip(traces, model.unembed(np.stack(ends)), strict=True):
            trace.row[len(trace.tokens) - 1] = read_only(row.copy())
    return traces


def _trace(model: ReadableModel, request: Request, part: ReadPart | None) -> Trace:
    """Join the new part of a text to the remembered calls and stream of its beginning."""
    known: dict[int, np.ndarray] = {}
    if request.before:
        calls, hidden = request.calls, request.before.hidden["self"][:, : request.shared]
        known = request.before.attention["self"].beginning(request.shared)
        if part is not None:
            calls, hidden = joined(calls, part.calls), np.concatenate([hidden, part.stream], axis=1)
    else:
        assert part is not None, "a text has at least one token"
        calls, hidden = part
    attention = {"self": Attention(request.tokens, request.tokens, calls, known, **model.attention_options("self"))}
    words = model.unembed if model.info.predicts else None
    return Trace(
        request.text, request.tokens, attention, {"self": hidden}, request.cut, words, tail=model.tail, label=model.label
    )


def traces(model: ReadableModel, requests: Sequence[Request]) -> list[Trace | Exception]:
    """Return for each text the trace that `LanguageModel.trace` returns, or its error."""
    outcomes = read(model, requests)
    return [replace(outcome, model=model) if isinstance(outcome, Trace) else outcome for outcome in outcomes]


def tried(model: ReadableModel) -> Trial:
    """Read a few made-up texts alone and side by side, and return which texts give the same numbers both ways.

    One of them has a long past, which shows windows and blocks of attention that shorter texts do not fill.
    """
    stamp = model.recent.now()
    if stamp is None:
        return Trial()
    ids = tuple(3 + i % (min(model.ids, 100) - 3) for i in range(24))
    try:
        alone = model.read_parts([Part(ids[:12])])[0]
        if any(tensor.dtype.itemsize < 4 for call in alone.calls for tensor in call.tensors()):
            return Trial()  # in 16 bits the same sum in another order may differ by a digit that is shown
        before = first(alone.calls, 7)
        parts = [Part(ids[:5]), Part(ids[7:8], before), Part(ids[9:13], before), Part(ids[20:21])]
        for past in PASTS:
            past = min(past, (model.room or past) - 1)
            if model.cache_bytes(past) <= PAST_BYTES and _same(model, [*parts, Part(ids[3:6], _repeated(alone.calls, past - 2))]):
                return Trial(stamp.number, past + 1)
    except Exception:  # a network that cannot be read so at all, in whatever way it says so
        return Trial()
    return Trial()


def _repeated(calls: Sequence[Call], positions: int) -> list[Call]:
    """Repeat the keys and values of these calls until they fill so many positions, and return the new calls."""
    places = torch.arange(positions) % calls[0].shape[2]
    pairs = (call.keys_and_values for call in calls)
    return [Call(None, key[:, places], value[:, places], causal=True) for key, value in pairs]


def _same(model: ReadableModel, parts: Sequence[Part]) -> bool:
    """Return whether parts read side by side are those read alone: streams, weights, queries, keys, values and outputs."""
    beside = model.read_parts(parts)
    for part, here in zip(parts, beside, strict=True):
        (alone,) = model.read_parts([part])
        if len(alone.calls) != len(here.calls) or not _close(torch.tensor(alone.stream), torch.tensor(here.stream)):
            return False
        for a, b in zip(alone.calls, here.calls, strict=True):
            pairs = [(a.weights(), b.weights()), *zip(a.tensors(), b.tensors(), strict=True)]
            if (a.scale, a.softcap) != (b.scale, b.softcap) or not all(_close(*pair) for pair in pairs):
                return False
    return True


def _close(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    largest = max(1.0, float(a.abs().max()))
    return float((a - b).abs().max()) <= CLOSE * largest
