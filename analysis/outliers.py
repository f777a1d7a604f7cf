"""Patches whose vectors are far longer than those of the others, and the attention that they get."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.tokens import Patch
from models.trace import Trace

FAR = 5.0  # robust standard deviations above the median: of normally scattered lengths, 1 in 3 million
AS_NORMAL = 1.4826  # times the median distance from the median is the standard deviation of a normal distribution
ROUND = 1e-4  # of the median length: differences below it are those of rounding


@dataclass(frozen=True)
class Outliers:
    """The patches of an image whose vectors are far longer than the others'.

    layer: the index of the layer after which most stand out, or else of that after which the longest patch is furthest from the
    median. positions: of these patches, in `trace.tokens`, the longest first. ratio: the length of the longest patch, as a
    multiple of the median patch's. reader: the index of the layer that reads the stream there: the next, or the last itself.
    received: the share of that layer's attention that these patches get, the mean over heads and queries; even: what it would
    be if all tokens got as much. leading, leading_even: the same for the tokens before the patches.

    Source: Darcet et al. 2024, "Vision Transformers Need Registers".
    """

    layer: int
    positions: tuple[int, ...]
    ratio: float
    reader: int
    received: float
    even: float
    leading: float
    leading_even: float


def outliers(trace: Trace) -> Outliers:
    """Find the patches that stand out by their length after some layer.

    Errors: ValueError for a text, and for an image of fewer than four patches."""
    places = np.array([at for at, token in enumerate(trace.tokens) if isinstance(token, Patch)])
    if len(places) < 4:
        raise ValueError("Patches are compared by their length, so this takes an image of four patches or more.")
    attention = trace.attention["self"]
    lengths = np.linalg.norm(trace.hidden["self"][1:, places].astype(np.float64), axis=-1)  # [layer, patch]
    middle = np.median(lengths, axis=1, keepdims=True)
    spread = AS_NORMAL * np.median(np.abs(lengths - middle), axis=1, keepdims=True)
    far = (lengths - middle) > np.maximum(FAR * spread, ROUND * middle)
    ratios = lengths.max(1) / np.maximum(middle[:, 0], np.finfo(np.float64).tiny)
    layer = max(range(len(far)), key=lambda at: (int(far[at].sum()), float(ratios[at])))
    positions = sorted(places[far[layer]].tolist(), key=lambda at: -float(lengths[layer][places.tolist().index(at)]))
    reader = min(layer + 1, attention.layers - 1)
    each = np.asarray(attention[reader], dtype=np.float64).mean((0, 1))  # what each token gets
    before = [at for at in range(len(each)) if at not in set(places.tolist())]
    return Outliers(
        layer,
        tuple(positions),
        float(ratios[layer]),
        reader,
        float(each[positions].sum()),
        len(positions) / len(each),
        float(each[before].sum()),
        len(before) / len(each),
    )
