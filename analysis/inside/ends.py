"""Both ends of the path: from ids to the first block's input, and from the last block's output to a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.inside import steps
from analysis.inside.attending import SoftCap
from analysis.inside.formulas import BiasAddition, Choice, Lookup, Probabilities, Scale
from analysis.inside.reading import ADDS, OWN, PRODUCTS, Reading
from analysis.inside.stages import Stage
from analysis.inside.stored import Matrix, array, matrix

if TYPE_CHECKING:
    from torch import Tensor

    from models.watching.steps import Node


def begin(reading: Reading, ids: np.ndarray, stream: np.ndarray) -> Stage:
    """Add the stages before the blocks; return the first block's input. ids: int [token]; stream: [token, d_model]."""
    id_stage = reading.add("ids", ("token",), None, ids.astype(np.float32))
    for node in reading.path:
        reading.attempt(node, lambda node: _begin_step(reading, node, ids, id_stage))
    end = reading.stage_of(reading.section.end) if reading.section.end is not None else None
    if end is None or not steps.close(end.rows(None), stream, reading.near):
        end = reading.add("embedding sum", ("token", "d_model"), None, stream, None, OWN.format("between table and blocks"))
    return end


def _begin_step(reading: Reading, node: Node, ids: np.ndarray, id_stage: Stage) -> None:
    """Add the stage of one step before the blocks."""
    if _table(node) is not None:
        _look_up(reading, node, ids, id_stage)
    elif node.op in ADDS:
        for view in node.given:
            if reading.stage_of(view) is None:
                _add_positions(reading, view)
        reading.plain(node, "embedding sum")
    elif steps.is_norm(node):
        reading.plain(node, "embedding norm")
    elif steps.is_linear(node):
        reading.plain(node, "embedding projection")
    elif node.op in PRODUCTS:
        reading.plain(node, "scaled embeddings")
    elif steps.flat(node, reading.count) is None:
        return
    elif all(reading.stage_of(view) is None for view in node.given):
        _add_positions(reading, node)  # it follows from the positions alone
    else:
        reading.plain(node, "own step")


def _table(node: Node) -> Tensor | None:
    """Return the table that a step looks rows up in."""
    weight = getattr(node.module, "weight", None) if node.op == "module" else None
    if node.op == "embedding":
        weight = node.given[-1].value
    inputs = node.given
    looks = bool(inputs) and (not inputs[0].value.is_floating_point() or "embedding" in type(node.module).__name__.lower())
    return weight if weight is not None and weight.dim() == 2 and looks else None


def _look_up(reading: Reading, node: Node, ids: np.ndarray, id_stage: Stage) -> None:
    stored, value = _table(node), steps.flat(node, reading.count)
    assert stored is not None, "asked for first"
    table = matrix(stored)
    if value is None or value.shape[-1] != table.shape[-1]:
        return
    if len(value) == 1 and reading.count > 1:  # the same row for all
        value = np.repeat(value, reading.count, 0)
    looked_up = node.given[0].value.long().flatten().cpu().numpy()
    first = not any(stage.name == "embeddings" for stage in reading.stages)
    of_ids = len(looked_up) == len(ids) and np.array_equal(looked_up, ids) and first
    rows = ids if of_ids else _rows(table, value, np.arange(len(value)) + getattr(node.module, "offset", 0))
    if rows is None:
        reading.add("positions", ("token", "d_model"), None, value, node, OWN.format(type(node.module).__name__))
        return
    factor = _factor(table[rows], value)
    consecutive = np.array_equal(np.diff(rows), np.ones(len(rows) - 1, int)) if len(rows) > 1 else True
    name = "embeddings" if of_ids else "positions" if consecutive else "segments"
    reading.add(name, ("token", "d_model"), Lookup(table, rows, id_stage if of_ids else None, factor), value, node)


def _rows(table: Matrix, value: np.ndarray, guess: np.ndarray) -> np.ndarray | None:
    """Return the indices of these rows in a table; None if one of them is not in it."""
    if guess.max() < len(table) and np.array_equal(table[guess], value):
        return guess
    row_of: dict[bytes, int] = {}
    for i, row in enumerate(table[:]):
        row_of.setdefault(row.tobytes(), i)
    rows = [row_of.get(row.tobytes(), -1) for row in np.ascontiguousarray(value)]
    return np.array(rows) if min(rows) >= 0 else None


def _factor(stored: np.ndarray, value: np.ndarray) -> float:
    at = np.unravel_index(np.abs(stored).argmax(), stored.shape)
    return float(value[at] / stored[at]) if stored[at] else 1.0


def _add_positions(reading: Reading, view: Node) -> None:
    """Add the stage of positions that are stored, or calculated from the position alone."""
    value = steps.flat(view, reading.count)
    if value is None or not view.value.is_floating_point():
        return
    reading.add("positions", ("token", "d_model"), Lookup(value, np.arange(reading.count)), value, view.base)


def finish(reading: Reading, stream: Stage, outcome: str = "vocabulary") -> None:
    """Add the stages after the blocks, for the section's positions. stream: the last block's output; outcome: the axis of the
    scores, "vocabulary" or a classifier's "label"."""
    section = reading.section
    reading.of[id(section.start)] = stream
    for node in reading.path:
        reading.attempt(node, lambda node: _finish_step(reading, node, outcome))
    last = reading.stages[-1]
    if outcome in last.axes:
        chances = reading.add("probabilities", ("token", outcome), Probabilities(last))
        reading.add("choice", ("token",), Choice(chances))


def _finish_step(reading: Reading, node: Node, outcome: str) -> None:
    """Add the stage of one step after the blocks."""
    value = steps.flat(node, reading.count)
    composite = reading.composites.get(id(node))
    x = _cap_input(reading, node) or (
        reading.of.get(id(composite.start)) if composite else reading.stage_of(node.given[0]) if node.given else None
    )
    if value is None or x is None or id(node) in reading.inner:
        return
    axes, constants = x.axes, [view for view in node.given if view.base.op == "given"]
    if steps.is_linear(node):
        wide = not any(steps.is_linear(later) for later in _after(reading, node))
        axes = ("token", outcome) if wide else axes
        reading.add("logits" if wide else "transform", axes, steps.linear(node, x), value, node)
    elif steps.is_norm(node):
        has_transform = any(stage.name.startswith("transform") for stage in reading.stages)
        reading.plain(node, "transform norm" if has_transform else "final norm")
    elif _ends_cap(node):
        inner = steps.flat(node.given[0].base, reading.count)
        cap = None if inner is None else Scale.factor_between(inner, value)
        reading.add("capped logits", axes, None if cap is None else SoftCap(x, cap), value, node)
    elif node.op == "tanh" and any(_ends_cap(user) for user in reading.users_of(node)):
        return  # the inside of a soft cap, which is one stage
    elif any(user.op == "tanh" and any(map(_ends_cap, reading.users_of(user))) for user in reading.users_of(node)):
        return
    elif steps.is_activation(node) or composite:
        reading.plain(node, "transform activation")
    elif node.op in ADDS and len(constants) == 1:
        bias = array(constants[0].value).ravel()
        if not bias.any():
            reading.of[id(node)] = x  # nothing is added
            return
        reading.add("biased logits" if outcome in axes else "biased stream", axes, BiasAddition(x, bias), value, node)
    else:
        reading.plain(node, "scaled logits" if outcome in axes else "scaled stream")
    reading.stages[-1].axes = axes


def _ends_cap(node: Node) -> bool:
    """Return whether a step is the last of a soft cap, c · tanh(x / c)."""
    return node.op in PRODUCTS and bool(node.given) and node.given[0].base.op == "tanh"


def _cap_input(reading: Reading, node: Node) -> Stage | None:
    """Return the stage that a soft cap limits, if a step is the cap's last; else None."""
    if not _ends_cap(node):
        return None
    quotient = node.given[0].base.given[0].base
    return reading.stage_of(quotient.given[0]) if quotient.given else None


def _after(reading: Reading, node: Node) -> list[Node]:
    """Return the steps on the path that follow from a step."""
    later, ahead = [], [node]
    for step in ahead:  # the list grows while it is walked
        users = reading.users_of(step)
        later.extend(users)
        ahead.extend(users)
    return later
