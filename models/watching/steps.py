"""The steps of a watched forward pass: what was calculated from what, and by which weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from torch import Tensor, nn

from models.attention.recorded_call import Call

# Functions whose result has the numbers of their argument, in another order or another type, or a part of them.
_VIEWS = """
view reshape transpose permute contiguous squeeze unsqueeze expand flatten unflatten chunk split unbind __getitem__ __get__ to
float type_as dropout clone narrow swapaxes movedim expand_as view_as detach repeat_interleave broadcast_to select unsafe_chunk
unsafe_split tensor_split type double half bfloat16 t
"""


VIEWS = frozenset(_VIEWS.split())


@dataclass(eq=False)
class Node:
    """One step. op: the name of torch's function, or "module"; "start" and "given" for values from outside.

    inputs: its arguments in order, nodes where they were tensors; options: its keyword arguments. value: its output, with the
    batch dimension. module: the module that was taken as one step, and its name in the network.
    """

    op: str
    value: Tensor
    inputs: tuple[object, ...] = ()
    options: dict[str, object] = field(default_factory=dict)
    module: nn.Module | None = None
    name: str = ""

    @cached_property
    def view(self) -> bool:
        return self.op in VIEWS or isinstance(self.module, nn.Identity | nn.Dropout)

    @cached_property
    def base(self) -> Node:
        """The step that calculated these numbers: the first before a chain of views."""
        node = self
        while node.view and node.inputs and isinstance(node.inputs[0], Node):
            node = node.inputs[0]
        return node

    @cached_property
    def given(self) -> list[Node]:
        """The nodes among its arguments."""
        nodes, ahead = [], [*self.inputs, *self.options.values()]
        for argument in ahead:  # the list grows while it is walked
            if isinstance(argument, Node):
                nodes.append(argument)
            elif isinstance(argument, tuple):
                ahead.extend(argument)
        return nodes


@dataclass(eq=False)
class Section:
    """A part of a forward pass. start: its input; end: its output; nodes: its steps; calls: of attention."""

    nodes: list[Node] = field(default_factory=list)
    start: Node | None = None
    end: Node | None = None
    calls: list[Call] = field(default_factory=list)
    _of: dict[int, tuple[Tensor, Node]] = field(default_factory=dict, repr=False)

    def node(self, tensor: Tensor) -> Node:
        """Return the step that made a tensor; for a tensor from outside, a node "given"."""
        if id(tensor) not in self._of:
            self.keep(tensor, Node("given", tensor))
        return self._of[id(tensor)][1]

    def keep(self, tensor: Tensor, node: Node) -> None:
        self._of[id(tensor)] = tensor, node  # the tensor too, so that no other gets its identity

    def knows(self, tensor: Tensor | None) -> bool:
        return tensor is not None and id(tensor) in self._of


@dataclass(eq=False)
class Watched:
    """The steps of one forward pass: before its blocks, and in one block.

    after: the steps after the last block, if the pass went that far. head: from the stream to logits, for some positions; None
    without a language-model head. memory: the encoder's output that a decoder looks at [position, d_model], None where there is
    none. handed: whether the block's input is the output of the one before it, with nothing between them.
    """

    before: Section
    block: Section
    after: Section | None = None
    head: Section | None = None
    memory: Tensor | None = None
    handed: bool = True
