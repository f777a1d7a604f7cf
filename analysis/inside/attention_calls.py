"""The inputs and outputs of an attention call, from the recorder or from the steps around a softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.inside import steps
from analysis.inside.reading import ADDS, columns_of
from analysis.inside.stored import array

if TYPE_CHECKING:
    from models.attention.recorded_call import Call
    from models.watching.steps import Node, Section

MULTIPLIES = frozenset({"matmul", "bmm", "__matmul__", "baddbmm"})
PICKS = frozenset({"gather", "index_select", "take_along_dim"})
LOWEST = -1e9  # some models mask with a number below this


@dataclass
class Vectors:
    """Queries, keys or values [head, token, d_head], and the step that they came from."""

    node: Node
    array: np.ndarray


@dataclass
class Relative:
    """A part of the scores that depends on distance: x · table[:, at], where x is queries, or keys if `keyed`.

    table: [head, distance, d_head]; at: int [query, key].
    """

    keyed: bool
    table: np.ndarray
    at: np.ndarray


@dataclass
class AttentionParts:
    """Queries, keys, values and output of one attention call.

    bias, mask: added to the scores [heads or 1, query or 1, key], None for nothing.
    causal: without a mask, each query sees the keys up to its own. end: the step that computed `out` [head, token, d_head].
    """

    q: Vectors
    k: Vectors
    v: Vectors
    end: Node
    out: np.ndarray
    scale: float
    bias: np.ndarray | None = None
    mask: np.ndarray | None = None
    causal: bool = False
    softcap: float | None = None
    sinks: np.ndarray | None = None
    relative: tuple[Relative, ...] = ()


@dataclass
class Factors:
    """A product of two factors that makes up the scores, or a part of them. node: the step; scale: its later factor; picked: the
    numbers [head, query, key] that were picked from it, None if all of it counts."""

    node: Node
    scale: float
    picked: np.ndarray | None


def end_of(section: Section, call: Call) -> Node | None:
    """Return the step that computed the output of a call's heads."""
    if call.out is not None and section.knows(call.out):
        return section.node(call.out).base
    if call.given is not None and section.knows(call.given):  # weights are known: find the step that multiplies values by them
        weights = section.node(call.given).base
        users = [
            node
            for node in section.nodes
            if node.op in MULTIPLIES | {"einsum"} and any(view.base is weights for view in node.given)
        ]
        return users[0] if users else None
    return None


def parts_of(section: Section, call: Call, end: Node) -> AttentionParts | None:
    """Return everything known about a call; None if its queries and keys are multiplied in an unknown way."""
    if call.query is None or call.key is None or call.value is None:
        return _recover(section, call, end)
    q, k, v = (Vectors(section.node(vectors), array(vectors)) for vectors in (call.query, call.key, call.value))
    bias = None if call.bias is None or not bool(call.bias.any()) else array(call.bias)
    sinks = None if call.sinks is None else array(call.sinks)
    out = array(call.out).transpose(1, 0, 2)
    cap = None if call.softcap is None else float(call.softcap)
    return AttentionParts(q, k, v, end, out, float(call.scale), bias, _mask(call), call.causal, cap, sinks)


def values(section: Section, call: Call, end: Node) -> Vectors | None:
    """Return the values of a call whose queries and keys are unknown; None if the values are unknown too."""
    if call.value is not None:
        return Vectors(section.node(call.value), array(call.value))
    ours = [view for view in end.given if end.op in MULTIPLIES and view.base is not section.node(call.given).base]  # type: ignore[arg-type]
    return _heads(ours[-1]) if ours else None


def _mask(call: Call) -> np.ndarray | None:
    if call.mask is None:
        return None
    if not call.mask.is_floating_point():
        return np.where(call.mask.cpu().numpy(), 0, -np.inf).astype(np.float32)
    addend = array(call.mask)
    return np.where(addend < LOWEST, -np.inf, addend).astype(np.float32)


def _recover(section: Section, call: Call, end: Node) -> AttentionParts | None:
    """Trace a softmax's input back to the products that it adds up: A · q·k + B, and the parts that depend on distances."""
    assert call.given is not None, "a call without queries has weights"
    weights = section.node(call.given).base
    heads, queries, keys = call.shape
    if not weights.given or "softmax" not in (weights.op, type(weights.module).__name__.lower()):
        return None
    traced = _trace_back(weights.given[0], section, call.shape)
    if traced is None:
        return None
    products, addend = traced
    content = [product for product in products if product.picked is None]
    value_views = [view for view in end.given if view.base is not weights]
    if len(content) != 1 or not value_views:
        return None
    scale, factors, node = content[0].scale, content[0].node.given, content[0].node
    if node.op == "baddbmm":
        beta, alpha = float(node.options.get("beta", 1)), float(node.options.get("alpha", 1))  # type: ignore[arg-type]
        addend, scale, factors = addend + scale * beta * _spread(factors[0]), scale * alpha, factors[1:]
    if len(factors) != 2:
        return None
    masked = np.broadcast_to(addend < LOWEST, addend.shape)
    bias = np.where(masked, 0, addend)
    q, k, v = (_heads(factors[0]), _heads(factors[1], transposed=True), _heads(value_views[-1]))
    if (q.array.shape[:2], k.array.shape[1]) != ((heads, queries), keys):
        return None
    relative = [_relative(product, q.array, k.array) for product in products if product.picked is not None]
    if any(distance is None for distance in relative):
        return None
    out = array(end.value).reshape(heads, queries, -1)
    mask = np.where(masked, -np.inf, 0).astype(np.float32) if masked.any() else None
    distances = tuple(distance for distance in relative if distance is not None)
    return AttentionParts(q, k, v, end, out, scale, bias.astype(np.float32) if bias.any() else None, mask, relative=distances)


def _trace_back(
    view: Node, section: Section, shape: tuple[int, int, int], scale: float = 1.0
) -> tuple[list[Factors], np.ndarray] | None:
    """Return the products that a step adds up, and its other addends [heads or 1, query or 1, key]; None for another step."""
    bias, picked = np.zeros((1, 1, 1)), None
    while (node := view.base).op not in MULTIPLIES:
        inner = [step for step in node.given if _depends(step, section)]
        constants = [step for step in node.given if not _depends(step, section)]
        if len(inner) == 2 and not constants and node.op in ADDS and picked is None:
            sides = [_trace_back(step, section, shape, scale) for step in inner]
            if sides[0] is None or sides[1] is None:
                return None
            return sides[0][0] + sides[1][0], bias + sides[0][1] + sides[1][1]
        if len(inner) != 1:
            return None
        if node.op in PICKS and picked is None:
            picked, view = array(view.value).reshape(shape), inner[0]
        elif (undone := _undo(node, inner[0], constants, scale)) is not None:
            scale, more = undone
            bias, view = bias + more, inner[0]
        else:
            return None
    return [Factors(node, scale, picked)], bias


def _relative(product: Factors, q: np.ndarray, k: np.ndarray) -> Relative | None:
    """Find which vectors are multiplied by those of distances, and the distance of each pair of tokens."""
    first, second = product.node.given
    x, table, whole = _heads(first).array, _heads(second, transposed=True).array, array(product.node.value)
    whole = whole.reshape(-1, *whole.shape[-2:])
    for keyed, mine in ((False, q), (True, k)):
        if x.shape != mine.shape or len(table) != len(x):
            continue
        at = np.unravel_index(np.abs(mine).argmax(), mine.shape)
        factor = float(x[at] / mine[at]) if mine[at] else 1.0
        if steps.close(mine * np.float32(factor), x, 1e-6):
            assert product.picked is not None, "that is why it is here"
            picked = product.picked.transpose(0, 2, 1) if keyed else product.picked
            rows = [columns_of(part, row) for part, row in zip(picked.swapaxes(0, 1), whole.swapaxes(0, 1), strict=True)]
            if all(row is not None for row in rows):
                distances = np.stack([row for row in rows if row is not None])
                return Relative(keyed, table * np.float32(factor * product.scale), distances.T if keyed else distances)
    return None


def _undo(node: Node, inner: Node, constants: list[Node], scale: float) -> tuple[float, np.ndarray] | None:
    """Return the scale of a step's input, and its addend, where `scale` is that of its output; None for another step."""
    nothing = np.zeros((1, 1, 1))
    plain = [value for value in node.inputs[1:] if isinstance(value, int | float)]
    number = plain[0] if plain else array(constants[0].value).item() if constants and constants[0].value.numel() == 1 else None
    if node.op in ADDS and constants:
        return scale, scale * _spread(constants[0])
    if node.op in ("mul", "mul_") and number is not None:
        return scale * number, nothing
    if node.op in ("mul", "mul_") and len(constants) == 1 and bool(((sign := _spread(constants[0])) * (1 - sign) == 0).all()):
        return scale, np.where(sign == 0, -np.inf, 0)  # GPT also adds a low number to the scores that it zeroes
    if node.op in ("div", "div_", "true_divide") and number is not None:
        return scale / number, nothing
    if node.op in ("masked_fill", "masked_fill_", "where") and constants:
        mask = next((view for view in constants if not view.value.is_floating_point()), None)
        if mask is not None:
            masked = _spread(mask) > 0
            return scale, np.where(masked if node.op != "where" else ~masked, -np.inf, 0)
    same = node.value.numel() == inner.value.numel() and steps.close(array(node.value), array(inner.value))
    return (scale, nothing) if same else None


def _depends(view: Node, section: Section) -> bool:
    """Return whether a step follows from the section's input."""
    visited, ahead = set(), [view]
    for node in ahead:  # the list grows while it is walked
        if node is section.start:
            return True
        if id(node) not in visited:
            visited.add(id(node))
            ahead.extend(node.given)
    return False


def _spread(view: Node) -> np.ndarray:
    """Return an addend of scores as [heads or 1, query or 1, key]."""
    value: Any = array(view.value) if view.value.is_floating_point() else view.value.cpu().numpy()
    value = value.reshape(value.shape[-3:]) if value.ndim > 3 else value
    return np.asarray(value, np.float64).reshape((1,) * (3 - value.ndim) + value.shape)


def _heads(view: Node, transposed: bool = False) -> Vectors:
    """Return [1, head, token, d] or [head, token, d] as [head, token, d]. transposed: whether its last two axes are swapped."""
    value = array(view.value)
    value = value.reshape(-1, *value.shape[-2:])
    return Vectors(view, value.transpose(0, 2, 1) if transposed else value)
