"""Where the attention and the residual stream of a network are: found by letting it read a few tokens, whatever its parts' names.

A block is what a stack of layers repeats: the outermost element of a ModuleList that holds a single self-attention. Each
gets one wrapper, which notes the stream when somebody records, and which can be told to skip the block. With all blocks
skipped and the stream given, what is left of the forward pass is the model's own way from the stream to the logits: final
norm, projections, soft-capping and all.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor, nn

from models.errors import ModelError
from models.recorder import Record, active, recording

_given: contextvars.ContextVar[Tensor | None] = contextvars.ContextVar("headlight_given", default=None)

SOURCE, TARGET = 7, 5  # tokens to probe with: different numbers, so that shapes tell cross-attention from self-attention


@dataclass(frozen=True)
class Layout:
    """calls: for each attention call of a forward pass, in order, its kind: "self", or "encoder", "decoder", "cross".

    blocks: the blocks of each stack ("self", or "encoder" and "decoder"), in order.
    """

    calls: tuple[str, ...]
    blocks: dict[str, list[nn.Module]]
    heads: dict[str, int]  # of each kind of attention
    others: int = 0  # layers of the same stacks that hold no attention, such as state-space layers

    def split(self, record: Record, without: str | None = None, of: list | None = None) -> dict[str, list]:
        """The calls of a forward pass by their kind, or the values `of` them. without: a kind that was not run this time.

        Errors: RuntimeError when they are not as many as in the probe.
        """
        kinds = [kind for kind in self.calls if kind != without]
        if len(record.calls) != len(kinds):
            raise RuntimeError(f"{len(record.calls)} attention calls where the probe found {len(kinds)}.")
        found: dict[str, list] = {}
        for kind, call in zip(kinds, record.calls if of is None else of, strict=True):
            found.setdefault(kind, []).append(call)
        return found


@dataclass
class Visit:
    """One execution of a module: which attention calls happened inside it."""

    name: str
    module: nn.Module
    start: int
    end: int = 0


def find(network: nn.Module, run: Callable[[], object], pairs: bool) -> Layout:
    """Probe a network. run: a forward pass over SOURCE tokens (and TARGET ones in the decoder when `pairs`).

    Errors: ModelError when no attention of the expected shape, or no repeated blocks around it, can be found.
    """
    with recording() as record, visiting(network, record) as visits:
        run()
    calls = [call.shape[1:] for call in record.calls]
    kinds = {(SOURCE, SOURCE): "encoder", (TARGET, TARGET): "decoder", (TARGET, SOURCE): "cross"} if pairs else {}
    kinds = kinds or {(SOURCE, SOURCE): "self"}
    if not calls or any(shape not in kinds for shape in calls) or {kinds[shape] for shape in calls} != set(kinds.values()):
        what = "has no attention that Headlight could show" if not calls else "has attention of a form that Headlight cannot show"
        raise ModelError(
            f"{type(network).__name__} {what}. Choose a model of another architecture, such as GPT-2, Llama, BERT or T5."
        )
    named = tuple(kinds[shape] for shape in calls)
    blocks: dict[str, list[nn.Module]] = {}
    for i, kind in enumerate(named):
        if kind != "cross":
            blocks.setdefault(kind, []).append(_block(network, visits, named, i))
    found = {id(block) for stack in blocks.values() for block in stack}
    stacks = [[id(one) for one in part] for part in network.modules() if isinstance(part, nn.ModuleList)]
    others = sum(len(set(stack) - found) for stack in stacks if found & set(stack))
    heads = {kind: call.shape[0] for kind, call in zip(named, record.calls, strict=True)}
    return Layout(named, blocks, heads, others)


def _block(network: nn.Module, visits: list[Visit], kinds: tuple[str, ...], call: int) -> nn.Module:
    """The outermost element of a ModuleList around this call that holds no other self-attention."""
    for visit in visits:  # in order of entry, so the outermost comes first
        if visit.start <= call < visit.end:
            inside = [kind for kind in kinds[visit.start : visit.end] if kind != "cross"]
            parent = network.get_submodule(visit.name.rpartition(".")[0])
            if len(inside) == 1 and isinstance(parent, (nn.ModuleList, nn.Sequential)):
                return visit.module
    raise ModelError(f"Headlight cannot find the layers of {type(network).__name__}: none of its parts repeats.")


@contextlib.contextmanager
def visiting(network: nn.Module, record: Record):
    """Collects every execution of a module inside the `with` block."""
    visits: list[Visit] = []
    handles = []
    open_: list[Visit] = []
    for name, module in network.named_modules():

        def enter(module, args, name=name):
            visit = Visit(name, module, len(record.calls))
            visits.append(visit)
            open_.append(visit)

        def leave(module, args, out):
            open_.pop().end = len(record.calls)

        handles += [module.register_forward_pre_hook(enter), module.register_forward_hook(leave)]
    try:
        yield visits
    finally:
        for handle in handles:
            handle.remove()


@dataclass
class Stream:
    """What the blocks of a network are told and tell: installed once, inert when nobody records."""

    layout: Layout
    shape: dict[int, int] = field(default_factory=dict)  # block -> how many values it returns; 0: a bare tensor

    def install(self) -> None:
        for stack, blocks in self.layout.blocks.items():
            for block in {id(block): block for block in blocks}.values():  # ALBERT has one block in all layers
                block.forward = self._around(block, block.forward, stack)

    def _around(self, block: nn.Module, forward: Callable, stack: str) -> Callable:
        def around(*args, **kwargs):
            if (given := _given.get()) is not None:
                values = self.shape[id(block)]
                return (given,) + (None,) * (values - 1) if values else given
            out = forward(*args, **kwargs)
            if (record := active()) is not None:
                self.shape[id(block)] = len(out) if isinstance(out, tuple) else 0
                stream = record.hidden.setdefault(stack, [])
                if not stream:
                    stream.append(_positions(args[0] if args else kwargs["hidden_states"]))
                stream.append(_positions(out[0] if isinstance(out, tuple) else out))
            return out

        return around


@contextlib.contextmanager
def skipping(stream: Tensor):
    """Inside the `with` block every block gives this stream [1, position, d_model] instead of computing."""
    token = _given.set(stream)
    try:
        yield
    finally:
        _given.reset(token)


def _positions(stream: Tensor) -> Tensor:
    """[position, d_model] of a batch of one, wherever the network puts its batch dimension."""
    return stream.flatten(0, 1) if 1 in stream.shape[:2] else stream[0]
