"""The stages of one attention, head by head: queries, keys and values, scores, weights, and mixed values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from analysis.inside import steps
from analysis.inside.attending import Assembly, Distances, Masking, PositionBias, Products, SoftCap, Turn, ValueMix, rotate
from analysis.inside.attention_calls import AttentionParts, Vectors
from analysis.inside.formulas import BiasAddition, HeadConcatenation, Linear, Norm, Probabilities, Scale, Sum, WideNorm
from analysis.inside.reading import ADDS, OWN, Reading, columns_of
from analysis.inside.stages import Stage
from analysis.inside.stored import array

if TYPE_CHECKING:
    from models.attention.undo_rotary import Rotary
    from models.watching.steps import Node

HEADS, PAIRS = ("head", "token", "d_head"), ("head", "query", "key")
UNSEEN = "This model multiplies queries and keys in a form of its own: its weights are known, how they came about is not."
ELSEWHERE = "This model puts its {} together in a way of its own, which is not taken apart. The numbers are its own."
TURNED = "between the map and the scores"
Angles = tuple[np.ndarray, ...]  # cos and sin [token, pair], the pairs of dimensions before and after


class Heads:
    """Reads the stages of an attention.

    prefix: "cross " in cross-attention, the beginning of its stages' names; source: the input of its keys and values there, else
    None; keys: the shown positions of the source.
    """

    def __init__(self, reading: Reading, prefix: str, source: Stage | None, keys: np.ndarray, rotary: Rotary | None):
        self.reading, self.prefix, self.source, self.keys = reading, prefix, source, keys
        self.rotary = None if source is not None else rotary
        self.angles: Angles | None = None  # those of the queries, once known

    def read(self, parts: AttentionParts, weights: np.ndarray) -> None:
        q = self.part(parts.q, "queries", "query", None)
        k = self.part(parts.k, "keys", "key", self.source)
        v = self.part(parts.v, "values", "", self.source)
        reading, prefix = self.reading, self.prefix
        scores = self.weigh(parts, q, k)
        probabilities = reading.add(prefix + "weights", PAIRS, Probabilities(scores, parts.sinks), weights)
        reading.add(prefix + "mixed values", HEADS, ValueMix(probabilities, v), parts.out, parts.end)

    def read_weights(self, end: Node, weights: np.ndarray, values: Vectors | None) -> None:
        """Add the weights, the values if known, and the mixed values of a model whose queries and keys are unknown."""
        add, prefix = self.reading.add, self.prefix
        mixed = array(end.value)
        if end.op == "einsum":  # [token, head, d_head]
            mixed = mixed.reshape(weights.shape[1], len(weights), -1).transpose(1, 0, 2)
        mixed = mixed.reshape(len(weights), weights.shape[1], -1)
        stage = None if values is None else self.part(values, "values", "", self.source)
        probabilities = add(prefix + "weights", PAIRS, None, weights, None, UNSEEN)
        rule = None if stage is None else ValueMix(probabilities, stage)
        add(prefix + "mixed values", HEADS, rule, mixed, end, UNSEEN if rule is None else None)

    def weigh(self, parts: AttentionParts, q: Stage, k: Stage) -> Stage:
        """Add the stages from queries and keys to the softmax's input, and return that."""
        add, prefix = self.reading.add, self.prefix
        scores = add(prefix + "products", PAIRS, Products(q, k))
        scores = add(prefix + "scores", PAIRS, Scale(scores, parts.scale))
        for relative in parts.relative:
            add(
                prefix + "distance scores",
                PAIRS,
                Distances(k if relative.keyed else q, relative.table, relative.at, relative.keyed),
            )
        if parts.relative:
            scores = add(prefix + "summed scores", PAIRS, Sum(scores, *self.reading.stages[-len(parts.relative) :]))
        if parts.softcap is not None:
            scores = add(prefix + "capped scores", PAIRS, SoftCap(scores, parts.softcap))
        if parts.bias is not None:
            scores = add(prefix + "biased scores", PAIRS, PositionBias(scores, parts.bias))
        if parts.causal or parts.mask is not None:
            scores = add(prefix + "masked scores", PAIRS, Masking(scores, parts.mask))
        return scores

    def part(self, vectors: Vectors, name: str, singular: str, source: Stage | None) -> Stage:
        """Add queries, keys or values: their linear map, then a norm of each head, a scale, rotary positions, if any."""
        reading, recorded = self.reading, vectors.array
        axes = HEADS if source is None else ("head", "source", "d_head")
        positions = reading.positions if source is None else self.keys
        maps = self.origins(vectors.node)
        if len(maps) > 1 and (whole := self.assemble(maps, vectors, name, axes, source, positions)) is not None:
            return whole
        split = self.split_map(maps[0], vectors.node, recorded, source) if len(maps) == 1 else None
        if split is None:
            return reading.add(self.prefix + name, axes, None, recorded, None, ELSEWHERE.format(name), positions)
        stage = reading.add(self.prefix + name, axes, split[0], split[1], None, None, positions)
        stage = self.add_bias(vectors.node, maps[0], stage, name, axes, positions)
        if np.array_equal(stage.rows(None), recorded) and (not singular or self.rotary is None):
            return stage
        if (norm := self.head_norm(vectors.node, stage)) is not None:
            stage = reading.add(f"{self.prefix}{singular} norm", axes, norm[0], norm[1], None, None, positions)
        if steps.close(stage.rows(None), recorded, 1e-6) and (not singular or self.rotary is None):
            return stage
        scale = reading.scale(stage, recorded)
        if scale is not None and scale.factor != 1 and steps.close(scale.rows(None), recorded, reading.near):
            return reading.add(f"{self.prefix}scaled {name}", axes, scale, recorded, None, None, positions)
        rule = self.turn(stage, recorded)
        if rule is None and singular and (last := self.late_norm(vectors, stage, name, singular)) is not None:
            return last
        missing = OWN.format(TURNED) if rule is None else None
        return reading.add(f"{self.prefix}turned {name}", axes, rule, recorded, None, missing, positions)

    # Linear maps, norms and biases

    def origins(self, node: Node) -> list[Node]:
        """Return the linear maps that a tensor comes from, the nearest first."""
        maps: dict[int, Node] = {}
        visited, ahead = set(), [node]
        for view in ahead:  # the list grows while it is walked
            base = view.base
            if id(base) not in visited:
                visited.add(id(base))
                if steps.is_linear(base):
                    maps[id(base)] = base
                elif base is not self.reading.section.start:
                    ahead.extend(base.given)
        return list(maps.values())

    def assemble(
        self, maps: list[Node], vectors: Vectors, name: str, axes: tuple[str, ...], source: Stage | None, positions: np.ndarray
    ) -> Stage | None:
        """Add keys from several maps: some dimensions come from one map, the others from another one, turned by positions."""
        add, recorded, before = self.reading.add, vectors.array, len(self.reading.stages)
        heads, count, width = recorded.shape
        remaining, parts, dimensions = np.arange(width), [], []
        for node in maps:
            whole = steps.flat(node, count)
            columns = None if whole is None else [columns_of(recorded[..., d].T, whole) for d in remaining]
            indices = [] if columns is None else [i for i, column in enumerate(columns) if column is not None]
            x = source if source is not None else self.reading.stage_of(node.given[0])
            if not indices or x is None or whole is None or columns is None:
                continue
            picked = np.stack([columns[i] for i in indices], -1)  # type: ignore[misc]
            rule = steps.linear(node, x, picked)
            parts.append(
                add(f"{self.prefix}content {name}", axes, rule, whole[:, picked].transpose(1, 0, 2), None, None, positions)
            )
            dimensions.append(remaining[indices])
            remaining = np.delete(remaining, indices)
        for node in maps if len(remaining) else []:
            for alike in (1, heads):
                like = recorded[:alike, :, remaining]
                split = self.split_map(node, vectors.node, like, source) if (recorded[..., remaining] == like).all() else None
                angles = None if split is None else fit_angles(split[1], like, self.reading.near)
                if split is not None and angles is not None:
                    stage = add(f"{self.prefix}position {name}", axes, *split, None, None, positions)
                    turn = Turn(stage, *angles)
                    parts.append(add(f"{self.prefix}turned position {name}", axes, turn, like, None, None, positions))
                    dimensions.append(remaining)
                    return add(f"{self.prefix}{name}", axes, Assembly(heads, parts, dimensions), recorded, None, None, positions)
        if len(remaining) or not parts:
            del self.reading.stages[before:]
            return None
        return add(f"{self.prefix}{name}", axes, Assembly(heads, parts, dimensions), recorded, None, None, positions)

    def split_map(
        self, linear_map: Node, tensor: Node, recorded: np.ndarray, source: Stage | None
    ) -> tuple[Linear, np.ndarray] | None:
        """Return the map of queries, keys or values split into heads, and its outputs: [head, token, d_head]."""
        count = recorded.shape[1]
        x = source if source is not None else self.reading.stage_of(linear_map.given[0])
        whole = steps.flat(linear_map, count)
        if x is None or whole is None:
            return None
        for step in steps_after(tensor, linear_map):
            flat = steps.flat(step, count)
            if flat is None or flat.shape != whole.shape:
                continue
            for value in head_views(tensor, step, recorded.shape):
                columns = columns_of(value.transpose(1, 0, 2).reshape(count, -1), flat)
                if columns is not None:
                    columns = columns.reshape(value.shape[0], value.shape[2])
                    return steps.linear(linear_map, x, columns), whole[:, columns].transpose(1, 0, 2)
        return None

    def head_norm(self, node: Node, x: Stage) -> tuple[Norm, np.ndarray] | None:
        """Return the norm of each head's queries or keys, if there is one, and its output."""
        whole = x.rows(None)
        visited, ahead = set(), [node]
        for view in ahead:  # the list grows while it is walked
            base = view.base
            if id(base) in visited or steps.is_linear(base) or base is self.reading.section.start:
                continue
            visited.add(id(base))
            for value in head_views(node, base, whole.shape) if steps.is_norm(base) else []:
                positions = np.arange(whole.shape[1])
                if (rule := steps.norm(base, x, value, positions, self.reading.near)) is not None:
                    return rule, value
                side_by_side = Stage("joined", ("token", "d_model"), x.layer, x.stack, HeadConcatenation(x), None, x.positions)
                wide_values = value.transpose(1, 0, 2).reshape(len(positions), -1)
                if (wide := steps.norm(base, side_by_side, wide_values, positions, self.reading.near)) is not None:
                    return WideNorm(x, wide), value
            ahead.extend(base.given)
        return None

    def add_bias(self, node: Node, linear_map: Node, x: Stage, name: str, axes: tuple[str, ...], positions: np.ndarray) -> Stage:
        """Add the stored bias of queries or values that a separate step adds (DeBERTa), if there is one; else return x."""
        shape = x.rows(None).shape
        for step in steps_after(node, linear_map)[1:]:
            if step.op not in ADDS:
                continue
            addends = [view.value for view in step.given if linear_map not in self.origins(view)]
            if len(addends) != 1 or addends[0].numel() != shape[0] * shape[2]:
                continue
            rule = BiasAddition(x, array(addends[0]).reshape(shape[0], 1, shape[2]))
            for value in head_views(node, step, shape):
                if steps.close(rule.rows(None), value, self.reading.near):
                    return self.reading.add(f"{self.prefix}biased {name}", axes, rule, value, None, None, positions)
        return x

    # Rotary positions

    def turn(self, x: Stage, recorded: np.ndarray) -> Turn | None:
        """Return the rotation by the model's angles, by those of the queries, or by angles fitted to the numbers."""
        count = recorded.shape[1]
        if self.rotary is not None:
            phases = np.arange(count)[:, None] * np.asarray(self.rotary.frequencies, np.float64)
            exact_angles = np.cos(phases).astype(np.float32), np.sin(phases).astype(np.float32), self.rotary.dimensions
        ways: list[Callable[[], Angles | None]] = [lambda: exact_angles if self.rotary is not None else None, lambda: self.angles]
        for way in (*ways, lambda: fit_angles(x.rows(None), recorded, self.reading.near)):
            if (angles := way()) is not None and steps.close((rule := Turn(x, *angles)).rows(None), recorded, self.reading.near):
                self.angles = angles
                return rule
        return None

    def late_norm(self, vectors: Vectors, x: Stage, name: str, singular: str) -> Stage | None:
        """Add queries or keys that are turned first and then get a norm (Llama 4): both stages; the last is returned."""
        node, recorded, add = vectors.node, vectors.array, self.reading.add
        positions = np.arange(recorded.shape[1])
        for step in steps_before(node):
            if not steps.is_norm(step) or not any(
                np.array_equal(value, recorded) for value in head_views(node, step, recorded.shape)
            ):
                continue
            for before in head_views(step.given[0], step.given[0].base, recorded.shape):
                if (turn := self.turn(x, before)) is None:
                    continue
                rotated = add(f"{self.prefix}turned {name}", x.axes, turn, before, None, None, x.positions)
                if (rule := steps.norm(step, rotated, recorded, positions, self.reading.near)) is not None:
                    return add(f"{self.prefix}{singular} norm", x.axes, rule, recorded, None, None, x.positions)
                self.reading.stages.pop()
        return None


def steps_before(node: Node) -> list[Node]:
    """Return the steps that lead to a tensor, the nearest first, up to the maps."""
    nodes: list[Node] = []
    ahead = [node]
    for view in ahead:  # the list grows while it is walked
        if view.base not in nodes and not steps.is_linear(view.base):
            nodes.append(view.base)
            ahead.extend(view.base.given)
    return nodes


def steps_after(node: Node, linear_map: Node) -> list[Node]:
    """Return a map, and the steps after it that lead to a tensor: its outputs may be scaled before they are split."""
    nodes, ahead = [linear_map], [node]
    for view in ahead:  # the list grows while it is walked
        base = view.base
        if base not in nodes:
            nodes.append(base)
            ahead.extend(base.given)
    return nodes


def head_views(node: Node, step: Node, shape: tuple[int, ...]) -> list[np.ndarray]:
    """Return a step's output split into heads as the views after it split it: [head, token, d_head], the nearest first."""
    heads, count, width = shape
    arrays, visited, ahead = [], set(), [node]
    for view in ahead:  # the list grows while it is walked
        if id(view) in visited:
            continue
        visited.add(id(view))
        sizes = tuple(size for size in view.value.shape if size != 1)
        for order in ((heads, count, width), (count, heads, width)) if view.base is step else ():
            if sizes == tuple(size for size in order if size != 1):
                value = array(view.value).reshape(order)
                arrays.append(value if order[0] == heads and order[1] == count else value.transpose(1, 0, 2))
        ahead.extend(view.given)
    return arrays


def fit_angles(before: np.ndarray, after: np.ndarray, near: float) -> Angles | None:
    """Return the cosines and sines [token, pairs] and the pairs of dimensions, before and after, that turn queries [head, token,
    d_head] into other ones.

    All heads must be turned alike, and every pair must keep its length, up to one common factor; None without such a rotation.
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
                if steps.close(rotate(before, cos, sin, start + pairs, start + to), after, near / 10):
                    return cos, sin, start + pairs, start + to
    return None
