"""The formulas of single steps of a forward pass: the map, norm or function of a step, tested on its own numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.inside.formulas import Activation, Linear, Norm
from analysis.inside.stages import Stage
from analysis.inside.stored import array, matrix

if TYPE_CHECKING:
    from torch import Tensor

    from models.watching.steps import Node

NEAR = 1e-4
SMOOTH = frozenset(
    [
        "silu",
        "gelu",
        "relu",
        "tanh",
        "sigmoid",
        "elu",
        "softplus",
        "mish",
        "hardswish",
        "relu6",
        "leaky_relu",
        "relu_",
        "tanh_",
        "sigmoid_",
        "square",
    ]
)

SINGLE = frozenset({"mul", "div", "add", "sub", "neg", "__mul__", "__add__", "__radd__", "__rmul__", "__rsub__", "true_divide"})
BENDS = frozenset({"erf", "tanh", "sigmoid", "exp", "pow", "__pow__"})  # in functions that take several steps


def flat(node: Node, count: int) -> np.ndarray | None:
    """Return a step's output as [token, n]; None if its first axis does not count tokens."""
    value = node.value
    sizes = [size for size in value.shape if size != 1]
    if count != 1 and (not sizes or sizes[0] != count):
        return None
    return array(value).reshape(count, -1) if value.numel() else None


def apart(computed: np.ndarray, recorded: np.ndarray) -> float:
    """Return the distance of numbers from recorded ones, as a share of the largest of these or of 1; 0 for equal infinities."""
    if computed.shape != recorded.shape:
        return np.inf
    with np.errstate(invalid="ignore"):
        differences = np.where(computed == recorded, 0.0, np.abs(computed - recorded))
    size = max(1.0, float(np.abs(recorded[np.isfinite(recorded)]).max(initial=0.0)))
    most = float(differences.max(initial=0.0)) / size
    return np.inf if np.isnan(most) else most


def close(computed: np.ndarray, recorded: np.ndarray, near: float = NEAR) -> bool:
    """Return whether numbers are the recorded ones (see `apart`)."""
    return apart(computed, recorded) <= near


def is_linear(node: Node) -> bool:
    return _map(node) is not None


def _map(node: Node) -> tuple[Tensor, Tensor | None] | None:
    """Return the weights of a linear map [out, in], and its bias; None for another step."""
    if node.op == "linear":
        weight, bias = node.inputs[1], node.inputs[2] if len(node.inputs) > 2 else node.options.get("bias")
        return getattr(weight, "value"), None if bias is None else getattr(bias, "value")  # noqa: B009
    weight = getattr(node.module, "weight", None)
    if node.op != "module" or weight is None or weight.dim() != 2 or not node.value.is_floating_point():
        return None
    inputs = node.given
    if not inputs or not inputs[0].value.is_floating_point():
        return None
    width, out = inputs[0].value.shape[-1], node.value.shape[-1]
    straight = tuple(weight.shape) == (out, width) and type(node.module).__name__ != "Conv1D"
    if not straight and tuple(weight.shape) != (width, out):
        return None
    return weight if straight else weight.T, getattr(node.module, "bias", None)


def linear(node: Node, x: Stage, columns: np.ndarray | None = None) -> Linear:
    parts = _map(node)
    assert parts is not None, "asked for first"
    return Linear(x, matrix(parts[0]), None if parts[1] is None else array(parts[1]), columns)


def is_norm(node: Node) -> bool:
    if node.op in ("layer_norm", "rms_norm"):
        return True
    parameters = [] if node.module is None else list(node.module.parameters(recurse=False))
    inputs = node.given
    same = bool(inputs) and inputs[0].value.shape == node.value.shape
    has_norm_name = node.module is not None and "norm" in type(node.module).__name__.lower()
    return (
        node.op == "module"
        and same
        and node.value.is_floating_point()
        and all(parameter.dim() == 1 and (has_norm_name or len(parameter) == node.value.shape[-1]) for parameter in parameters)
        and (bool(parameters) or has_norm_name)
    )


def norm(node: Node, x: Stage, recorded: np.ndarray, positions: np.ndarray, near: float = NEAR) -> Norm | None:
    """Return the norm, of all that are in use, that best gives this step's output at these positions; None if none does."""
    best, least = None, near
    for rule in _norms(node, x):
        far = apart(rule.rows(positions), recorded)
        if far <= least:
            best, least = rule, far
        if far < 1e-6:
            break
    return best


def _norms(node: Node, x: Stage) -> Iterator[Norm]:
    if node.op in ("layer_norm", "rms_norm"):
        arguments = [argument for argument in (*node.inputs[2:], *node.options.values())]
        tensors = [array(argument.value) for argument in arguments if hasattr(argument, "value")]
        weight, bias = (*tensors, None, None)[:2]
        sizes: list[Any] = [argument for argument in arguments if isinstance(argument, float)]
    else:
        weight, bias = (
            None if (parameter := getattr(node.module, name, None)) is None else array(parameter) for name in ("weight", "bias")
        )
        names = ("eps", "variance_epsilon", "epsilon", "norm_eps", "layer_norm_epsilon")
        sizes = [getattr(node.module, name) for name in names if isinstance(getattr(node.module, name, None), float)]
    if weight is not None and weight.shape != x.rows(None).shape[-1:]:
        return
    rms_first = "rms" in (node.op if node.module is None else type(node.module).__name__).lower()  # the kind to try first
    usual = [*sizes, 1e-6, 1e-5, 1e-12, float(np.finfo(np.float32).eps)]
    for centred, plus, eps in product((not rms_first, rms_first), (0.0, 1.0), usual):
        yield Norm(x, None if weight is None else weight + np.float32(plus), bias, float(eps), centred)


def is_activation(node: Node) -> bool:
    if node.op in SMOOTH:
        return True
    inputs = node.given
    return (
        node.op == "module"
        and not node.view
        and len(few_parameters(node)) < 4
        and len(inputs) == 1
        and inputs[0].value.shape == node.value.shape
        and not is_norm(node)
    )


@dataclass(frozen=True)
class CompositeActivation:
    """An activation that takes several elementwise steps: x · ½ (1 + erf(x / √2)), say.

    start: its input; inner: the ids of the steps between that and the last one; name: of the non-linear step.
    """

    start: Node
    inner: frozenset[int]
    name: str
    function: Callable[[np.ndarray], np.ndarray]


def composite_activation(end: Node) -> CompositeActivation | None:
    """Return the activation that ends in this product, if both factors follow from one map and constants alone."""
    if end.op not in ("mul", "mul_", "__mul__") or len(end.given) != 2:
        return None
    start: Node | None = None
    inner: set[int] = set()
    bends, ahead = "", [view.base for view in end.given]
    for node in ahead:  # the list grows while it is walked
        if node.op in SINGLE | BENDS and len(node.given) == 1 and node.value.shape == end.value.shape:
            inner.add(id(node))
            bends = node.op if node.op in BENDS else bends
            ahead.append(node.given[0].base)
        elif start is None or start is node:
            start = node
        else:
            return None
    if start is None or not bends or not is_linear(start):
        return None
    return CompositeActivation(start, frozenset(inner), bends, on_arrays(_replay(end, start)))


def _replay(end: Node, start: Node) -> Callable[..., Any]:
    """Return a function that reruns the steps from one to another with other numbers."""
    import torch

    def run(value: Any) -> Any:
        def replay(node: Any) -> Any:
            if not hasattr(node, "base"):
                return node
            if node.base is start:
                return value
            return getattr(torch.Tensor, node.base.op.rstrip("_") if node.base.op[0] != "_" else node.base.op)(
                *[replay(argument) for argument in node.base.inputs]
            )

        return replay(end)

    return run


def few_parameters(node: Node) -> list[float]:
    """Return the parameters of a module, at most 4 of each; four zeros for one with a matrix."""
    parameters = [] if node.module is None else list(node.module.parameters(recurse=False))
    return (
        [0.0] * 4
        if any(parameter.dim() > 1 for parameter in parameters)
        else [float(number) for parameter in parameters for number in parameter.flatten()[:4]]
    )


def activation(node: Node, x: Stage, here: np.ndarray) -> Activation | None:
    """Return an activation that calls the model's own function; None if it is not elementwise. here: a position for the test."""
    import torch

    options = {name: option for name, option in node.options.items() if not hasattr(option, "value")}
    arguments = [value for value in node.inputs[1:] if not hasattr(value, "value")]
    call: Callable[..., Any]
    if node.module is not None:
        call, name = node.module, type(node.module).__name__.removesuffix("Activation")
    else:
        name = node.op.rstrip("_")
        call = getattr(torch.nn.functional, name, None) or getattr(torch, name)

    function = on_arrays(call, *arguments, **options)
    row = x.rows(here)
    try:  # an elementwise function gives the same for one number alone
        same = close(function(row.ravel()[:1]), function(row).ravel()[:1], 1e-6)
    except RuntimeError:
        same = False
    return Activation(x, function, name) if same else None


def on_arrays(call: Callable[..., Any], *arguments: object, **options: object) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function of torch as a function of arrays."""
    import torch

    def function(values: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return array(call(torch.tensor(values, dtype=torch.float32), *arguments, **options))

    return function
