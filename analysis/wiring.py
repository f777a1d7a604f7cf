"""How the parts of a circuit hang together: what each does by way of each later one, and straight to the prediction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.behaviour import Behaviour, Node, put, value_of
from analysis.circuits import AT_ONCE, Report

FAINT = 0.01  # a part that changes what a later one gives by less than this share is not followed to it
MOST = 400  # pairs that are followed, those that change most


def circuit_edges(asked: Behaviour, kept: Sequence[Node], report: Report | None = None) -> tuple[np.ndarray, np.ndarray]:
    """What each part of a circuit does by way of each other part, float64 [from, to], and straight to the prediction, [from].

    Both are measured, as shares of the behaviour, with the circuit alone. A part is taken away while every other one still gives
    what it gave: what the measure loses is what the part does straight away. What a later part would give then is put in its
    place, and what the measure loses by that is the edge between the two, however it goes on from there. NaN where that was not
    followed: the later part hardly changed (`FAINT`), or too many changed more (`MOST`). Errors: ValueError for a model that
    attends in its own way, whose heads cannot be held.
    Source: Goldowsky-Dill et al. 2023, "Localizing Model Behavior with Path Patching".
    """
    from models.hearing import hear

    if not asked.model.info.queries:
        raise ValueError(
            f"{asked.model.info.name} attends in its own way: what its heads give cannot be held, so no edge can be measured."
        )
    gone, length = asked.without(kept), len(asked.trace.read)
    plain = hear(asked.model, asked.trace, [gone], asked.position)
    held = {node: put(node, value_of(plain, node), length) for node in kept}
    rows = [[*gone, *(edit for one in kept for edit in (asked.edits if one == node else held)[one])] for node in kept]
    found = hear(asked.model, asked.trace, rows, asked.position)
    edges, pairs = np.full((len(kept), len(kept)), np.nan), {}
    for to, node in enumerate(kept):
        before = value_of(plain, node)
        for start in range(len(kept)):
            change = float(np.linalg.norm(value_of(found, node, start) - before) / (np.linalg.norm(before) or 1.0))
            if start != to and change > FAINT:
                pairs[start, to] = change
    followed = sorted(pairs, key=lambda pair: -pairs[pair])[:MOST]
    whole, nothing = asked.ends
    for begun in range(0, len(followed), AT_ONCE):
        if report:
            report(begun / len(followed), f"{begun} of {len(followed)} edges measured")
        some = followed[begun : begun + AT_ONCE]
        lists = [[*gone, *put(kept[to], value_of(found, kept[to], start), length)] for start, to in some]
        after = hear(asked.model, asked.trace, lists, asked.position).logits
        for pair, value in zip(some, asked.measure_of(after), strict=True):
            edges[pair] = (asked.measure_of(plain.logits)[0] - value) / (whole - nothing)
    return edges, (asked.measure_of(plain.logits)[0] - asked.measure_of(found.logits)) / (whole - nothing)
