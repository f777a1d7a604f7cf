"""Steps of a forward pass read as formulas: which map, which norm, which function a step is, tried out on its own numbers."""

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

    from models.watching import Node

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
BENDS = frozenset({"erf", "tanh", "sigmoid", "exp", "pow", "__pow__"})  # of the functions that are written out step by step


def flat(node: Node, count: int) -> np.ndarray | None:
    """What a step gave as [token, n]; None where tokens are not what it counts first."""
    value = node.value
    sizes = [size for size in value.shape if size != 1]
    if count != 1 and (not sizes or sizes[0] != count):
        return None
    return array(value).reshape(count, -1) if value.numel() else None


def apart(found: np.ndarray, recorded: np.ndarray) -> float:
    """How far numbers are from what was recorded, in shares of the largest of it, or of 1; two equal infinities are not."""
    if found.shape != recorded.shape:
        return np.inf
    with np.errstate(invalid="ignore"):
        each = np.where(found == recorded, 0.0, np.abs(found - recorded))
    size = max(1.0, float(np.abs(recorded[np.isfinite(recorded)]).max(initial=0.0)))
    most = float(each.max(initial=0.0)) / size
    return np.inf if np.isnan(most) else most


def close(found: np.ndarray, recorded: np.ndarray, near: float = NEAR) -> bool:
    """Whether numbers are what was recorded (see `apart`)."""
    return apart(found, recorded) <= near


def is_linear(node: Node) -> bool:
    return _map(node) is not None


def _map(node: Node) -> tuple[Tensor, Tensor | None] | None:
    """The weights of a linear map [out, in], and its bias."""
    if node.op == "linear":
        weight, bias = node.inputs[1], node.inputs[2] if len(node.inputs) > 2 else node.options.get("bias")
        return getattr(weight, "value"), None if bias is None else getattr(bias, "value")  # noqa: B009
    weight = getattr(node.module, "weight", None)
    if node.op != "module" or weight is None or weight.dim() != 2 or not node.value.is_floating_point():
        return None
    given = node.given
    if not given or not given[0].value.is_floating_point():
        return None
    width, out = given[0].value.shape[-1], node.value.shape[-1]
    straight = tuple(weight.shape) == (out, width) and type(node.module).__name__ != "Conv1D"
    if not straight and tuple(weight.shape) != (width, out):
        return None
    return weight if straight else weight.T, getattr(node.module, "bias", None)


def linear(node: Node, x: Stage, columns: np.ndarray | None = None) -> Linear:
    found = _map(node)
    assert found is not None, "asked for first"
    return Linear(x, matrix(found[0]), None if found[1] is None else array(found[1]), columns)


def is_norm(node: Node) -> bool:
    if node.op in ("layer_norm", "rms_norm"):
        return True
    own = [] if node.module is None else list(node.module.parameters(recurse=False))
    given = node.given
    same = bool(given) and given[0].value.shape == node.value.shape
    named = node.module is not None and "norm" in type(node.module).__name__.lower()
    return (
        node.op == "module"
        and same
        and node.value.is_floating_point()
        and all(one.dim() == 1 and (named or len(one) == node.value.shape[-1]) for one in own)
        and (bool(own) or named)
    )


def norm(node: Node, x: Stage, recorded: np.ndarray, positions: np.ndarray, near: float = NEAR) -> Norm | None:
    """The norm that gives best what this step gave at these positions, of all that are in use; None where none does."""
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
        rest = [one for one in (*node.inputs[2:], *node.options.values())]
        tensors = [array(one.value) for one in rest if hasattr(one, "value")]
        weight, bias = (*tensors, None, None)[:2]
        sizes: list[Any] = [one for one in rest if isinstance(one, float)]
    else:
        weight, bias = (None if (one := getattr(node.module, name, None)) is None else array(one) for name in ("weight", "bias"))
        names = ("eps", "variance_epsilon", "epsilon", "norm_eps", "layer_norm_epsilon")
        sizes = [getattr(node.module, name) for name in names if isinstance(getattr(node.module, name, None), float)]
    if weight is not None and weight.shape != x.rows(None).shape[-1:]:
        return
    plain = "rms" in (node.op if node.module is None else type(node.module).__name__).lower()  # which is tried first
    usual = [*sizes, 1e-6, 1e-5, 1e-12, float(np.finfo(np.float32).eps)]
    for centred, plus, eps in product((not plain, plain), (0.0, 1.0), usual):
        yield Norm(x, None if weight is None else weight + np.float32(plus), bias, float(eps), centred)


def is_activation(node: Node) -> bool:
    if node.op in SMOOTH:
        return True
    given = node.given
    return (
        node.op == "module"
        and not node.view
        and len(learned(node)) < 4
        and len(given) == 1
        and given[0].value.shape == node.value.shape
        and not is_norm(node)
    )


@dataclass(frozen=True)
class Written:
    """An activation that is written out in several steps of single numbers: x · ½ (1 + erf(x / √2)), say.

    start: what it is a function of; inner: the ids of the steps between that and the last one; name: of the step that bends.
    """

    start: Node
    inner: frozenset[int]
    name: str
    function: Callable[[np.ndarray], np.ndarray]


def written_out(end: Node) -> Written | None:
    """The activation that ends in this product, where both of its factors follow from the same map and from numbers alone."""
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
    return Written(start, frozenset(inner), bends, on_arrays(_replayed(end, start)))


def _replayed(end: Node, start: Node) -> Callable[..., Any]:
    """The steps from one to the other, once more, with other numbers."""
    import torch

    def run(value: Any) -> Any:
        def again(node: Any) -> Any:
            if not hasattr(node, "base"):
                return node
            if node.base is start:
                return value
            return getattr(torch.Tensor, node.base.op.rstrip("_") if node.base.op[0] != "_" else node.base.op)(
                *[again(one) for one in node.base.inputs]
            )

        return again(end)

    return run


def learned(node: Node) -> list[float]:
    """The numbers that a module has learned, if they are few."""
    own = [] if node.module is None else list(node.module.parameters(recurse=False))
    return [0.0] * 4 if any(one.dim() > 1 for one in own) else [float(one) for each in own for one in each.flatten()[:4]]


def activation(node: Node, x: Stage, here: np.ndarray) -> Activation | None:
    """With the model's own function; None for one that looks at more than one number at a time. here: a position to try it at."""
    import torch

    options = {key: one for key, one in node.options.items() if not hasattr(one, "value")}
    rest = [one for one in node.inputs[1:] if not hasattr(one, "value")]
    call: Callable[..., Any]
    if node.module is not None:
        call, name = node.module, type(node.module).__name__.removesuffix("Activation")
    else:
        name = node.op.rstrip("_")
        call = getattr(torch.nn.functional, name, None) or getattr(torch, name)

    function = on_arrays(call, *rest, **options)
    row = x.rows(here)
    try:  # of one number it gives what it gives of it among others
        same = close(function(row.ravel()[:1]), function(row).ravel()[:1], 1e-6)
    except RuntimeError:
        same = False
    return Activation(x, function, name) if same else None


def on_arrays(call: Callable[..., Any], *rest: object, **options: object) -> Callable[[np.ndarray], np.ndarray]:
    """A function of torch as one of arrays."""
    import torch

    def function(values: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return array(call(torch.tensor(values, dtype=torch.float32), *rest, **options))

    return function
