"""The places of attention and residual stream in a network, found by letting it read a few tokens, whatever its parts' names.

A block is what a stack of layers repeats: the outermost element of a ModuleList that holds a single self-attention. A stack
may hold layers without attention beside them (state spaces, convolutions). Each layer gets one wrapper, which notes the stream
while a recorder is active, and can skip the layer. With all layers skipped and the stream given, the rest of the forward pass is
the model's own way from the stream to the logits: final norm, projections, soft-capping and all.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from models.attention.recorder import EditPlan, Record, active, recording
from models.errors import ModelError

_replacement: contextvars.ContextVar[Replacement | None] = contextvars.ContextVar("headlight_given", default=None)

CHOOSE = "Choose a model of another architecture, such as GPT-2, Llama, BERT or T5."
SOURCE, TARGET = 7, 5  # tokens to probe with: different numbers, so that shapes tell cross-attention from self-attention


@dataclass(frozen=True)
class Layout:
    """The calls, blocks and layers of a network, in the order in which they run.

    calls: for each attention call of a forward pass, in order, its kind: "self", or "encoder", "decoder", "cross".

    blocks: the blocks of each stack ("self", or "encoder" and "decoder"), in order; layers: all layers of these stacks in the
    order in which they run, those without attention too.
    """

    calls: tuple[str, ...]
    blocks: dict[str, list[nn.Module]]
    counts: dict[str, tuple[int, ...]]  # heads of each layer, of each kind of attention
    layers: dict[str, list[nn.Module]]

    @property
    def others(self) -> int:
        """Layers of the same stacks that hold no attention, such as state-space layers."""
        return sum(len(stack) - len(self.blocks[name]) for name, stack in self.layers.items())

    def numbers(self, stack: str) -> tuple[int, ...]:
        """Return the number of each block among all layers of its stack; () where every layer is a block."""
        places = {id(layer): number for number, layer in reversed(list(enumerate(self.layers[stack])))}
        numbers = tuple(places[id(block)] for block in self.blocks[stack])
        return numbers if len(self.layers[stack]) > len(numbers) and len(set(numbers)) == len(numbers) else ()

    def tail(self, stack: str) -> list[nn.Module]:
        """Return the layers of a stack after its last block."""
        last = max(i for i, layer in enumerate(self.layers[stack]) if layer is self.blocks[stack][-1])
        return self.layers[stack][last + 1 :]

    def hidden(self, record: Record, stack: str) -> list[Tensor]:
        """Return the recorded stream after the embedding, then after each block of a stack: [position, d_model] each.

        Errors: RuntimeError when they are not as many as in the probe.
        """
        noted, layers = record.hidden[stack], self.layers[stack]
        if len(noted) != len(layers) + 1:
            raise RuntimeError(f"{len(noted) - 1} layers ran where the probe found {len(layers)}.")
        blocks = {id(block) for block in self.blocks[stack]}
        return [noted[0], *(noted[i + 1] for i, layer in enumerate(layers) if id(layer) in blocks)]

    @property
    def places(self) -> dict[str, list[int]]:
        """The number of layers that ran before each state of a stack's stream: after the embedding (0), then after each block."""
        places = {}
        for stack, layers in self.layers.items():
            blocks = {id(block) for block in self.blocks[stack]}
            places[stack] = [0, *(i + 1 for i, layer in enumerate(layers) if id(layer) in blocks)]
        return places

    @property
    def order(self) -> list[tuple[str, int]]:
        """The kind of each attention call of a forward pass, and its layer."""
        return [(kind, self.calls[:i].count(kind)) for i, kind in enumerate(self.calls)]

    def split(self, record: Record, without: str | None = None, of: list | None = None) -> dict[str, list]:
        """Return the calls of a forward pass by their kind, or the values `of` them. without: a kind that did not run.

        Errors: RuntimeError when they are not as many as in the probe.
        """
        kinds = [kind for kind in self.calls if kind != without]
        if len(record.calls) != len(kinds):
            raise RuntimeError(f"{len(record.calls)} attention calls where the probe found {len(kinds)}.")
        by_kind: dict[str, list] = {}
        for kind, call in zip(kinds, record.calls if of is None else of, strict=True):
            by_kind.setdefault(kind, []).append(call)
        return by_kind


@dataclass
class Visit:
    """One execution of a module, with the numbers of the first attention call inside it and of the first after it."""

    name: str
    module: nn.Module
    start: int
    end: int = 0


def find(network: nn.Module, run: Callable[[], object], pairs: bool, source: int = SOURCE) -> Layout:
    """Probe a network and return its layout. run: a forward pass over `source` tokens (with `pairs`, TARGET in the decoder).

    Errors: ModelError when no attention of the expected shape, or no repeated blocks around it, can be found.
    """
    with recording() as record, visiting(network, record) as visits:
        run()
    calls = [call.shape[1:] for call in record.calls]
    kinds = {(source, source): "encoder", (TARGET, TARGET): "decoder", (TARGET, source): "cross"} if pairs else {}
    kinds = kinds or {(source, source): "self"}
    _check_shapes(type(network).__name__, calls, kinds, source)
    call_kinds = tuple(kinds[shape] for shape in calls)
    blocks: dict[str, list[nn.Module]] = {}
    for i, kind in enumerate(call_kinds):
        if kind != "cross":
            blocks.setdefault(kind, []).append(_block(network, visits, call_kinds, i))
    counts = {
        kind: tuple(call.shape[0] for name, call in zip(call_kinds, record.calls, strict=True) if name == kind)
        for kind in call_kinds
    }
    return Layout(
        call_kinds, blocks, counts, {stack: _layers(network, visits, stack_blocks) for stack, stack_blocks in blocks.items()}
    )


def _check_shapes(title: str, calls: list[tuple[int, int]], kinds: dict[tuple[int, int], str], source: int) -> None:
    """Check the shapes of attention calls. Errors: ModelError, which says what cannot be shown."""
    if not calls:
        raise ModelError(
            f"{title} has no attention in which every token has a weight for every other: its layers bring tokens together in "
            f"another way, such as a state space, a convolution, buckets or windows. {CHOOSE}"
        )
    if odd := [shape for shape in calls if shape not in kinds]:
        queries, keys = odd[0]
        raise ModelError(
            f"In {title}, attention does not run from token to token: of {source} tokens it made {queries} that look at {keys}. "
            f"It joins tokens, cuts the text into pieces or adds some of its own, and Headlight could not name them. {CHOOSE}"
        )
    if missing := set(kinds.values()) - {kinds[shape] for shape in calls}:
        raise ModelError(
            f"The {sorted(missing)[0]} attention of {title} could not be found, so what it does cannot be shown. {CHOOSE}"
        )


def _layers(network: nn.Module, visits: list[Visit], blocks: list[nn.Module]) -> list[nn.Module]:
    """Return all modules in the lists that hold the blocks, in the order in which they ran."""
    lists = [{id(element) for element in part} for part in network.modules() if isinstance(part, (nn.ModuleList, nn.Sequential))]
    beside = set().union(*(part for part in lists if any(id(block) in part for block in blocks)))
    return [visit.module for visit in visits if id(visit.module) in beside]


def _block(network: nn.Module, visits: list[Visit], kinds: tuple[str, ...], call: int) -> nn.Module:
    """Return the outermost element of a ModuleList around this call that holds no other self-attention."""
    for visit in visits:  # in order of entry, so the outermost comes first
        if visit.start <= call < visit.end:
            inside = [kind for kind in kinds[visit.start : visit.end] if kind != "cross"]
            parent = network.get_submodule(visit.name.rpartition(".")[0])
            if len(inside) == 1 and isinstance(parent, (nn.ModuleList, nn.Sequential)):
                return visit.module
    raise ModelError(
        f"The layers of {type(network).__name__} cannot be told apart: either none of its parts repeats, "
        f"or one layer attends more than once. {CHOOSE}"
    )


@contextlib.contextmanager
def visiting(network: nn.Module, record: Record) -> Iterator[list[Visit]]:
    """Collect every execution of a module inside the `with` block."""
    visits: list[Visit] = []
    handles = []
    open_: list[Visit] = []
    for name, module in network.named_modules():

        def enter(module: nn.Module, args: object, name: str = name) -> None:
            visit = Visit(name, module, len(record.calls))
            visits.append(visit)
            open_.append(visit)

        def leave(module: nn.Module, args: object, out: object) -> None:
            open_.pop().end = len(record.calls)

        handles += [module.register_forward_pre_hook(enter), module.register_forward_hook(leave)]
    try:
        yield visits
    finally:
        for handle in handles:
            handle.remove()


@dataclass(frozen=True)
class Replacement:
    """A stream [1, position, d_model] that all layers return instead of running, except those in `but` (by id)."""

    stream: Tensor
    but: frozenset[int] = frozenset()


@dataclass
class Stream:
    """The wrappers of a network's layers, which note, replace or edit their stream: installed once, inert without a recorder."""

    layout: Layout
    shape: dict[int, int] = field(default_factory=dict)  # layer -> how many values it returns; 0: a bare tensor
    transposed: set[int] = field(default_factory=set)  # layers whose stream is [position, batch, d_model] (FSMT, XLNet)

    def like(self, copied: Layout) -> Stream:
        """Return the same for a copy of the network, with what is known of its layers."""
        pairs = [(id(a), id(b)) for stack, layers in self.layout.layers.items() for a, b in zip(layers, copied.layers[stack])]  # noqa: B905
        shape = {new: self.shape[old] for old, new in pairs if old in self.shape}
        return Stream(copied, shape, {new for old, new in pairs if old in self.transposed})

    def install(self) -> None:
        for stack, layers in self.layout.layers.items():
            for layer in {id(layer): layer for layer in layers}.values():  # ALBERT has one block in all layers
                layer.forward = self._wrap(layer, layer.forward, stack)

    def _wrap(self, layer: nn.Module, forward: Callable, stack: str) -> Callable:
        def around(*args: Any, **kwargs: Any) -> Any:
            replacement = _replacement.get()
            if replacement is not None and id(layer) not in replacement.but:
                values = self.shape[id(layer)]
                stream = replacement.stream.transpose(0, 1) if id(layer) in self.transposed else replacement.stream
                return (stream,) + (None,) * (values - 1) if values else stream
            record = active()
            if record is not None and record.plan is not None:
                return self._run_edited(record.plan, record, layer, forward, stack, args, kwargs)
            record = record if record is not None and record.streams else None
            if record is not None:
                # Its input is the stream after the layer before and whatever came between (DeBERTa's convolution).
                noted = record.hidden.setdefault(stack, [])
                noted[-1:] = [_positions(args[0] if args else kwargs["hidden_states"])]
            out = forward(*args, **kwargs)
            if record is not None:
                several = isinstance(out, (tuple, list))
                self.shape[id(layer)], stream = (len(out), out[0]) if several else (0, out)
                if len(stream) > 1 == stream.shape[1]:
                    self.transposed.add(id(layer))
                noted.append(_positions(stream))
            return out

        return around

    def _run_edited(
        self, plan: EditPlan, record: Record, layer: nn.Module, forward: Callable, stack: str, args: tuple, kwargs: dict
    ) -> object:
        """Run a layer with a plan's changes of its stream, which is noted for the whole batch."""
        transposed = id(layer) in self.transposed

        def turn(stream: Tensor) -> Tensor:
            return stream.transpose(0, 1) if transposed else stream

        entered = turn(plan.enter(record, stack, turn(args[0] if args else kwargs["hidden_states"]), transposed))
        out = forward(entered, *args[1:], **kwargs) if args else forward(**kwargs | {"hidden_states": entered})
        several = isinstance(out, tuple | list)
        last = plan.first + len(record.hidden[stack]) == len(self.layout.layers[stack])
        new_stream = turn(plan.leave(record, stack, turn(out[0] if several else out), last))
        return type(out)([new_stream, *out[1:]]) if several else new_stream


@contextlib.contextmanager
def skipping(stream: Tensor, but: frozenset[int] = frozenset()) -> Iterator[None]:
    """Let every layer return this stream [1, position, d_model] inside the `with` block, without running, except `but` (ids)."""
    token = _replacement.set(Replacement(stream, but))
    try:
        yield
    finally:
        _replacement.reset(token)


def _positions(stream: Tensor) -> Tensor:
    """Return the stream [position, d_model] of a batch of one, wherever the network puts its batch dimension."""
    return stream.flatten(0, 1) if 1 in stream.shape[:2] else stream[0]
