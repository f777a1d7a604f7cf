"""The recipes of experiment "Circuit": functions of a model, what it read, and options that are literals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from analysis import Behaviour, Circuit, circuit_edges, find_circuit
from analysis.behaviour import Node
from models.language_model import LanguageModel
from models.trace import Trace
from viz import View
from viz.figures.circuit import FAINTEST, Spot, circuit
from viz.views.prediction_bars import value_bars


@dataclass(frozen=True)
class Wiring:
    """A circuit and its wiring. edges: the effect of each part through each other part; direct: the effect of each part straight
    on the prediction; None where these cannot be measured."""

    circuit: Circuit
    edges: np.ndarray | None = None
    direct: np.ndarray | None = None


def find(
    model: LanguageModel,
    trace: Trace,
    position: int,
    token: int,
    against: int | None,
    keep: float,
    fill: str,
    other: str,
    second: str,
    report: Callable[[float, str], None] | None = None,
) -> Wiring:
    """Find the circuit, and measure its wiring."""

    def part(start: float, end: float) -> Callable[[float, str], None] | None:
        return report and (lambda share, words: report(start + (end - start) * share, words))

    circuit = find_circuit(model, trace, token, position, against, keep, fill, other, second, report=part(0, 0.8), leads=True)
    if not model.info.queries:
        return Wiring(circuit)
    behaviour = Behaviour(model, trace, position, token, against, fill, other, second)
    return Wiring(circuit, *circuit_edges(behaviour, circuit.members, part(0.8, 1)))


def graph(
    model: LanguageModel,
    trace: Trace,
    *,
    position: int,
    token: int,
    against: int | None,
    keep: float,
    fill: str,
    other: str,
    second: str,
    called: str,
    most: int,
    wiring: Wiring | None = None,
) -> go.Figure:
    """Return a figure of the circuit's parts, layers upward, and of what each passes to which. most: how many lines are drawn,
    the widest; those of the strongest path are drawn too."""
    wiring = wiring or find(model, trace, position, token, against, keep, fill, other, second)
    heads = max(attention.heads for attention in trace.attention.values())
    losses = wiring.circuit.share - wiring.circuit.without
    spots = [spot(node, heads, float(share)) for node, share in zip(wiring.circuit.members, losses, strict=True)]
    return circuit(spots, called, wiring.edges, wiring.direct, most, path_lines(wiring))


def strongest_path(wiring: Wiring) -> list[tuple[int, float]]:
    """Return the parts of the strongest path, each with the share that it hands on to the next, the last one straight to the
    prediction. The path begins with the strongest line between two parts and follows the strongest line of each; it is empty
    where nothing is handed on.
    """
    edges, direct = wiring.edges, wiring.direct
    if edges is None or direct is None or not len(direct):
        return []
    lines = np.nan_to_num(np.column_stack([edges, direct]))  # the last column is the prediction
    last = len(lines)
    between = lines[:, :last]
    part = int(np.unravel_index(int(between.argmax()), between.shape)[0]) if between.max() >= FAINTEST else int(direct.argmax())
    path = list[tuple[int, float]]()
    to = int(between[part].argmax()) if between.max() >= FAINTEST else last
    while True:
        share = float(lines[part, to])
        if share < FAINTEST:
            return []
        path.append((part, share))
        if to == last:
            return path
        part, to = to, int(lines[to].argmax())


def path_lines(wiring: Wiring) -> list[tuple[int, int]]:
    """Return the lines of the strongest path, from and to; the prediction is the number after the last part."""
    parts = [part for part, _ in strongest_path(wiring)]
    return list(pairwise([*parts, len(wiring.direct)])) if parts and wiring.direct is not None else []


def spot(node: Node, heads: int, share: float) -> Spot:
    """Return the place of a part: a head by its number, a feed-forward at the right, above the heads of its layer."""
    if node.head is None:
        return Spot(node.name, 3 * node.layer + 2, 1.0, node.name, lost=share)
    cross = node.kind == "cross"
    row = f"L{node.layer if node.number is None else node.number}{' cross' if cross else ''} heads"
    return Spot(node.name, 3 * node.layer + cross, (node.head + 0.5) / (heads + 1), row, f"H{node.head}", share)


def losses(
    model: LanguageModel,
    trace: Trace,
    *,
    position: int,
    token: int,
    against: int | None,
    keep: float,
    fill: str,
    other: str,
    second: str,
    heads: tuple[str, str],
    wiring: Wiring | None = None,
) -> View:
    """Return bars of the share of the behaviour that is lost with each part of the circuit, the largest first, in per cent."""
    wiring = wiring or find(model, trace, position, token, against, keep, fill, other, second)
    shares = wiring.circuit.share - wiring.circuit.without
    order = np.argsort(-np.abs(shares), kind="stable")
    names = [wiring.circuit.members[i].name.replace("feed-forward", "FF") for i in order]
    return value_bars(
        names, (100 * shares[order]).tolist(), heads, label="What is lost without each part", still=True, signed=True
    )
