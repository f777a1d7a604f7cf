"""Records every step of a forward pass: what was calculated from what, and by which weights.

A step is a function of torch, or a module that is taken as one step (a linear map, a norm, an activation, a table). Steps are
connected by the tensor objects that pass from one to the next, so nothing has to be guessed from a model's name. Only parts of a
pass are kept: the steps before the blocks, one block, and the steps after the last block.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from models.attention.recorded_call import Call
from models.attention.recorder import active
from models.watching.steps import Node, Section, Watched

NEAR, NEAR_IN_16_BITS = 1e-5, 1e-2  # how far a layer's output may be from the last one, as a share of the largest number


_watching: ContextVar[Watcher | None] = ContextVar("headlight_watching", default=None)


class Watcher(TorchFunctionMode):
    """Notes what torch does in this thread while `section` is set.

    layers: those of the stack, in order; target: the one to record. stream: the input of the target [1, position, d_model], with
    which no layer before it needs to run; None: they run.
    """

    def __init__(self, layers: Sequence[nn.Module] = (), target: int = 0, stream: Tensor | None = None, whole: bool = True):
        super().__init__()
        self.section: Section | None = None
        self.inside = 0  # modules that are taken as one step
        self.single_steps: list[bool] = []  # of each running module, whether it is taken as one step
        self.layers, self.target, self.stream, self.ran = frozenset(map(id, layers)), target, stream, 0
        self.last = len(layers)
        self.gave: Tensor | None = None  # the layer that ran last
        self.watched = Watched(Section(), Section(), Section() if whole else None)

    def __enter__(self) -> Watcher:
        self.token = _watching.set(self)
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        _watching.reset(self.token)
        super().__exit__(*error)

    def __torch_function__(
        self, function: Callable[..., Any], types: Collection[type], args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        section = None if self.inside else self.section
        overwritten: list[tuple[Tensor, Node]] = []
        if section is not None and (name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))):
            overwritten = self.save(section, args[0])
        out = function(*args, **kwargs)
        if section is not None:
            self.note(section, name, args, kwargs, out)
            self.note_overwritten(
                section, overwritten if name == "__setitem__" else overwritten[1:], args[-1] if name == "__setitem__" else out
            )
        return out

    def save(self, section: Section, tensor: object) -> list[tuple[Tensor, Node]]:
        """Copy numbers that are about to be overwritten, for the steps that made them; return the tensors that change too."""
        overwritten = []
        if isinstance(tensor, Tensor) and section.knows(tensor):
            node = section.node(tensor)
            overwritten.append((tensor, node))
            while node.view and node.inputs and isinstance(node.inputs[0], Node):
                node.value, node = node.value.clone(), node.inputs[0]
                overwritten.append((node.value, node))
            node.value = node.value.clone()
        return overwritten

    def note_overwritten(self, section: Section, changed: list[tuple[Tensor, Node]], by: object) -> None:
        """Note overwritten tensors as steps of their own, with their old values and the values that were written."""
        for tensor, before in changed:
            whole = isinstance(by, Tensor) and by.numel() == tensor.numel()
            node = Node(
                "view" if whole else "written", tensor, (self.of(section, by),) if whole else (before, self.of(section, by))
            )
            section.nodes.append(node)
            section.keep(tensor, node)

    def note(
        self,
        section: Section,
        op: str,
        args: Sequence,
        kwargs: dict,
        out: object,
        module: nn.Module | None = None,
        name: str = "",
    ) -> None:
        outs = [output for output in (out if isinstance(out, tuple | list) else [out]) if isinstance(output, Tensor)]
        if not outs:
            return
        inputs = tuple(self.of(section, argument) for argument in args)
        options = {key: self.of(section, argument) for key, argument in kwargs.items()}
        for part, tensor in enumerate(outs):
            node = Node(op, tensor, inputs, options | ({"part": part} if len(outs) > 1 else {}), module, name)
            section.nodes.append(node)
            section.keep(tensor, node)

    def of(self, section: Section, argument: object) -> object:
        """Return an argument with each tensor replaced by its node."""
        if isinstance(argument, tuple | list):
            return tuple(self.of(section, element) for element in argument)
        return section.node(argument) if isinstance(argument, Tensor) else argument

    def enter_layer(self, module: nn.Module, args: Sequence, kwargs: dict) -> None:
        if id(module) not in self.layers:
            return
        stream, watched = args[0] if args else kwargs["hidden_states"], self.watched
        if self.ran == 0:
            watched.before.end, self.section = watched.before.node(stream), None
        if self.ran == self.target:
            watched.handed = self.gave is None or stream is self.gave or bool(torch.equal(stream, self.gave))
            _begin(watched.block, stream)
            self.before = len(_calls())
            self.section = watched.block

    def leave_layer(self, module: nn.Module, args: Sequence, kwargs: dict, out: Any) -> None:
        if id(module) not in self.layers:
            return
        stream, watched = out[0] if isinstance(out, tuple | list) else out, self.watched
        if self.ran == self.target:
            watched.block.end, self.section = watched.block.node(stream), None
            watched.block.calls = _calls()[self.before :]
            if watched.after is None:
                raise _Enough
        self.ran, self.gave = self.ran + 1, stream
        if self.ran == self.last and watched.after is not None:
            _begin(watched.after, stream)
            self.section = watched.after

    def enter(self, module: nn.Module, args: Sequence, kwargs: dict) -> None:
        self.single_steps.append(_alone(module, args, kwargs))
        self.inside += self.single_steps[-1]

    def leave(self, module: nn.Module, args: Sequence, kwargs: dict, out: object, name: str) -> None:
        if self.single_steps.pop():
            self.inside -= 1
            if self.section is not None and not self.inside:
                self.note(self.section, "module", args, kwargs, out, module, name)


def _one_step(module: nn.Module) -> bool:
    own = list(module.parameters(recurse=False))
    mixture = hasattr(module, "router") and isinstance(getattr(module, "experts", None), nn.ModuleList)
    inner = any(True for child in module.children() for _ in child.parameters())
    cubes = sum(parameter.dim() == 3 for parameter in own) > 1 and not inner  # all experts in one
    return not any(True for _ in module.children()) or cubes or mixture


def _alone(module: nn.Module, args: Sequence, kwargs: dict) -> bool:
    """Return whether a module's argument is one stream, and not the parts of an attention."""
    tensors = [argument for argument in (*args, *kwargs.values()) if isinstance(argument, Tensor)]
    own = any(True for _ in module.parameters(recurse=False))
    return bool(tensors) and (len(tensors) == 1 or (own and tensors[0].dim() < 4))


def private(network: nn.Module, *others: object) -> tuple:
    """Copy the network, and objects that refer to its modules, with the same weights: the copy can be hooked without affecting
    other readings."""
    shared = {id(tensor): tensor for tensor in (*network.parameters(), *network.buffers())}
    return copy.deepcopy((network, *others), shared)


@dataclass(eq=False)
class Private:
    """A network to be watched. number: the condition of the network that it copies; layout: the places of its layers, for one of
    transformers; skips: whether a layer may be run without those before it, as far as is known."""

    number: int | None
    network: Any
    layout: Any = None
    skips: bool = True

    def near(
        self,
        layers: Sequence[nn.Module],
        target: int,
        run: Callable[[], Tensor],
        whole: bool,
        stream: tuple[Tensor, Tensor] | None,
    ) -> Watched:
        """Watch a pass, without running the layers before the target if the result stays the same.

        stream: input and output of the target when the text was read [position, d_model], None where they are not known.
        """
        if stream is None or not self.skips or not target:
            return watch(layers, target, run, whole)
        stream_in, stream_out = stream
        watched = watch(layers, target, run, whole, stream_in[None])
        assert watched.block.end is not None, "the target has run"
        out = watched.block.end.value
        near = NEAR if out.dtype == torch.float32 else NEAR_IN_16_BITS
        difference = float((out.reshape(stream_out.shape).float() - stream_out.float()).abs().max())
        if difference <= near * max(1.0, float(stream_out.abs().max())):
            return watched
        self.skips = False
        return watch(layers, target, run, whole)


def hook(network: nn.Module, layers: Iterable[nn.Module]) -> None:
    """Hook a private network, whose stacks run these layers, so that it reports to the watcher in its thread, if there is one."""

    def enter(module: nn.Module, args: Sequence, kwargs: dict) -> None:
        if (watcher := _watching.get()) is not None:
            watcher.enter(module, args, kwargs)

    def enter_layer(module: nn.Module, args: Sequence, kwargs: dict) -> None:
        if (watcher := _watching.get()) is not None:
            watcher.enter_layer(module, args, kwargs)

    def leave_layer(module: nn.Module, args: Sequence, kwargs: dict, out: Any) -> None:
        if (watcher := _watching.get()) is not None:
            watcher.leave_layer(module, args, kwargs, out)

    for layer in {id(layer): layer for layer in layers}.values():
        layer.forward = _skippable(layer, layer.forward)
        layer.register_forward_pre_hook(enter_layer, with_kwargs=True)
        layer.register_forward_hook(leave_layer, with_kwargs=True)
    for name, module in network.named_modules():
        if not _one_step(module):
            continue

        def leave(module: nn.Module, args: Sequence, kwargs: dict, out: object, name: str = name) -> None:
            if (watcher := _watching.get()) is not None:
                watcher.leave(module, args, kwargs, out, name)

        module.register_forward_pre_hook(enter, with_kwargs=True)
        module.register_forward_hook(leave, with_kwargs=True)


def _skippable(layer: nn.Module, forward: Callable) -> Callable:
    def skippable(*args: Any, **kwargs: Any) -> Any:
        watcher = _watching.get()
        skips = watcher is not None and id(layer) in watcher.layers and watcher.ran < watcher.target
        return watcher.stream if watcher is not None and skips and watcher.stream is not None else forward(*args, **kwargs)

    return skippable


class _Enough(Exception):
    """Ends a pass early: everything wanted has been recorded."""


def watch(
    layers: Sequence[nn.Module], target: int, run: Callable[[], Tensor], whole: bool = True, stream: Tensor | None = None
) -> Watched:
    """Watch a forward pass, which is being recorded too, through a private network that was hooked.

    layers: those of the stack, in order; target: the one to record; run: runs the pass and returns its last tensor of interest.
    whole: whether the pass goes on to its end after that layer. stream: as `Watcher` takes it.
    """
    watcher = Watcher(layers, target, stream, whole)
    watched = watcher.watched
    watcher.section = watched.before
    try:
        with watcher:
            out = run()
        if watched.after is not None:
            watched.after.end = watched.after.node(out)
    except _Enough:
        pass
    return watched


def watch_rows(rows: Tensor, run: Callable[[Tensor], Tensor]) -> Section:
    """Watch rows of the stream pass through the layers after the blocks of a private network; run returns the result."""
    watcher, section = Watcher(), Section()
    _begin(section, rows)
    watcher.section = section
    with watcher:
        out = run(rows)
    section.end = section.node(out)
    return section


def _begin(section: Section, stream: Tensor) -> None:
    section.start = Node("start", stream)
    section.keep(stream, section.start)


def _calls() -> list[Call]:
    """Return the calls of the record that is being made."""
    record = active()
    assert record is not None, "who watches a pass records it"
    return record.calls
