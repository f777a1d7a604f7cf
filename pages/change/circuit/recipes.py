"""How each picture of experiment "Circuit" is made: a model, what it read, and options that can be written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from analysis import Behaviour, Circuit, circuit_edges, find_circuit
from analysis.behaviour import Node
from models.language_model import LanguageModel
from models.trace import Trace
from viz import View
from viz.figures.circuit import Spot, circuit
from viz.views.prediction_bars import value_bars


@dataclass(frozen=True)
class Found:
    """A circuit, what each of its parts does by way of each other one, and straight to the prediction; None where that cannot be
    measured."""

    circuit: Circuit
    edges: np.ndarray | None = None
    direct: np.ndarray | None = None


def find(
    model: LanguageModel, trace: Trace, position: int, token: int, against: int | None, keep: float, fill: str, other: str,
    second: str, report: Callable[[float, str], None] | None = None,
) -> Found:  # fmt: skip
    """The circuit, and how it hangs together."""

    def part(start: float, end: float) -> Callable[[float, str], None] | None:
        return report and (lambda share, words: report(start + (end - start) * share, words))

    found = find_circuit(model, trace, token, position, against, keep, fill, other, second, report=part(0, 0.8))
    if not model.info.queries:
        return Found(found)
    asked = Behaviour(model, trace, position, token, against, fill, other, second)
    return Found(found, *circuit_edges(asked, found.kept, part(0.8, 1)))


def graph(
    model: LanguageModel, trace: Trace, *, position: int, token: int, against: int | None, keep: float, fill: str, other: str,
    second: str, called: str, found: Found | None = None,
) -> go.Figure:  # fmt: skip
    """The parts of the circuit, layers upward, and what each hands to which."""
    found = found or find(model, trace, position, token, against, keep, fill, other, second)
    heads = max(attention.heads for attention in trace.attention.values())
    lost = found.circuit.share - found.circuit.without
    spots = [spot(node, heads, float(share)) for node, share in zip(found.circuit.kept, lost, strict=True)]
    return circuit(spots, called, found.edges, found.direct)


def spot(node: Node, heads: int, share: float) -> Spot:
    """A head stands where its number says, a feed-forward at the right, above the heads of its layer."""
    if node.head is None:
        return Spot(node.name, 3 * node.layer + 2, 1.0, f"L{node.layer} feed-forward", lost=share)
    cross = node.kind == "cross"
    row = f"L{node.layer}{' cross' if cross else ''} heads"
    return Spot(node.name, 3 * node.layer + cross, (node.head + 0.5) / (heads + 1), row, f"H{node.head}", share)


def lost(
    model: LanguageModel, trace: Trace, *, position: int, token: int, against: int | None, keep: float, fill: str, other: str,
    second: str, heads: tuple[str, str], found: Found | None = None,
) -> View:  # fmt: skip
    """What share of the behaviour goes with each part of the circuit, the largest first, in per cent."""
    found = found or find(model, trace, position, token, against, keep, fill, other, second)
    each = found.circuit.share - found.circuit.without
    order = np.argsort(-np.abs(each), kind="stable")
    names = [found.circuit.kept[i].name.replace("feed-forward", "FF") for i in order]
    return value_bars(names, (100 * each[order]).tolist(), heads, label="What goes with each part", still=True)
