"""The formulas that stages follow, each with the terms of a single number: their products sum to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from analysis.inside.stages import Index, Stage, Term
from analysis.inside.stored import Matrix, times


class Identity:
    """The number of another stage, unchanged. One term: that number, times 1."""

    form = "same"

    def __init__(self, *inputs: Stage):
        self.inputs: Sequence[Stage] = inputs

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        return self.inputs[0].rows(positions)

    def terms(self, index: Index) -> list[Term]:
        return [_alone(stage, index) for stage in self.inputs]

    def facts(self, index: Index) -> dict[str, float]:
        return {}


class HeadConcatenation(Identity):
    """The heads' outputs, [head, token, d_head], side by side: [token, heads · d_head]. One term: the number itself."""

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        x = self.inputs[0].rows(positions)
        return x.transpose(1, 0, 2).reshape(x.shape[1], -1)

    def terms(self, index: Index) -> list[Term]:
        token, column = index
        head, d = divmod(column, self.inputs[0].rows(np.array([token])).shape[2])
        return [_alone(self.inputs[0], (head, token, d))]


class Sum(Identity):
    """Stages added number by number. A term for each, times 1."""

    form = "add"

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        return sum((stage.rows(positions) for stage in self.inputs[1:]), self.inputs[0].rows(positions))


class Lookup(Identity):
    """Looks up a row of a table for each token, times a factor if the model scales. One term: stored number · factor.

    table: [row, d]; which: int [token], the row of each. The source is the id, where the table is that of the tokens.
    """

    form = "lookup"

    def __init__(self, table: Matrix, which: np.ndarray, ids: Stage | None = None, factor: float = 1.0):
        super().__init__(*([ids] if ids is not None else []))
        self.table, self.which, self.factor = table, which, factor

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        return self.table[self.which if positions is None else self.which[positions]] * np.float32(self.factor)

    def terms(self, index: Index) -> list[Term]:
        token, dimension = index
        row = int(self.which[token])
        stored = float(self.table[row, dimension])
        source = self.inputs[0].place(token) if self.inputs else None
        return [Term(f"row {row}", stored, self.factor, stored * self.factor, source)]


class Norm(Identity):
    """LayerNorm, (x − mean) / spread · weight + bias with spread = √(variance + ε), or RMSNorm, x / spread · weight with spread =
    √(mean of squares + ε). ε is part of the spread.

    Terms: the number's distance from the mean, in spreads, times its weight; and the bias. The mean and the spread, which all
    numbers of the row share, are among the facts.
    Source: Ba, Kiros and Hinton 2016, "Layer Normalization"; Zhang and Sennrich 2019, "Root Mean Square Layer Normalization".
    """

    def __init__(self, x: Stage, weight: np.ndarray | None, bias: np.ndarray | None, eps: float, centred: bool):
        super().__init__(x)
        self.form = "layer norm" if centred else "rms norm"
        self.weight, self.bias, self.eps, self.centred = weight, bias, eps, centred

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        x = self.inputs[0].rows(positions).astype(np.float64)
        mean = x.mean(-1, keepdims=True) if self.centred else 0.0
        normalized = (x - mean) / np.sqrt(np.square(x - mean).mean(-1, keepdims=True) + self.eps)
        normalized = normalized if self.weight is None else normalized * self.weight
        return (normalized if self.bias is None else normalized + self.bias).astype(np.float32)

    def terms(self, index: Index) -> list[Term]:
        facts, x = self.facts(index), self.inputs[0]
        left = (x.at(index) - facts.get("mean", 0.0)) / facts["spread"]
        right = 1.0 if self.weight is None else float(self.weight[index[-1]])
        terms = [Term(f"dimension {index[-1]}", left, right, left * right, x.place(*index))]
        return terms if self.bias is None else [*terms, constant("bias", self.bias[index[-1]])]

    def facts(self, index: Index) -> dict[str, float]:
        x = _row(self.inputs[0], index[:-1]).astype(np.float64)
        mean = x.mean() if self.centred else 0.0
        facts = {"mean": float(mean)} if self.centred else {}
        return facts | {"spread": float(np.sqrt(np.square(x - mean).mean() + self.eps)), "x": float(x[index[-1]])}


class WideNorm(Norm):
    """A norm of all heads' queries or keys together, before the split into heads (OLMo 2): x is [head, token, d_head]."""

    def __init__(self, x: Stage, like: Norm):
        super().__init__(x, like.weight, like.bias, like.eps, like.centred)
        self.wide = like

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        normalized = self.wide.rows(positions)
        return normalized.reshape(len(normalized), -1, self.inputs[0].rows(positions).shape[2]).transpose(1, 0, 2)

    def terms(self, index: Index) -> list[Term]:
        width = self.inputs[0].rows(np.array([index[1]])).shape[2]
        terms = self.wide.terms((index[1], index[0] * width + index[2]))
        return [terms[0]._replace(label=f"dimension {index[2]}", source=self.inputs[0].place(*index)), *terms[1:]]

    def facts(self, index: Index) -> dict[str, float]:
        width = self.inputs[0].rows(np.array([index[1]])).shape[2]
        return self.wide.facts((index[1], index[0] * width + index[2]))


class Linear(Identity):
    """Multiplies a token's vector by a matrix: Σ_j x_j W_j + b. A term for each input, and the bias.

    x: [token, n], or [head, token, d] read head after head (heads joined by W_O). weight: [out, n]; bias: [out] or None. columns:
    the indices of the outputs, [d], or [head, d] if they are split into heads; None: all.
    """

    form = "linear"

    def __init__(self, x: Stage, weight: Matrix, bias: np.ndarray | None, columns: np.ndarray | None = None):
        super().__init__(x)
        self.weight, self.bias = weight, bias
        self.columns = np.arange(len(weight)) if columns is None else columns

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        x = self.inputs[0].rows(positions)
        x = x.transpose(1, 0, 2).reshape(x.shape[1], -1) if x.ndim == 3 else x
        whole = self.columns.size == len(self.weight) and bool((self.columns.ravel() == np.arange(len(self.weight))).all())
        chosen = slice(None) if whole else self.columns.ravel()
        outputs = times(x, self.weight, None if whole else self.columns.ravel())
        outputs = outputs if self.bias is None else outputs + self.bias[chosen]
        return outputs if self.columns.ndim == 1 else outputs.reshape(len(x), *self.columns.shape).transpose(1, 0, 2)

    def terms(self, index: Index) -> list[Term]:
        token, column = (
            (index[0], self.columns[index[1]]) if self.columns.ndim == 1 else (index[1], self.columns[index[0], index[2]])
        )
        x, weights = self.inputs[0], self.weight[column]
        if len(x.axes) == 3:
            row = x.rows(np.array([token]))[:, 0]  # [head, d_head]
            places = [x.place(head, token, d) for head in range(row.shape[0]) for d in range(row.shape[1])]
            labels = [f"head {place.at[0]}, dimension {place.at[2]}" for place in places]
        else:
            row = x.rows(np.array([token]))[0]
            places = [x.place(token, d) for d in range(len(row))]
            labels = [f"dimension {d}" for d in range(len(row))]
        terms = [
            Term(label, left, right, left * right, place)
            for label, left, right, place in zip(labels, row.ravel().tolist(), weights.tolist(), places, strict=True)
        ]
        return terms if self.bias is None else [*terms, constant("bias", self.bias[column])]


class Activation(Identity):
    """A function of each number. One term: the number, times the share of it that the function lets through."""

    form = "activation"

    def __init__(self, x: Stage, function: Callable[[np.ndarray], np.ndarray], name: str):
        super().__init__(x)
        self.function, self.name = function, name

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        return self.function(self.inputs[0].rows(positions))

    def terms(self, index: Index) -> list[Term]:
        x = self.inputs[0].at(index)
        y = float(self.function(np.array([x], np.float32))[0])
        left, right = (x, y / x) if abs(x) > 1e-30 else (y, 1.0)
        return [Term(self.name, left, right, y, self.inputs[0].place(*index))]


class Times(Identity):
    """Two stages multiplied number by number: a value, and the share of it that its gate lets through. One term.

    If the gate has fewer numbers, each serves several neighbours: one for a head, or one for a token.
    """

    form = "gate"

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        a, b = (stage.rows(positions) for stage in self.inputs)
        return a * (b if a.shape == b.shape else np.repeat(b, a.shape[-1] // b.shape[-1], axis=-1))

    def terms(self, index: Index) -> list[Term]:
        a, b = self.inputs
        row = np.array([index[0]])
        repeats = a.rows(row).shape[-1] // b.rows(row).shape[-1] if len(a.axes) == 2 else 1
        gate_index = (*index[:-1], index[-1] // repeats)
        left, right = a.at(index), b.at(gate_index)
        return [Term(f"{a.name} times {b.name}", left, right, left * right, a.place(*index), b.place(*gate_index))]


class Scale(Identity):
    """Multiplies each number by a constant. One term."""

    form = "scale"

    def __init__(self, x: Stage, factor: float):
        super().__init__(x)
        self.factor = factor

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        return self.inputs[0].rows(positions) * np.float32(self.factor)

    def terms(self, index: Index) -> list[Term]:
        x = self.inputs[0].at(index)
        return [Term("scale", x, self.factor, x * self.factor, self.inputs[0].place(*index))]

    @staticmethod
    def factor_between(before: np.ndarray, after: np.ndarray) -> float | None:
        """Return the constant factor between two arrays, if there is one."""
        at = np.unravel_index(np.abs(before).argmax(), before.shape)
        return float(after[at] / before[at]) if before.shape == after.shape and before[at] else None

    def facts(self, index: Index) -> dict[str, float]:
        return {"factor": self.factor}


class DimensionScale(Identity):
    """Each number times a stored number for its dimension (layer scale, Touvron et al. 2021). One term.

    weight: [n], along the last axis.
    """

    form = "scale"

    def __init__(self, x: Stage, weight: np.ndarray):
        super().__init__(x)
        self.weight = weight

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        return self.inputs[0].rows(positions) * self.weight

    def terms(self, index: Index) -> list[Term]:
        x, weight = self.inputs[0].at(index), float(self.weight[index[-1]])
        return [Term("weight", x, weight, x * weight, self.inputs[0].place(*index))]

    def facts(self, index: Index) -> dict[str, float]:
        return {"factor": float(self.weight[index[-1]])}


class BiasAddition(Identity):
    """A stored number added to each. Two terms.

    bias: [n], along the last axis, or [head, 1, n] for a stage of heads.
    """

    form = "add"

    def __init__(self, x: Stage, bias: np.ndarray):
        super().__init__(x)
        self.bias = bias

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        return self.inputs[0].rows(positions) + self.bias

    def terms(self, index: Index) -> list[Term]:
        bias = self.bias[index[-1]] if self.bias.ndim == 1 else self.bias[index[0], 0, index[-1]]
        return [_alone(self.inputs[0], index), constant("bias", bias)]


class Probabilities(Identity):
    """softmax along the last axis: exp(x) / sum of all exp. One term: exp(x − m), m being the largest, times 1 / their sum."""

    form = "softmax"

    def __init__(self, x: Stage, sinks: np.ndarray | None = None):
        super().__init__(x)
        self.sinks = sinks  # [head]: one more score of each row, whose share nobody gets

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        x = self.inputs[0].rows(positions)
        highest = x.max(-1, keepdims=True)
        if self.sinks is not None:
            highest = np.maximum(highest, self.sinks[:, None, None])
        with np.errstate(invalid="ignore"):
            powers = np.exp(x - np.where(np.isfinite(highest), highest, 0.0))
        total = powers.sum(-1, dtype=np.float64, keepdims=True)
        if self.sinks is not None:
            total = total + np.exp(self.sinks[:, None, None] - highest)
        return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0, casting="same_kind")

    def terms(self, index: Index) -> list[Term]:
        facts, x = self.facts(index), self.inputs[0]
        left = float(np.exp(np.float64(x.at(index)) - facts["largest"]))
        right = 1.0 / facts["sum"] if facts["sum"] else 0.0
        return [Term("exp(score − largest) / sum", left, right, left * right, x.place(*index))]

    def facts(self, index: Index) -> dict[str, float]:
        x = _row(self.inputs[0], index[:-1]).astype(np.float64)
        sink = None if self.sinks is None else float(self.sinks[index[0]])
        highest = max(float(x.max()), -np.inf if sink is None else sink)
        highest = highest if np.isfinite(highest) else 0.0
        total = float(np.exp(x - highest).sum()) + (0.0 if sink is None else float(np.exp(sink - highest)))
        return {"largest": highest, "sum": total} | ({} if sink is None else {"sink": sink})


class Choice(Identity):
    """The likeliest token: the index of the largest probability. One term: that index, which comes from its probability."""

    form = "choice"

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        return self.inputs[0].rows(positions).argmax(-1).astype(np.float32)

    def terms(self, index: Index) -> list[Term]:
        best = int(self.rows(np.array([index[0]]))[0])
        return [Term("the likeliest", float(best), 1.0, float(best), self.inputs[0].place(index[0], best))]

    def facts(self, index: Index) -> dict[str, float]:
        best = int(self.rows(np.array([index[0]]))[0])
        return {"probability": self.inputs[0].at((index[0], best))}


def constant(label: str, value: float) -> Term:
    """Return the term of a stored number that is added unchanged."""
    return Term(label, float(value), 1.0, float(value))


def _alone(x: Stage, index: Index) -> Term:
    value = x.at(index)
    return Term(x.name, value, 1.0, value, x.place(*index))


def _row(x: Stage, index: Index) -> np.ndarray:
    """Return the numbers along the last axis."""
    place = list(index)
    assert x.row_axis is not None, "every stage that has rows counts tokens"
    position, place[x.row_axis] = place[x.row_axis], 0
    return x.rows(np.array([position]))[tuple(place)]
