"""Every step of a forward pass, kept while it is made: what was calculated from what, and by which weights.

A step is a function of torch, or a module that is taken as one step (a linear map, a norm, an activation, a table). Steps know
each other by the very tensors that went from one to the next, so that nothing has to be guessed from a model's name. Only parts
of a pass are kept: what comes before the blocks, one block, and what comes after the last one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from models.recorder import Call, active

# They give the numbers that they were given, in another order or another type, or a part of them.
_VIEWS = """
view reshape transpose permute contiguous squeeze unsqueeze expand flatten unflatten chunk split unbind __getitem__ __get__ to
float type_as dropout clone narrow swapaxes movedim expand_as view_as detach repeat_interleave broadcast_to select unsafe_chunk
unsafe_split tensor_split type double half bfloat16 t
"""
VIEWS = frozenset(_VIEWS.split())


@dataclass(eq=False)
class Node:
    """One step. op: the name of torch's function, or "module"; "start" and "given" for what came from outside.

    inputs: its arguments in order, nodes where they were tensors; options: those with names. value: what came out, with its batch
    dimension. module: what was taken as one step, and its name in the network.
    """

    op: str
    value: Tensor
    inputs: tuple[object, ...] = ()
    options: dict[str, object] = field(default_factory=dict)
    module: nn.Module | None = None
    name: str = ""

    @property
    def view(self) -> bool:
        return self.op in VIEWS or isinstance(self.module, nn.Identity | nn.Dropout)

    @property
    def base(self) -> Node:
        """The step whose numbers these are."""
        node = self
        while node.view and node.inputs and isinstance(node.inputs[0], Node):
            node = node.inputs[0]
        return node

    @property
    def given(self) -> list[Node]:
        """The nodes among its arguments."""
        found, ahead = [], [*self.inputs, *self.options.values()]
        for one in ahead:  # the list grows while it is walked
            if isinstance(one, Node):
                found.append(one)
            elif isinstance(one, tuple):
                ahead.extend(one)
        return found


@dataclass(eq=False)
class Section:
    """A part of a forward pass. start: what it was given; end: what it handed on; nodes: its steps; calls: of attention."""

    nodes: list[Node] = field(default_factory=list)
    start: Node | None = None
    end: Node | None = None
    calls: list[Call] = field(default_factory=list)
    _of: dict[int, tuple[Tensor, Node]] = field(default_factory=dict, repr=False)

    def node(self, tensor: Tensor) -> Node:
        """The step that made a tensor; of one that came from outside, a node "given"."""
        if id(tensor) not in self._of:
            self.keep(tensor, Node("given", tensor))
        return self._of[id(tensor)][1]

    def keep(self, tensor: Tensor, node: Node) -> None:
        self._of[id(tensor)] = tensor, node  # the tensor too, so that no other gets its identity

    def knows(self, tensor: Tensor | None) -> bool:
        return tensor is not None and id(tensor) in self._of


@dataclass(eq=False)
class Watched:
    """What one forward pass did: before its blocks, and in one block.

    after: after the last block, where the pass went so far. head: from the stream to logits, for some positions; None without
    a language-model head. memory: what a decoder looks at [position, d_model], None where there is none.
    """

    before: Section
    block: Section
    after: Section | None = None
    head: Section | None = None
    memory: Tensor | None = None


class Watcher(TorchFunctionMode):
    """Notes what torch does in this thread while `section` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.section: Section | None = None
        self.inside = 0  # a module that is taken as one step

    def __torch_function__(
        self, function: Callable[..., Any], types: Collection[type], args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        section = None if self.inside else self.section
        if section is not None and name.endswith("_") and not name.endswith("__"):
            self.save(section, args[0])
        out = function(*args, **kwargs)
        if section is not None:
            self.note(section, name, args, kwargs, out)
        return out

    def save(self, section: Section, tensor: object) -> None:
        """A copy of numbers that are about to be overwritten, for the steps that gave them."""
        if isinstance(tensor, Tensor) and section.knows(tensor):
            node = section.node(tensor)
            while node.view and node.inputs and isinstance(node.inputs[0], Node):
                node.value, node = node.value.clone(), node.inputs[0]
            node.value = node.value.clone()

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
        outs = [one for one in (out if isinstance(out, tuple | list) else [out]) if isinstance(one, Tensor)]
        if not outs:
            return
        inputs = tuple(self.of(section, one) for one in args)
        options = {key: self.of(section, one) for key, one in kwargs.items()}
        for part, tensor in enumerate(outs):
            node = Node(op, tensor, inputs, options | ({"part": part} if len(outs) > 1 else {}), module, name)
            section.nodes.append(node)
            section.keep(tensor, node)

    def of(self, section: Section, argument: object) -> object:
        """An argument with nodes where there were tensors."""
        if isinstance(argument, tuple | list):
            return tuple(self.of(section, one) for one in argument)
        return section.node(argument) if isinstance(argument, Tensor) else argument

    def hook(self, network: nn.Module) -> None:
        """Take the modules of a private network that can be taken as one step as one."""
        for name, module in network.named_modules():
            if not _one_step(module):
                continue
            taken: list[bool] = []

            def enter(module: nn.Module, args: Sequence, kwargs: dict, taken: list[bool] = taken) -> None:
                taken.append(_alone(module, args, kwargs))
                if taken[-1]:
                    self.inside += 1

            def leave(
                module: nn.Module, args: Sequence, kwargs: dict, out: object, taken: list[bool] = taken, name: str = name
            ) -> None:
                if taken.pop():
                    self.inside -= 1
                    if self.section is not None and not self.inside:
                        self.note(self.section, "module", args, kwargs, out, module, name)

            module.register_forward_pre_hook(enter, with_kwargs=True)
            module.register_forward_hook(leave, with_kwargs=True)


def _one_step(module: nn.Module) -> bool:
    own = list(module.parameters(recurse=False))
    mixture = hasattr(module, "router") and isinstance(getattr(module, "experts", None), nn.ModuleList)
    inner = any(True for child in module.children() for _ in child.parameters())
    cubes = sum(one.dim() == 3 for one in own) > 1 and not inner  # all experts in one
    return not any(True for _ in module.children()) or cubes or mixture


def _alone(module: nn.Module, args: Sequence, kwargs: dict) -> bool:
    """Whether what it is given now is one stream, and not the parts of an attention."""
    given = [one for one in (*args, *kwargs.values()) if isinstance(one, Tensor)]
    own = any(True for _ in module.parameters(recurse=False))
    return bool(given) and (len(given) == 1 or (own and given[0].dim() < 4))


def private(network: nn.Module, *others: object) -> tuple:
    """The network, and what else speaks of its modules, with modules of their own and the same weights: for hooks that nobody
    else may meet."""
    shared = {id(one): one for one in (*network.parameters(), *network.buffers())}
    return copy.deepcopy((network, *others), shared)


class _Enough(Exception):
    """All that was wanted of a pass has been seen."""


def watch(network: nn.Module, layers: Sequence[nn.Module], target: int, run: Callable[[], Tensor], whole: bool = True) -> Watched:
    """Watch a forward pass, which a record is being made of, through a private network.

    layers: what the stack runs, in order; target: which of them is to be kept; run: the pass; gives the last tensor that counts.
    whole: whether the pass goes on to its end after that layer.
    """
    watcher, ran, before = Watcher(), 0, 0
    found = Watched(Section(), Section(), Section() if whole else None)

    def enter(module: nn.Module, args: Sequence, kwargs: dict) -> None:
        nonlocal before
        stream = args[0] if args else kwargs["hidden_states"]
        if ran == 0:
            found.before.end, watcher.section = found.before.node(stream), None
        if ran == target:
            _begin(found.block, stream)
            before = len(_calls())
            watcher.section = found.block

    def leave(module: nn.Module, args: Sequence, kwargs: dict, out: Any) -> None:
        nonlocal ran
        stream = out[0] if isinstance(out, tuple | list) else out
        if ran == target:
            found.block.end, watcher.section = found.block.node(stream), None
            found.block.calls = _calls()[before:]
            if not whole:
                raise _Enough
        ran += 1
        if ran == len(layers) and found.after is not None:
            _begin(found.after, stream)
            watcher.section = found.after

    hooks = []
    for layer in {id(layer): layer for layer in layers}.values():
        hooks.append(layer.register_forward_pre_hook(enter, with_kwargs=True))
        hooks.append(layer.register_forward_hook(leave, with_kwargs=True))
    watcher.hook(network)
    watcher.section = found.before
    try:
        with watcher:
            out = run()
        if found.after is not None:
            found.after.end = found.after.node(out)
    except _Enough:
        pass
    watcher.section = None  # modules hold their hooks, and those the watcher: a section goes when nobody reads it
    for hook in hooks:
        hook.remove()
    return found


def watch_rows(network: nn.Module, rows: Tensor, run: Callable[[Tensor], Tensor]) -> Section:
    """Watch the way of rows of the stream through what follows the blocks; run gives its end."""
    watcher, section = Watcher(), Section()
    _begin(section, rows)
    watcher.hook(network)
    watcher.section = section
    with watcher:
        out = run(rows)
    section.end, watcher.section = section.node(out), None
    return section


def _begin(section: Section, stream: Tensor) -> None:
    section.start = Node("start", stream)
    section.keep(stream, section.start)


def _calls() -> list[Call]:
    """Those of the record that is being made."""
    record = active()
    assert record is not None, "who watches a pass records it"
    return record.calls
