"""What an attention was given and gave: as the recorder has it, or as the steps around a softmax tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.inside import steps
from analysis.inside.reading import ADDS
from analysis.inside.stored import array

if TYPE_CHECKING:
    from models.recorder import Call
    from models.watching import Node, Section

MULTIPLIES = frozenset({"matmul", "bmm", "__matmul__", "baddbmm"})
LOWEST = -1e9  # what some models write for "not here"


@dataclass
class Given:
    """Queries, keys or values [head, token, d_head], and the step that they came from."""

    node: Node
    array: np.ndarray


@dataclass
class Attended:
    """One attention. bias, mask: added to the scores [heads or 1, query or 1, key], None where nothing is.

    causal: each query sees the keys up to its own, where there is no mask. end: the step that gave `out` [head, token, d_head].
    """

    q: Given
    k: Given
    v: Given
    end: Node
    out: np.ndarray
    scale: float
    bias: np.ndarray | None = None
    mask: np.ndarray | None = None
    causal: bool = False
    softcap: float | None = None
    sinks: np.ndarray | None = None


def end_of(section: Section, call: Call) -> Node | None:
    """The step that gave what the heads of a call brought."""
    if call.out is not None and section.knows(call.out):
        return section.node(call.out).base
    if call.given is not None and section.knows(call.given):  # weights: what multiplies values by them
        weights = section.node(call.given).base
        users = [
            node
            for node in section.nodes
            if node.op in MULTIPLIES | {"einsum"} and any(view.base is weights for view in node.given)
        ]
        return users[0] if users else None
    return None


def attended(section: Section, call: Call, end: Node) -> Attended | None:
    """All that is known of a call; None where its queries and keys are multiplied in a way that is not known."""
    if call.query is None or call.key is None or call.value is None:
        return _recovered(section, call, end)
    q, k, v = (Given(section.node(vectors), array(vectors)) for vectors in (call.query, call.key, call.value))
    bias = None if call.bias is None or not bool(call.bias.any()) else array(call.bias)
    sinks = None if call.sinks is None else array(call.sinks)
    out = array(call.out).transpose(1, 0, 2)
    cap = None if call.softcap is None else float(call.softcap)
    return Attended(q, k, v, end, out, float(call.scale), bias, _mask(call), call.causal, cap, sinks)


def values(section: Section, call: Call, end: Node) -> Given | None:
    """The values of a call of which queries and keys are not known, if they are."""
    if call.value is not None:
        return Given(section.node(call.value), array(call.value))
    ours = [view for view in end.given if end.op in MULTIPLIES and view.base is not section.node(call.given).base]  # type: ignore[arg-type]
    return _heads(ours[-1]) if ours else None


def _mask(call: Call) -> np.ndarray | None:
    if call.mask is None:
        return None
    if not call.mask.is_floating_point():
        return np.where(call.mask.cpu().numpy(), 0, -np.inf).astype(np.float32)
    added = array(call.mask)
    return np.where(added < LOWEST, -np.inf, added).astype(np.float32)


def _recovered(section: Section, call: Call, end: Node) -> Attended | None:
    """What stood before a softmax, followed back to the product of queries and keys: scores = A · q·k + B."""
    assert call.given is not None, "a call without queries has weights"
    weights = section.node(call.given).base
    heads, queries, keys = call.shape
    scale, added = 1.0, np.zeros((1, 1, 1))
    cur = weights.given[0].base if weights.given else weights
    while cur.op not in MULTIPLIES:
        inner = [view for view in cur.given if _depends(view, section)]
        fixed = [view for view in cur.given if not _depends(view, section)]
        if len(inner) != 1 or (undone := _undone(cur, inner[0], fixed, scale)) is None:
            return None
        scale, more = undone
        added, cur = added + more, inner[0].base
    factors = cur.given
    if cur.op == "baddbmm":
        beta, alpha = float(cur.options.get("beta", 1)), float(cur.options.get("alpha", 1))  # type: ignore[arg-type]
        added, scale, factors = added + scale * beta * _spread(factors[0]), scale * alpha, factors[1:]
    ours = [view for view in end.given if view.base is not weights]
    if len(factors) != 2 or not ours:
        return None
    hidden = np.broadcast_to(added < LOWEST, added.shape)
    bias = np.where(hidden, 0, added)
    q, k, v = (_heads(factors[0]), _heads(factors[1], turned=True), _heads(ours[-1]))
    if (q.array.shape[:2], k.array.shape[1]) != ((heads, queries), keys):
        return None
    out = array(end.value).reshape(heads, queries, -1)
    mask = np.where(hidden, -np.inf, 0).astype(np.float32) if hidden.any() else None
    return Attended(q, k, v, end, out, scale, bias.astype(np.float32) if bias.any() else None, mask)


def _undone(node: Node, inner: Node, fixed: list[Node], scale: float) -> tuple[float, np.ndarray] | None:
    """The scale of what a step was given, and what it added to it, where `scale` is that of what it gave; None: another step."""
    nothing = np.zeros((1, 1, 1))
    plain = [value for value in node.inputs[1:] if isinstance(value, int | float)]
    number = plain[0] if plain else array(fixed[0].value).item() if fixed and fixed[0].value.numel() == 1 else None
    if node.op in ADDS and fixed:
        return scale, scale * _spread(fixed[0])
    if node.op in ("mul", "mul_") and number is not None:
        return scale * number, nothing
    if node.op in ("div", "div_", "true_divide") and number is not None:
        return scale / number, nothing
    if node.op in ("masked_fill", "masked_fill_", "where") and fixed:
        mask = next((view for view in fixed if not view.value.is_floating_point()), None)
        if mask is not None:
            shut = _spread(mask) > 0
            return scale, np.where(shut if node.op != "where" else ~shut, -np.inf, 0)
    same = node.value.numel() == inner.value.numel() and steps.close(array(node.value), array(inner.value))
    return (scale, nothing) if same else None


def _depends(view: Node, section: Section) -> bool:
    """Whether a step follows from what the section was given."""
    seen, ahead = set(), [view]
    for node in ahead:  # the list grows while it is walked
        if node is section.start:
            return True
        if id(node) not in seen:
            seen.add(id(node))
            ahead.extend(node.given)
    return False


def _spread(view: Node) -> np.ndarray:
    """A tensor that is added to scores, as [heads or 1, query or 1, key]."""
    value: Any = array(view.value) if view.value.is_floating_point() else view.value.cpu().numpy()
    value = value.reshape(value.shape[-3:]) if value.ndim > 3 else value
    return np.asarray(value, np.float64).reshape((1,) * (3 - value.ndim) + value.shape)


def _heads(view: Node, turned: bool = False) -> Given:
    """[1, head, token, d] or [head, token, d] (the last two the other way round: `turned`) as [head, token, d]."""
    value = array(view.value)
    value = value.reshape(-1, *value.shape[-2:])
    return Given(view, value.transpose(0, 2, 1) if turned else value)
