"""What an attention was given and gave: as the recorder has it, or as the steps around a softmax tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.inside import steps
from analysis.inside.reading import ADDS, columns_of
from analysis.inside.stored import array

if TYPE_CHECKING:
    from models.recorder import Call
    from models.watching import Node, Section

MULTIPLIES = frozenset({"matmul", "bmm", "__matmul__", "baddbmm"})
PICKS = frozenset({"gather", "index_select", "take_along_dim"})
LOWEST = -1e9  # what some models write for "not here"


@dataclass
class Given:
    """Queries, keys or values [head, token, d_head], and the step that they came from."""

    node: Node
    array: np.ndarray


@dataclass
class Relative:
    """What is added to the scores for the distance of query and key: x · table[:, at], where x is queries, or keys if `keyed`.

    table: [head, distance, d_head]; at: int [query, key].
    """

    keyed: bool
    table: np.ndarray
    at: np.ndarray


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
    relative: tuple[Relative, ...] = ()


@dataclass
class Factors:
    """A product of two that scores are, or a part of them. node: the step; scale: what it is multiplied by later; picked: the
    numbers [head, query, key] that were picked from it, None where all of it counts."""

    node: Node
    scale: float
    picked: np.ndarray | None


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
    """What stood before a softmax, followed back to the products that it adds up: A · q·k + B, and what distances add."""
    assert call.given is not None, "a call without queries has weights"
    weights = section.node(call.given).base
    heads, queries, keys = call.shape
    if not weights.given or "softmax" not in (weights.op, type(weights.module).__name__.lower()):
        return None
    found = _followed(weights.given[0], section, call.shape)
    if found is None:
        return None
    products, added = found
    content = [one for one in products if one.picked is None]
    ours = [view for view in end.given if view.base is not weights]
    if len(content) != 1 or not ours:
        return None
    scale, factors, node = content[0].scale, content[0].node.given, content[0].node
    if node.op == "baddbmm":
        beta, alpha = float(node.options.get("beta", 1)), float(node.options.get("alpha", 1))  # type: ignore[arg-type]
        added, scale, factors = added + scale * beta * _spread(factors[0]), scale * alpha, factors[1:]
    if len(factors) != 2:
        return None
    hidden = np.broadcast_to(added < LOWEST, added.shape)
    bias = np.where(hidden, 0, added)
    q, k, v = (_heads(factors[0]), _heads(factors[1], turned=True), _heads(ours[-1]))
    if (q.array.shape[:2], k.array.shape[1]) != ((heads, queries), keys):
        return None
    relative = [_relative(one, q.array, k.array) for one in products if one.picked is not None]
    if any(one is None for one in relative):
        return None
    out = array(end.value).reshape(heads, queries, -1)
    mask = np.where(hidden, -np.inf, 0).astype(np.float32) if hidden.any() else None
    distances = tuple(one for one in relative if one is not None)
    return Attended(q, k, v, end, out, scale, bias.astype(np.float32) if bias.any() else None, mask, relative=distances)


def _followed(
    view: Node, section: Section, shape: tuple[int, int, int], scale: float = 1.0
) -> tuple[list[Factors], np.ndarray] | None:
    """The products that a step adds up, and what else it adds to them [heads or 1, query or 1, key]; None: another step."""
    added, picked = np.zeros((1, 1, 1)), None
    while (cur := view.base).op not in MULTIPLIES:
        inner = [one for one in cur.given if _depends(one, section)]
        fixed = [one for one in cur.given if not _depends(one, section)]
        if len(inner) == 2 and not fixed and cur.op in ADDS and picked is None:
            both = [_followed(one, section, shape, scale) for one in inner]
            if both[0] is None or both[1] is None:
                return None
            return both[0][0] + both[1][0], added + both[0][1] + both[1][1]
        if len(inner) != 1:
            return None
        if cur.op in PICKS and picked is None:
            picked, view = array(view.value).reshape(shape), inner[0]
        elif (undone := _undone(cur, inner[0], fixed, scale)) is not None:
            scale, more = undone
            added, view = added + more, inner[0]
        else:
            return None
    return [Factors(cur, scale, picked)], added


def _relative(one: Factors, q: np.ndarray, k: np.ndarray) -> Relative | None:
    """Whose vectors are multiplied by those of distances, and which distance each pair of tokens has: what was picked says it."""
    first, second = one.node.given
    x, table, every = _heads(first).array, _heads(second, turned=True).array, array(one.node.value)
    every = every.reshape(-1, *every.shape[-2:])
    for keyed, mine in ((False, q), (True, k)):
        if x.shape != mine.shape or len(table) != len(x):
            continue
        at = np.unravel_index(np.abs(mine).argmax(), mine.shape)
        factor = float(x[at] / mine[at]) if mine[at] else 1.0
        if steps.close(mine * np.float32(factor), x, 1e-6):
            assert one.picked is not None, "that is why it is here"
            picked = one.picked.transpose(0, 2, 1) if keyed else one.picked
            rows = [columns_of(part, whole) for part, whole in zip(picked.swapaxes(0, 1), every.swapaxes(0, 1), strict=True)]
            if all(row is not None for row in rows):
                distances = np.stack([row for row in rows if row is not None])
                return Relative(keyed, table * np.float32(factor * one.scale), distances.T if keyed else distances)
    return None


def _undone(node: Node, inner: Node, fixed: list[Node], scale: float) -> tuple[float, np.ndarray] | None:
    """The scale of what a step was given, and what it added to it, where `scale` is that of what it gave; None: another step."""
    nothing = np.zeros((1, 1, 1))
    plain = [value for value in node.inputs[1:] if isinstance(value, int | float)]
    number = plain[0] if plain else array(fixed[0].value).item() if fixed and fixed[0].value.numel() == 1 else None
    if node.op in ADDS and fixed:
        return scale, scale * _spread(fixed[0])
    if node.op in ("mul", "mul_") and number is not None:
        return scale * number, nothing
    if node.op in ("mul", "mul_") and len(fixed) == 1 and bool(((sign := _spread(fixed[0])) * (1 - sign) == 0).all()):
        return scale, np.where(sign == 0, -np.inf, 0)  # what is struck out gets a low number besides (GPT)
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
