"""One attention taken apart, head by head: queries, keys and values, scores, weights, and what they bring."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from analysis.inside import steps
from analysis.inside.attending import Assembled, Biased, Capped, Distances, Masked, Mixed, Products, Turn, turned
from analysis.inside.attention_calls import Attended, Given
from analysis.inside.formulas import Joined, Linear, Norm, Probabilities, Scale, Shifted, Sum, WideNorm
from analysis.inside.reading import ADDS, OWN, Reading, columns_of
from analysis.inside.stages import Stage
from analysis.inside.stored import array

if TYPE_CHECKING:
    from models.rotary import Rotary
    from models.watching import Node

HEADS, PAIRS = ("head", "token", "d_head"), ("head", "query", "key")
UNSEEN = "This model multiplies queries and keys in a form of its own: its weights are known, how they came about is not."
ELSEWHERE = "This model puts its {} together in a way of its own, which is not taken apart. The numbers are its own."
TURNED = "between the map and the scores"
Angles = tuple[np.ndarray, ...]  # cos and sin [token, pair], the pairs of dimensions, and where they are then


class Heads:
    """Reads the stages of an attention.

    prefix: "cross " in cross-attention, which begins its stages' names; source: what keys and values are made of there, else
    None; keys: the positions of the source that are shown.
    """

    def __init__(self, reading: Reading, prefix: str, source: Stage | None, keys: np.ndarray, rotary: Rotary | None):
        self.reading, self.prefix, self.source, self.keys = reading, prefix, source, keys
        self.rotary = None if source is not None else rotary
        self.angles: Angles | None = None  # once queries have told

    def read(self, of: Attended, weights: np.ndarray) -> None:
        q = self.part(of.q, "queries", "query", None)
        k = self.part(of.k, "keys", "key", self.source)
        v = self.part(of.v, "values", "", self.source)
        reading, prefix = self.reading, self.prefix
        scores = self.weigh(of, q, k)
        found = reading.add(prefix + "weights", PAIRS, Probabilities(scores, of.sinks), weights)
        reading.add(prefix + "mixed values", HEADS, Mixed(found, v), of.out, of.end)

    def unseen(self, end: Node, weights: np.ndarray, v: Given | None) -> None:
        """Of a model whose queries and keys are not known, its weights, its values where they are, and what heads brought."""
        add, prefix = self.reading.add, self.prefix
        brought = array(end.value)
        if end.op == "einsum":  # [token, head, d_head]
            brought = brought.reshape(weights.shape[1], len(weights), -1).transpose(1, 0, 2)
        brought = brought.reshape(len(weights), weights.shape[1], -1)
        stage = None if v is None else self.part(v, "values", "", self.source)
        found = add(prefix + "weights", PAIRS, None, weights, None, UNSEEN)
        rule = None if stage is None else Mixed(found, stage)
        add(prefix + "mixed values", HEADS, rule, brought, end, UNSEEN if rule is None else None)

    def weigh(self, of: Attended, q: Stage, k: Stage) -> Stage:
        """From queries and keys to what the softmax is taken of."""
        add, prefix = self.reading.add, self.prefix
        found = add(prefix + "products", PAIRS, Products(q, k))
        found = add(prefix + "scores", PAIRS, Scale(found, of.scale))
        for one in of.relative:
            add(prefix + "distance scores", PAIRS, Distances(k if one.keyed else q, one.table, one.at, one.keyed))
        if of.relative:
            found = add(prefix + "summed scores", PAIRS, Sum(found, *self.reading.stages[-len(of.relative) :]))
        if of.softcap is not None:
            found = add(prefix + "capped scores", PAIRS, Capped(found, of.softcap))
        if of.bias is not None:
            found = add(prefix + "biased scores", PAIRS, Biased(found, of.bias))
        if of.causal or of.mask is not None:
            found = add(prefix + "masked scores", PAIRS, Masked(found, of.mask))
        return found

    def part(self, given: Given, name: str, one: str, source: Stage | None) -> Stage:
        """Queries, keys or values: the map that made them, then a norm of each head, a scale, rotary positions, if any."""
        reading, recorded = self.reading, given.array
        axes = HEADS if source is None else ("head", "source", "d_head")
        shown = reading.shown if source is None else self.keys
        made = self.origins(given.node)
        if len(made) > 1 and (whole := self.assembled(made, given, name, axes, source, shown)) is not None:
            return whole
        found = self.mapped(made[0], given.node, recorded, source) if len(made) == 1 else None
        if found is None:
            return reading.add(self.prefix + name, axes, None, recorded, None, ELSEWHERE.format(name), shown)
        stage = reading.add(self.prefix + name, axes, found[0], found[1], None, None, shown)
        stage = self.shifted(given.node, made[0], stage, name, axes, shown)
        if np.array_equal(stage.rows(None), recorded) and (not one or self.rotary is None):
            return stage
        if (normed := self.head_norm(given.node, stage)) is not None:
            stage = reading.add(f"{self.prefix}{one} norm", axes, normed[0], normed[1], None, None, shown)
        if steps.close(stage.rows(None), recorded, 1e-6) and (not one or self.rotary is None):
            return stage
        scaled = reading.scaled(stage, recorded)
        if scaled is not None and scaled.factor != 1 and steps.close(scaled.rows(None), recorded, reading.near):
            return reading.add(f"{self.prefix}scaled {name}", axes, scaled, recorded, None, None, shown)
        rule = self.turn(stage, recorded)
        if rule is None and one and (late := self.late_norm(given, stage, name, one)) is not None:
            return late
        missing = OWN.format(TURNED) if rule is None else None
        return reading.add(f"{self.prefix}turned {name}", axes, rule, recorded, None, missing, shown)

    # Where they come from

    def origins(self, node: Node) -> list[Node]:
        """The linear maps that a tensor comes from, the nearest first."""
        found: dict[int, Node] = {}
        seen, ahead = set(), [node]
        for view in ahead:  # the list grows while it is walked
            base = view.base
            if id(base) not in seen:
                seen.add(id(base))
                if steps.is_linear(base):
                    found[id(base)] = base
                elif base is not self.reading.section.start:
                    ahead.extend(base.given)
        return list(found.values())

    def assembled(
        self, made: list[Node], given: Given, name: str, axes: tuple[str, ...], source: Stage | None, shown: np.ndarray
    ) -> Stage | None:
        """Keys of several maps: some dimensions as one map gave them, the others of another one, turned by positions."""
        add, recorded, before = self.reading.add, given.array, len(self.reading.stages)
        heads, count, width = recorded.shape
        left, parts, where = np.arange(width), [], []
        for one in made:
            whole = steps.flat(one, count)
            columns = None if whole is None else [columns_of(recorded[..., d].T, whole) for d in left]
            known = [] if columns is None else [i for i, each in enumerate(columns) if each is not None]
            x = source if source is not None else self.reading.taken(one.given[0])
            if not known or x is None or whole is None or columns is None:
                continue
            picked = np.stack([columns[i] for i in known], -1)  # type: ignore[misc]
            rule = steps.linear(one, x, picked)
            parts.append(add(f"{self.prefix}content {name}", axes, rule, whole[:, picked].transpose(1, 0, 2), None, None, shown))
            where.append(left[known])
            left = np.delete(left, known)
        for one in made if len(left) else []:
            for alike in (1, heads):
                like = recorded[:alike, :, left]
                found = self.mapped(one, given.node, like, source) if (recorded[..., left] == like).all() else None
                angles = None if found is None else fitted(found[1], like, self.reading.near)
                if found is not None and angles is not None:
                    stage = add(f"{self.prefix}position {name}", axes, *found, None, None, shown)
                    turn = Turn(stage, *angles)
                    parts.append(add(f"{self.prefix}turned position {name}", axes, turn, like, None, None, shown))
                    where.append(left)
                    return add(f"{self.prefix}{name}", axes, Assembled(heads, parts, where), recorded, None, None, shown)
        if len(left) or not parts:
            del self.reading.stages[before:]
            return None
        return add(f"{self.prefix}{name}", axes, Assembled(heads, parts, where), recorded, None, None, shown)

    def mapped(self, made: Node, node: Node, recorded: np.ndarray, source: Stage | None) -> tuple[Linear, np.ndarray] | None:
        """The map of queries, keys or values with its outputs split into heads, and what it gave so: [head, token, d_head]."""
        count = recorded.shape[1]
        x = source if source is not None else self.reading.taken(made.given[0])
        whole = steps.flat(made, count)
        if x is None or whole is None:
            return None
        for step in between(node, made):
            split = steps.flat(step, count)
            if split is None or split.shape != whole.shape:
                continue
            for value in views(node, step, recorded.shape):
                columns = columns_of(value.transpose(1, 0, 2).reshape(count, -1), split)
                if columns is not None:
                    columns = columns.reshape(value.shape[0], value.shape[2])
                    return steps.linear(made, x, columns), whole[:, columns].transpose(1, 0, 2)
        return None

    def head_norm(self, node: Node, x: Stage) -> tuple[Norm, np.ndarray] | None:
        """The norm of each head's queries or keys, if there is one, and what it gave."""
        whole = x.rows(None)
        seen, ahead = set(), [node]
        for view in ahead:  # the list grows while it is walked
            base = view.base
            if id(base) in seen or steps.is_linear(base) or base is self.reading.section.start:
                continue
            seen.add(id(base))
            for value in views(node, base, whole.shape) if steps.is_norm(base) else []:
                every = np.arange(whole.shape[1])
                if (rule := steps.norm(base, x, value, every, self.reading.near)) is not None:
                    return rule, value
                joined = Stage("joined", ("token", "d_model"), x.layer, x.stack, Joined(x), None, x.positions)
                beside = value.transpose(1, 0, 2).reshape(len(every), -1)
                if (wide := steps.norm(base, joined, beside, every, self.reading.near)) is not None:
                    return WideNorm(x, wide), value
            ahead.extend(base.given)
        return None

    def shifted(self, node: Node, made: Node, x: Stage, name: str, axes: tuple[str, ...], shown: np.ndarray) -> Stage:
        """What is stored and added to queries or values on their own, if it is (DeBERTa); else x."""
        shape = x.rows(None).shape
        for step in between(node, made)[1:]:
            if step.op not in ADDS:
                continue
            stored = [view.value for view in step.given if made not in self.origins(view)]
            if len(stored) != 1 or stored[0].numel() != shape[0] * shape[2]:
                continue
            rule = Shifted(x, array(stored[0]).reshape(shape[0], 1, shape[2]))
            for value in views(node, step, shape):
                if steps.close(rule.rows(None), value, self.reading.near):
                    return self.reading.add(f"{self.prefix}biased {name}", axes, rule, value, None, None, shown)
        return x

    # How positions turn them

    def turn(self, x: Stage, recorded: np.ndarray) -> Turn | None:
        """By the angles that are known, by those of the queries, or by the angles that turn what was there into what is."""
        count = recorded.shape[1]
        if self.rotary is not None:
            angles = np.arange(count)[:, None] * np.asarray(self.rotary.frequencies, np.float64)
            known = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32), self.rotary.dimensions
        ways: list[Callable[[], Angles | None]] = [lambda: known if self.rotary is not None else None, lambda: self.angles]
        for way in (*ways, lambda: fitted(x.rows(None), recorded, self.reading.near)):
            if (found := way()) is not None and steps.close((rule := Turn(x, *found)).rows(None), recorded, self.reading.near):
                self.angles = found
                return rule
        return None

    def late_norm(self, given: Given, x: Stage, name: str, one: str) -> Stage | None:
        """Where each head's queries or keys are turned first, and then get a norm (Llama 4): both stages; the last of them."""
        node, recorded, add = given.node, given.array, self.reading.add
        every = np.arange(recorded.shape[1])
        for step in steps_before(node):
            if not steps.is_norm(step) or not any(np.array_equal(value, recorded) for value in views(node, step, recorded.shape)):
                continue
            for before in views(step.given[0], step.given[0].base, recorded.shape):
                if (turn := self.turn(x, before)) is None:
                    continue
                turned = add(f"{self.prefix}turned {name}", x.axes, turn, before, None, None, x.positions)
                if (rule := steps.norm(step, turned, recorded, every, self.reading.near)) is not None:
                    return add(f"{self.prefix}{one} norm", x.axes, rule, recorded, None, None, x.positions)
                self.reading.stages.pop()
        return None


def steps_before(node: Node) -> list[Node]:
    """The steps that lead to a tensor, the nearest first, up to the maps."""
    found: list[Node] = []
    ahead = [node]
    for view in ahead:  # the list grows while it is walked
        if view.base not in found and not steps.is_linear(view.base):
            found.append(view.base)
            ahead.extend(view.base.given)
    return found


def between(node: Node, made: Node) -> list[Node]:
    """A map, and the steps that follow it on the way to a tensor: its outputs may be scaled before they are split."""
    found, ahead = [made], [node]
    for view in ahead:  # the list grows while it is walked
        base = view.base
        if base not in found:
            found.append(base)
            ahead.extend(base.given)
    return found


def views(node: Node, made: Node, shape: tuple[int, ...]) -> list[np.ndarray]:
    """How the way from a step to a tensor splits what it gave into heads: [head, token, d_head], the nearest first."""
    heads, count, width = shape
    found, seen, ahead = [], set(), [node]
    for view in ahead:  # the list grows while it is walked
        if id(view) in seen:
            continue
        seen.add(id(view))
        sizes = tuple(size for size in view.value.shape if size != 1)
        for order in ((heads, count, width), (count, heads, width)) if view.base is made else ():
            if sizes == tuple(size for size in order if size != 1):
                value = array(view.value).reshape(order)
                found.append(value if order[0] == heads and order[1] == count else value.transpose(1, 0, 2))
        ahead.extend(view.given)
    return found


def fitted(before: np.ndarray, after: np.ndarray, near: float) -> Angles | None:
    """The cosines and sines [token, pairs] and the pairs of dimensions by which queries [head, token, d_head] were turned, and
    where they are then.

    All heads must be turned alike, and every pair be as long after as before, but for one factor; None where none is so.
    """
    width = before.shape[-1]
    for size in range(width - width % 2, 0, -2):
        step = np.arange(size // 2)
        halves, neighbours = np.stack([step, step + size // 2], -1), np.stack([2 * step, 2 * step + 1], -1)
        for pairs, to in ((halves, halves), (neighbours, neighbours), (neighbours, halves)):
            for start in {0, width - size}:
                a, b = (before[..., start + at] for at in pairs.T)
                t, u = (after[..., start + at] for at in to.T)
                total = (a * a + b * b).sum(0)
                cos = np.divide((a * t + b * u).sum(0), total, out=np.ones_like(total), where=total > 0)
                sin = np.divide((a * u - b * t).sum(0), total, out=np.zeros_like(total), where=total > 0)
                length = np.hypot(cos, sin)
                if np.abs(length - length[0, 0]).max() > 10 * near:
                    continue
                if steps.close(turned(before, cos, sin, start + pairs, start + to), after, near / 10):
                    return cos, sin, start + pairs, start + to
    return None
