"""The formulas of attention: rotary positions, products of queries and keys, masks, and values mixed by weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.inside.formulas import Identity, constant
from analysis.inside.stages import Index, Stage, Term


class Turn(Identity):
    """Rotary positions: dimensions i and j of a pair, turned by an angle that grows with the position: x_i cos − x_j sin, and x_j
    cos + x_i sin. Two terms; a dimension that is not turned has one.

    cos, sin: [token, pairs]; pairs: int [pairs, 2], the dimensions of each pair; to: their places afterwards, None for the same.
    Source: Su et al. 2021, "RoFormer", eq. 15.
    """

    form = "rotary"

    def __init__(self, x: Stage, cos: np.ndarray, sin: np.ndarray, pairs: np.ndarray, to: np.ndarray | None = None):
        super().__init__(x)
        self.cos, self.sin, self.pairs = cos, sin, pairs
        self.to = pairs if to is None else to
        self.partner: dict[int, tuple[int, int, int, float]] = {}  # of a dimension: its pair, the one it was, the other, its sign
        for pair, ((i, j), (a, b)) in enumerate(zip(pairs.tolist(), self.to.tolist(), strict=True)):
            self.partner |= {a: (pair, i, j, -1.0), b: (pair, j, i, 1.0)}

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        x = self.inputs[0].rows(positions)
        cos, sin = (self.cos, self.sin) if positions is None else (self.cos[positions], self.sin[positions])
        return rotate(x, cos, sin, self.pairs, self.to)

    def terms(self, index: Index) -> list[Term]:
        head, token, dimension = index
        x = self.inputs[0]
        if dimension not in self.partner:
            value = x.at(index)
            return [Term("not turned", value, 1.0, value, x.place(*index))]
        pair, own, other, sign = self.partner[dimension]
        here, there = x.at((head, token, own)), x.at((head, token, other))
        cos, sin = float(self.cos[token, pair]), sign * float(self.sin[token, pair])
        return [
            Term(f"dimension {own} times the cosine", here, cos, here * cos, x.place(head, token, own)),
            Term(f"dimension {other} times the sine", there, sin, there * sin, x.place(head, token, other)),
        ]

    def facts(self, index: Index) -> dict[str, float]:
        if index[2] not in self.partner:
            return {}
        pair = self.partner[index[2]][0]
        return {"angle": float(np.arctan2(self.sin[index[1], pair], self.cos[index[1], pair]))}


def rotate(x: np.ndarray, cos: np.ndarray, sin: np.ndarray, pairs: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Return x [head, token, d] with pairs of dimensions turned by angles [token, pair], and put where `to` says."""
    rotated, (first, second), (a, b) = x.copy(), pairs.T, to.T
    rotated[..., a] = x[..., first] * cos - x[..., second] * sin
    rotated[..., b] = x[..., second] * cos + x[..., first] * sin
    return rotated


class Assembly(Identity):
    """Keys, or others, whose dimensions come from several places (latent attention): [head, token, d]. One term: the number.

    parts: stages [head or 1, token, n]; where: the dimensions of each. A part with one head serves all heads.
    Source: DeepSeek-AI 2024, "DeepSeek-V2", eq. 16 to 18.
    """

    def __init__(self, heads: int, parts: Sequence[Stage], where: Sequence[np.ndarray]):
        super().__init__(*parts)
        self.heads, self.where = heads, where
        self.part = {int(d): (i, n) for i, dims in enumerate(where) for n, d in enumerate(dims)}

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        part_values = [part.rows(positions) for part in self.inputs]
        joined = np.empty((self.heads, part_values[0].shape[1], len(self.part)), np.float32)
        for values, dims in zip(part_values, self.where, strict=True):
            joined[..., dims] = values
        return joined

    def terms(self, index: Index) -> list[Term]:
        number, dimension = self.part[index[2]]
        part = self.inputs[number]
        alone = len(part.rows(np.array([index[1]]))) == 1
        place = (0 if alone else index[0], index[1], dimension)
        value = part.at(place)
        return [Term(part.name, value, 1.0, value, part.place(*place))]


class Products(Identity):
    """q·k for each query and key of a head: Σ_d q_d k_d. A term for each dimension. Heads of queries may share a head of keys."""

    form = "dot product"

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        q, k = self.inputs[0].rows(positions), self.inputs[1].rows(None)
        return q @ np.repeat(k, len(q) // len(k), axis=0).transpose(0, 2, 1)

    def terms(self, index: Index) -> list[Term]:
        head, query, key = index
        q, k = self.inputs
        heads = len(q.rows(np.array([query])))
        shared = head * len(k.rows(np.array([key]))) // heads
        left, right = q.rows(np.array([query]))[head, 0], k.rows(np.array([key]))[shared, 0]
        return [
            Term(f"dimension {d}", float(a), float(b), float(a) * float(b), q.place(head, query, d), k.place(shared, key, d))
            for d, (a, b) in enumerate(zip(left, right, strict=True))
        ]


class Distances(Identity):
    """Each query, or each key, times what is stored for the distance between the two: Σ_d x_d r_d. A term for each dimension.

    x: [head, token, d_head], of the key if `keyed`; table: [head, distance, d_head]; at: int [query, key], the index of the
    distance. Source: Dai et al. 2019, "Transformer-XL"; He et al. 2021, "DeBERTa", eq. 2 to 4.
    """

    form = "dot product"

    def __init__(self, x: Stage, table: np.ndarray, at: np.ndarray, keyed: bool):
        super().__init__(x)
        self.table, self.at, self.keyed = table, at, keyed

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        at = (self.at if positions is None else self.at[positions])[None]
        products = self.inputs[0].rows(None if self.keyed else positions) @ self.table.transpose(0, 2, 1)
        return products[:, np.arange(at.shape[2])[None], at[0]] if self.keyed else np.take_along_axis(products, at, -1)

    def terms(self, index: Index) -> list[Term]:
        head, query, key = index
        x, token = self.inputs[0], key if self.keyed else query
        left, right = x.rows(np.array([token]))[head, 0], self.table[head, self.at[query, key]]
        return [
            Term(f"dimension {d}", float(a), float(b), float(a) * float(b), x.place(head, token, d))
            for d, (a, b) in enumerate(zip(left, right, strict=True))
        ]


class SoftCap(Identity):
    """Scores limited to ±c: c · tanh(s / c) (Gemma 2). One term: the score, times the share of it that remains."""

    form = "soft cap"

    def __init__(self, x: Stage, cap: float):
        super().__init__(x)
        self.cap = cap

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        return self.cap * np.tanh(self.inputs[0].rows(positions) / self.cap)

    def terms(self, index: Index) -> list[Term]:
        x = self.inputs[0].at(index)
        y = self.cap * float(np.tanh(x / self.cap))
        right = y / x if x else 1.0
        return [Term("what the cap leaves", x, right, y, self.inputs[0].place(*index))]

    def facts(self, index: Index) -> dict[str, float]:
        return {"cap": self.cap}


class PositionBias(Identity):
    """A number for the distance between query and key added to their score (ALiBi, T5). Two terms.

    bias: [heads or 1, query or 1, key].
    """

    form = "position bias"

    def __init__(self, x: Stage, bias: np.ndarray):
        super().__init__(x)
        self.bias = bias

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        return self.inputs[0].rows(positions) + _of(self.bias, positions)

    def terms(self, index: Index) -> list[Term]:
        x = self.inputs[0].at(index)
        bias = _of(self.bias, np.array([index[1]]))
        addend = float(bias[min(index[0], len(bias) - 1), 0, index[2]])
        return [Term(self.inputs[0].name, x, 1.0, x, self.inputs[0].place(*index)), constant("position bias", addend)]


class Masking(Identity):
    """The score where the query may look, −∞ where it may not. Two terms: the score, and 0 or −∞.

    mask: float [heads or 1, query or 1, key], or None where each query sees the keys up to its own.
    """

    form = "mask"

    def __init__(self, x: Stage, mask: np.ndarray | None, behind: int = 0):
        super().__init__(x)
        self.mask, self.behind = mask, behind  # behind: how many keys come before the first query

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        x = self.inputs[0].rows(positions)
        return x + self.addend(positions, x.shape[-1])

    def addend(self, positions: np.ndarray | None, keys: int) -> np.ndarray:
        """Return the numbers that are added to the scores: 0 or −∞, [heads or 1, query, key]."""
        if self.mask is None:
            positions = np.arange(keys) if positions is None else positions
            return np.where(np.arange(keys) > positions[:, None] + self.behind, -np.inf, 0).astype(np.float32)[None]
        return _of(self.mask, positions)

    def terms(self, index: Index) -> list[Term]:
        x = self.inputs[0].at(index)
        addends = self.addend(np.array([index[1]]), index[2] + 1 if self.mask is None else self.mask.shape[-1])
        mask = float(addends[min(index[0], len(addends) - 1), 0, index[2]])
        return [Term(self.inputs[0].name, x, 1.0, x, self.inputs[0].place(*index)), constant("mask", mask)]


class ValueMix(Identity):
    """The values of all tokens, each times the weight that the query gives it: Σ_k P_k v_k. A term for each key."""

    form = "weighted sum"

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        weights, values = self.inputs[0].rows(positions), self.inputs[1].rows(None)
        return weights @ np.repeat(values, len(weights) // len(values), axis=0)

    def terms(self, index: Index) -> list[Term]:
        head, query, dimension = index
        p, v = self.inputs
        weights, values = p.rows(np.array([query])), v.rows(None)
        shared = head * len(values) // len(weights)
        return [
            Term(f"key {k}", float(a), float(b), float(a) * float(b), p.place(head, query, k), v.place(shared, k, dimension))
            for k, (a, b) in enumerate(zip(weights[head, 0], values[shared, :, dimension], strict=True))
        ]


def _of(bias: np.ndarray, positions: np.ndarray | None) -> np.ndarray:
    """Return the rows of a bias or mask [heads or 1, query or 1, key] for some queries."""
    return bias if positions is None or bias.shape[1] == 1 else bias[:, positions]
