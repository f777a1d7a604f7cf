"""The edges of a circuit: the effect of each part through each later one, and directly on the prediction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.behaviour import Behaviour, Node, replace_part, value_of
from analysis.circuits import AT_ONCE, Report

FAINT = 0.01  # an edge is not measured if it changes the later part's output by a smaller share
MOST = 400  # pairs that are measured, those that change most


def circuit_edges(behaviour: Behaviour, circuit: Sequence[Node], report: Report | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return each part's effect through each other part, float64 [from, to], and directly on the prediction, [from].

    Both are measured, as shares of the behaviour, in the circuit alone. A part is removed while all other parts keep their
    outputs: the measure's loss is the direct effect. Then one later part gets the output that it would have without the removed
    part: the measure's loss is the edge between the two, with everything that follows from it. NaN where this was not measured:
    the later part hardly changed (`FAINT`), or too many others changed more (`MOST`). Errors: ValueError for a model with its own
    attention code, whose heads cannot be held fixed.
    Source: Goldowsky-Dill et al. 2023, "Localizing Model Behavior with Path Patching".
    """
    from models.gradients.parts import hear

    if not behaviour.model.info.queries:
        raise ValueError(
            f"{behaviour.model.info.name} attends in its own way: what its heads give cannot be held, so no edge can be measured."
        )
    removals, length = behaviour.without(circuit), len(behaviour.trace.read)
    plain = hear(behaviour.model, behaviour.trace, [removals], behaviour.position)
    fixed_edits = {node: replace_part(node, value_of(plain, node), length) for node in circuit}
    rows = [
        [*removals, *(edit for part in circuit for edit in (behaviour.edits if part == node else fixed_edits)[part])]
        for node in circuit
    ]
    changed = hear(behaviour.model, behaviour.trace, rows, behaviour.position)
    edges, pairs = np.full((len(circuit), len(circuit)), np.nan), {}
    for to, node in enumerate(circuit):
        before = value_of(plain, node)
        for start in range(len(circuit)):
            change = float(np.linalg.norm(value_of(changed, node, start) - before) / (np.linalg.norm(before) or 1.0))
            if start != to and change > FAINT:
                pairs[start, to] = change
    strongest = sorted(pairs, key=lambda pair: -pairs[pair])[:MOST]
    full, nothing = behaviour.ends
    for first in range(0, len(strongest), AT_ONCE):
        if report:
            report(first / len(strongest), f"{first} of {len(strongest)} edges measured")
        some = strongest[first : first + AT_ONCE]
        lists = [[*removals, *replace_part(circuit[to], value_of(changed, circuit[to], start), length)] for start, to in some]
        after = hear(behaviour.model, behaviour.trace, lists, behaviour.position).logits
        for pair, value in zip(some, behaviour.measure_of(after), strict=True):
            edges[pair] = (behaviour.measure_of(plain.logits)[0] - value) / (full - nothing)
    return edges, (behaviour.measure_of(plain.logits)[0] - behaviour.measure_of(changed.logits)) / (full - nothing)
