"""A mixture of experts: which expert takes which token, with which share, and each expert's answer.

There are only numbers that the model calculates: for each token the chosen experts, the one with the largest share first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.inside import steps
from analysis.inside.formulas import Activation, Identity, Linear, Times, constant
from analysis.inside.reading import OWN, Reading
from analysis.inside.stages import Index, Stage, Term
from analysis.inside.stored import array

if TYPE_CHECKING:
    from models.watching.steps import Node

Matrix = Callable[[int], tuple[np.ndarray, np.ndarray | None]]  # of an expert: weight [out, in] and bias
RANKED = ("rank", "token", "neuron")


class Shares(Identity):
    """The share that each expert has in a token: a softmax of the router's scores, or their sigmoids; 0 for experts not chosen.

    chosen: int [token, rank]; soft: exp, else the sigmoid 1 / (1 + exp(−score)); over: the divisor, the sum over the "chosen"
    experts, over "all", or "none"; factor: the final factor of all shares. One term: exp(score − m), m being the largest, or the
    sigmoid, times factor / sum.
    Source: Jiang et al. 2024, "Mixtral of Experts"; Shazeer et al. 2017; sigmoids: DeepSeek-AI 2024, "DeepSeek-V3".
    """

    form = "routing"

    def __init__(self, x: Stage, chosen: np.ndarray, soft: bool = True, over: str = "chosen", factor: float = 1.0):
        super().__init__(x)
        self.chosen, self.soft, self.over, self.factor = chosen, soft, over, factor

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        x = self.inputs[0].rows(positions).astype(np.float64)
        is_chosen = np.zeros(x.shape, bool)
        np.put_along_axis(is_chosen, self.chosen if positions is None else self.chosen[positions], True, axis=-1)
        powers = np.exp(x - x.max(-1, keepdims=True)) if self.soft else 1 / (1 + np.exp(-x))
        weights = {"chosen": powers * is_chosen, "all": powers}.get(self.over)
        total = 1.0 if weights is None else weights.sum(-1, keepdims=True)
        return (powers * is_chosen / total * self.factor).astype(np.float32)

    def terms(self, index: Index) -> list[Term]:
        token, expert = index
        facts, x = self.facts(index), self.inputs[0].at(index)
        power = float(np.exp(x - facts["largest"])) if self.soft else float(1 / (1 + np.exp(-x)))
        left, right = power if expert in self.chosen[token] else 0.0, self.factor / facts["sum"]
        label = "exp(score − largest) / sum" if self.soft else "sigmoid / sum"
        return [Term(label, left, right, left * right, self.inputs[0].place(*index))]

    def facts(self, index: Index) -> dict[str, float]:
        x = self.inputs[0].rows(np.array([index[0]]))[0].astype(np.float64)
        powers = np.exp(x - x.max()) if self.soft else 1 / (1 + np.exp(-x))
        weights = {"chosen": powers[self.chosen[index[0]]], "all": powers}.get(self.over)
        return {"largest": float(x.max()), "sum": 1.0 if weights is None else float(weights.sum()), "factor": self.factor}

    @classmethod
    def fit(cls, x: Stage, chosen: np.ndarray, recorded: np.ndarray | None, near: float) -> Shares | None:
        """Return the first of the usual formulas that gives the recorded shares; None if none does."""
        for soft, over in product((True, False), ("chosen", "all", "none")):
            shares = cls(x, chosen, soft, over)
            if recorded is None:
                return shares
            shares.factor = float(recorded.sum() / shares.rows(None).sum())
            if steps.close(shares.rows(None), recorded, near):
                return shares
        return None


class ExpertChoice(Identity):
    """The experts that take a token, the one with the largest share first: int [token, rank]. One term: its number."""

    form = "choice"

    def __init__(self, x: Stage, chosen: np.ndarray):
        super().__init__(x)
        self.chosen = chosen

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        return (self.chosen if positions is None else self.chosen[positions]).astype(np.float32)

    def terms(self, index: Index) -> list[Term]:
        expert = int(self.chosen[index])
        return [Term("the expert", float(expert), 1.0, float(expert), self.inputs[0].place(index[0], expert))]

    def facts(self, index: Index) -> dict[str, float]:
        return {"share": self.inputs[0].at((index[0], int(self.chosen[index])))}


class ExpertLinear(Identity):
    """A `Linear` with the matrix of the expert that took the token: [rank, token, out]. x: [token, n] or [rank, token, n]."""

    form = "linear"

    def __init__(self, x: Stage, of: Matrix, chosen: np.ndarray):
        super().__init__(x)
        self.of, self.chosen = of, chosen

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        x = self.inputs[0].rows(positions)
        chosen = self.chosen if positions is None else self.chosen[positions]  # [token, rank]
        x = np.broadcast_to(x, (chosen.shape[1], *x.shape[-2:]))
        outputs = np.zeros((*chosen.T.shape, len(self.of(int(chosen.flat[0]))[0])), np.float32)
        for expert in np.unique(chosen):
            weight, bias = self.of(int(expert))
            rank, token = np.nonzero(expert == chosen.T)
            outputs[rank, token] = x[rank, token] @ weight.T + (0 if bias is None else bias)
        return outputs

    def terms(self, index: Index) -> list[Term]:
        rank, token, out = index
        x = self.inputs[0]
        weight, bias = self.of(int(self.chosen[token, rank]))
        row = x.rows(np.array([token]))[..., 0, :]
        row = row[rank] if row.ndim == 2 else row
        places = [x.place(rank, token, j) if len(x.axes) == 3 else x.place(token, j) for j in range(len(row))]
        terms = [
            Term(f"dimension {j}", left, right, left * right, place)
            for j, (left, right, place) in enumerate(zip(row.tolist(), weight[out].tolist(), places, strict=True))
        ]
        return terms if bias is None else [*terms, constant("bias", bias[out])]

    def facts(self, index: Index) -> dict[str, float]:
        return {"expert": float(self.chosen[index[1], index[0]])}


class Experts(Identity):
    """The experts' answers, each times its share: Σ_e p_e · expert_e(x). A term for each chosen expert."""

    form = "weighted sum"

    def __init__(self, shares: Stage, answers: Stage, chosen: np.ndarray):
        super().__init__(shares, answers)
        self.chosen = chosen

    def rows(self, positions: np.ndarray | None) -> np.ndarray:
        shares, answers = (stage.rows(positions) for stage in self.inputs)
        weights = np.take_along_axis(shares, self.chosen if positions is None else self.chosen[positions], -1)
        return np.einsum("tr,rtd->td", weights, answers)

    def terms(self, index: Index) -> list[Term]:
        token, d = index
        shares, answers = self.inputs
        terms = []
        for rank, expert in enumerate(self.chosen[token].tolist()):
            left, right = shares.at((token, expert)), answers.at((rank, token, d))
            places = shares.place(token, expert), answers.place(rank, token, d)
            terms.append(Term(f"expert {expert}", left, right, left * right, *places))
        return terms


@dataclass
class ExpertParts:
    """The matrices and the activation of a mixture's experts. gate: None if they have none; function: their activation."""

    gate: Matrix | None
    up: Matrix
    down: Matrix
    function: Callable[[np.ndarray], np.ndarray]
    name: str
    lift: Callable[[np.ndarray], np.ndarray] | None = None  # what is done to `up` before it meets the gate (GPT-OSS)


def is_mixture(node: Node) -> bool:
    """Return whether a step computes all experts at once."""
    module = node.module
    if module is None:
        return False
    return _is_list(module) or sum(parameter.dim() == 3 for parameter in module.parameters(recurse=False)) >= 2


def read(reading: Reading, node: Node, router: Node | None) -> None:
    """Add the stages of a mixture; `router`: the step that computed its scores, None if the mixture contains it."""
    x, value = reading.stage_of(node.given[0]), steps.flat(node, reading.count)
    assert value is not None, "a mixture gives a stream"
    scores = None if x is None else _scores(reading, node, x, router)
    chosen = None if scores is None else _read_choice(node, scores)
    if x is None or scores is None or chosen is None:
        reading.add("feed-forward", ("token", "d_model"), None, value, node, OWN.format(type(node.module).__name__))
        return
    shares = _shares(reading, node, scores, chosen)
    reading.add("experts", ("token", "rank"), ExpertChoice(shares, chosen))
    at = len(reading.stages)
    for kinds in _kinds(node.module, x.rows(None).shape[-1]):
        answers = _answers(reading, kinds, x, chosen)
        rule = Experts(shares, answers, chosen)
        if not shares.missing and steps.close(rule.rows(reading.positions), value[reading.positions], reading.near):
            reading.add("feed-forward", ("token", "d_model"), rule, value, node)
            return
        del reading.stages[at:]
    reading.add("feed-forward", ("token", "d_model"), None, value, node, OWN.format(type(node.module).__name__))


def _answers(reading: Reading, kinds: ExpertParts, x: Stage, chosen: np.ndarray) -> Stage:
    """Add the stages inside the experts, for the tokens that each takes; return their answers."""
    if kinds.gate is None:
        inner = reading.add("expert up", RANKED, ExpertLinear(x, kinds.up, chosen))
        inner = reading.add("expert activation", RANKED, Activation(inner, kinds.function, kinds.name))
    else:
        inner = reading.add("expert gate", RANKED, ExpertLinear(x, kinds.gate, chosen))
        inner = reading.add("expert activation", RANKED, Activation(inner, kinds.function, kinds.name))
        up = reading.add("expert up", RANKED, ExpertLinear(x, kinds.up, chosen))
        if kinds.lift is not None:
            up = reading.add("expert lifted", RANKED, Activation(up, kinds.lift, "cut and one added"))
        inner = reading.add("expert gated", RANKED, Times(inner, up))
    return reading.add("expert answers", ("rank", "token", "d_model"), ExpertLinear(inner, kinds.down, chosen))


def _scores(reading: Reading, node: Node, x: Stage, router: Node | None) -> Stage | None:
    """Add the router's scores of each expert: [token, expert]."""
    if router is not None:
        return reading.add("router", ("token", "expert"), steps.linear(router, x), steps.flat(router, reading.count), router)
    own = getattr(node.module, "router", None)
    if own is None:
        return None
    return reading.add("router", ("token", "expert"), Linear(x, array(own.weight), None))


def _read_choice(node: Node, scores: Stage) -> np.ndarray | None:
    """Return the chosen experts: int [token, rank], the best first."""
    all_scores = scores.rows(None)
    count = getattr(node.module, "used", None)
    choice = next((view.value for view in node.given[1:] if not view.value.is_floating_point()), None)
    if choice is not None:
        experts = choice.reshape(len(all_scores), -1).cpu().numpy()
        order = np.argsort(-np.take_along_axis(all_scores, experts, -1), axis=-1, kind="stable")
        return np.take_along_axis(experts, order, -1)
    return None if count is None else np.argsort(-all_scores, axis=-1, kind="stable")[:, :count]


def _shares(reading: Reading, node: Node, scores: Stage, chosen: np.ndarray) -> Stage:
    """Add the weight of each expert's answer, with its formula if it is one of the usual ones."""
    tensors = [view.value for view in node.given[1:]]
    index = next((tensor for tensor in tensors if not tensor.is_floating_point()), None)
    weights = next((tensor for tensor in tensors if tensor.is_floating_point()), None)
    recorded = None
    if index is not None and weights is not None:
        recorded = np.zeros(scores.rows(None).shape, np.float32)
        np.put_along_axis(recorded, index.reshape(len(recorded), -1).cpu().numpy(), array(weights).reshape(len(recorded), -1), -1)
    rule = Shares.fit(scores, chosen, recorded, reading.near)
    missing = OWN.format("how it shares tokens out") if rule is None else None
    return reading.add("router shares", ("token", "expert"), rule, recorded, None, missing)


def _is_list(module: Any) -> bool:
    experts = getattr(module, "experts", None)
    return hasattr(module, "router") and experts is not None and hasattr(experts, "__getitem__")


def _kinds(module: Any, width: int) -> Iterator[ExpertParts]:
    """Yield the possible forms of the experts, each one that is in use."""
    import torch

    if _is_list(module):
        maps = [{name: part for name, part in expert.named_children() if hasattr(part, "weight")} for expert in module.experts]
        function = getattr(module.experts[0], "activation", torch.nn.functional.silu)
        yield ExpertParts(
            _of_list(maps, "gate") if "gate" in maps[0] else None,
            _of_list(maps, "up"),
            _of_list(maps, "down"),
            steps.on_arrays(function),
            getattr(function, "__name__", "activation"),
        )
        return
    own = dict(module.named_parameters(recurse=False))
    cubes = {name: parameter for name, parameter in own.items() if parameter.dim() == 3}
    first = next((name for name in cubes if "up" in name), None)
    last = next((name for name in cubes if "down" in name), None)
    function = next(iter(module.children()), None) or getattr(module, "act_fn", None)
    function_name, lift = type(function).__name__.removesuffix("Activation"), None
    if hasattr(module, "alpha") and hasattr(module, "limit"):
        function, lift, function_name = *_clipped_swish(module.alpha, module.limit), "swish, cut"
    if first is None or last is None or function is None:
        return
    for transposed, interleaved in product((False, True), (False, True)):
        outs = cubes[first].shape[2 if transposed else 1]
        if cubes[first].shape[1 if transposed else 2] != width or outs % 2:
            continue
        gate = slice(0, outs, 2) if interleaved else slice(0, outs // 2)
        up = slice(1, outs, 2) if interleaved else slice(outs // 2, outs)
        sides = [_of_cube(own, first, transposed, part) for part in (gate, up)]
        down = _of_cube(own, last, transposed, slice(None))
        yield ExpertParts(
            sides[0], sides[1], down, steps.on_arrays(function), function_name, None if lift is None else steps.on_arrays(lift)
        )


def _clipped_swish(alpha: float, limit: float) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the clipped gate x · sigmoid(alpha x), and x clipped at both ends plus one (GPT-OSS, OpenAI 2025)."""

    def gate(x: Any) -> Any:
        return x.clamp(max=limit) * (alpha * x.clamp(max=limit)).sigmoid()

    def up(x: Any) -> Any:
        return x.clamp(-limit, limit) + 1

    return gate, up


def _of_list(maps: Sequence[dict[str, Any]], name: str) -> Matrix:
    def of(expert: int) -> tuple[np.ndarray, np.ndarray | None]:
        part = maps[expert][name]
        return array(part.weight), None if part.bias is None else array(part.bias)

    return of


def _of_cube(own: dict[str, Any], name: str, transposed: bool, part: slice) -> Matrix:
    """Return one matrix of each expert, if they are stored as one block of numbers."""
    bias = own.get(f"{name}_bias")

    def of(expert: int) -> tuple[np.ndarray, np.ndarray | None]:
        weight = own[name][expert]
        return array(weight.T if transposed else weight)[part], None if bias is None else array(bias[expert])[part]

    return of
