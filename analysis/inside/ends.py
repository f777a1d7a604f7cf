"""Both ends of the way: from ids to the stream that the first block is given, and from the last block's stream to a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.inside import steps
from analysis.inside.attending import Capped
from analysis.inside.formulas import Choice, Lookup, Probabilities, Scale, Shifted
from analysis.inside.reading import ADDS, OWN, PRODUCTS, Reading
from analysis.inside.stages import Stage
from analysis.inside.stored import Matrix, array, matrix

if TYPE_CHECKING:
    from torch import Tensor

    from models.watching import Node


def begin(reading: Reading, ids: np.ndarray, stream: np.ndarray) -> Stage:
    """The stages before the blocks; returns the one that the first block is given. ids: int [token]; stream: [token, d_model]."""
    chosen = reading.add("ids", ("token",), None, ids.astype(np.float32))
    for node in reading.path:
        reading.tried(node, lambda node: _begun(reading, node, ids, chosen))
    end = reading.taken(reading.section.end) if reading.section.end is not None else None
    if end is None or not steps.close(end.rows(None), stream, reading.near):
        end = reading.add("embedding sum", ("token", "d_model"), None, stream, None, OWN.format("between table and blocks"))
    return end


def _begun(reading: Reading, node: Node, ids: np.ndarray, chosen: Stage) -> None:
    """The stage of one step before the blocks."""
    if _table(node) is not None:
        _looked_up(reading, node, ids, chosen)
    elif node.op in ADDS:
        for view in node.given:
            if reading.taken(view) is None:
                _added(reading, view)
        reading.plain(node, "embedding sum")
    elif steps.is_norm(node):
        reading.plain(node, "embedding norm")
    elif steps.is_linear(node):
        reading.plain(node, "embedding projection")
    elif node.op in PRODUCTS:
        reading.plain(node, "scaled embeddings")
    elif steps.flat(node, reading.count) is None:
        return
    elif all(reading.taken(view) is None for view in node.given):
        _added(reading, node)  # it follows from the positions alone
    else:
        reading.plain(node, "own step")


def _table(node: Node) -> Tensor | None:
    """The table that a step looks rows up in."""
    weight = getattr(node.module, "weight", None) if node.op == "module" else None
    if node.op == "embedding":
        weight = node.given[-1].value
    given = node.given
    looks = bool(given) and (not given[0].value.is_floating_point() or "embedding" in type(node.module).__name__.lower())
    return weight if weight is not None and weight.dim() == 2 and looks else None


def _looked_up(reading: Reading, node: Node, ids: np.ndarray, chosen: Stage) -> None:
    stored, value = _table(node), steps.flat(node, reading.count)
    assert stored is not None, "asked for first"
    table = matrix(stored)
    if value is None or value.shape[-1] != table.shape[-1]:
        return
    if len(value) == 1 and reading.count > 1:  # the same row for all
        value = np.repeat(value, reading.count, 0)
    asked = node.given[0].value.long().flatten().cpu().numpy()
    first = not any(one.name == "embeddings" for one in reading.stages)
    of_ids = len(asked) == len(ids) and np.array_equal(asked, ids) and first
    rows = ids if of_ids else _rows(table, value, np.arange(len(value)) + getattr(node.module, "offset", 0))
    if rows is None:
        reading.add("positions", ("token", "d_model"), None, value, node, OWN.format(type(node.module).__name__))
        return
    factor = _factor(table[rows], value)
    counted = np.array_equal(np.diff(rows), np.ones(len(rows) - 1, int)) if len(rows) > 1 else True
    name = "embeddings" if of_ids else "positions" if counted else "segments"
    reading.add(name, ("token", "d_model"), Lookup(table, rows, chosen if of_ids else None, factor), value, node)


def _rows(table: Matrix, value: np.ndarray, guess: np.ndarray) -> np.ndarray | None:
    """Which rows of a table these are."""
    if guess.max() < len(table) and np.array_equal(table[guess], value):
        return guess
    known: dict[bytes, int] = {}
    for i, row in enumerate(table[:]):
        known.setdefault(row.tobytes(), i)
    found = [known.get(row.tobytes(), -1) for row in np.ascontiguousarray(value)]
    return np.array(found) if min(found) >= 0 else None


def _factor(stored: np.ndarray, value: np.ndarray) -> float:
    at = np.unravel_index(np.abs(stored).argmax(), stored.shape)
    return float(value[at] / stored[at]) if stored[at] else 1.0


def _added(reading: Reading, view: Node) -> None:
    """Positions that are added as they are stored, or as they are calculated from nothing but the position."""
    value = steps.flat(view, reading.count)
    if value is None or not view.value.is_floating_point():
        return
    reading.add("positions", ("token", "d_model"), Lookup(value, np.arange(reading.count)), value, view.base)


def finish(reading: Reading, stream: Stage, outcome: str = "vocabulary") -> None:
    """The stages after the blocks, for the positions that the section was given. stream: what the last block handed on; outcome:
    the axis of what is scored, "vocabulary" or a classifier's "label"."""
    section = reading.section
    reading.of[id(section.start)] = stream
    for node in reading.path:
        reading.tried(node, lambda node: _finished(reading, node, outcome))
    last = reading.stages[-1]
    if outcome in last.axes:
        chances = reading.add("probabilities", ("token", outcome), Probabilities(last))
        reading.add("choice", ("token",), Choice(chances))


def _finished(reading: Reading, node: Node, outcome: str) -> None:
    """The stage of one step after the blocks."""
    value = steps.flat(node, reading.count)
    written = reading.written.get(id(node))
    x = _capped(reading, node) or (
        reading.of.get(id(written.start)) if written else reading.taken(node.given[0]) if node.given else None
    )
    if value is None or x is None or id(node) in reading.inner:
        return
    axes, stored = x.axes, [one for one in node.given if one.base.op == "given"]
    if steps.is_linear(node):
        wide = not any(steps.is_linear(later) for later in _after(reading, node))
        axes = ("token", outcome) if wide else axes
        reading.add("logits" if wide else "transform", axes, steps.linear(node, x), value, node)
    elif steps.is_norm(node):
        transformed = any(one.name.startswith("transform") for one in reading.stages)
        reading.plain(node, "transform norm" if transformed else "final norm")
    elif _ends_cap(node):
        bent = steps.flat(node.given[0].base, reading.count)
        cap = None if bent is None else Scale.factor_between(bent, value)
        reading.add("capped logits", axes, None if cap is None else Capped(x, cap), value, node)
    elif node.op == "tanh" and any(_ends_cap(user) for user in reading.users_of(node)):
        return  # the inside of a soft cap, which is one stage
    elif any(user.op == "tanh" and any(map(_ends_cap, reading.users_of(user))) for user in reading.users_of(node)):
        return
    elif steps.is_activation(node) or written:
        reading.plain(node, "transform activation")
    elif node.op in ADDS and len(stored) == 1:
        bias = array(stored[0].value).ravel()
        if not bias.any():
            reading.of[id(node)] = x  # nothing is added
            return
        reading.add("biased logits" if outcome in axes else "biased stream", axes, Shifted(x, bias), value, node)
    else:
        reading.plain(node, "scaled logits" if outcome in axes else "scaled stream")
    reading.stages[-1].axes = axes


def _ends_cap(node: Node) -> bool:
    """Whether a step is the last of a soft cap, c · tanh(x / c)."""
    return node.op in PRODUCTS and bool(node.given) and node.given[0].base.op == "tanh"


def _capped(reading: Reading, node: Node) -> Stage | None:
    """What is bent, where a step is the last of a soft cap."""
    if not _ends_cap(node):
        return None
    divided = node.given[0].base.given[0].base
    return reading.taken(divided.given[0]) if divided.given else None


def _after(reading: Reading, node: Node) -> list[Node]:
    """The steps that follow from one, on the way."""
    found, ahead = [], [node]
    for one in ahead:  # the list grows while it is walked
        users = reading.users_of(one)
        found.extend(users)
        ahead.extend(users)
    return found
