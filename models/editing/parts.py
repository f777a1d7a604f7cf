"""Finds what each part of a block adds to the residual stream by watching the sums of a pass, whatever the modules' names.

A part is exactly the summand that is added to the stream, so a multiplier or a norm before the sum belongs to it. One probing
pass looks at each sum of a block once: which summand is the stream, and whether the other one depends on the attention. In later
passes the sums are counted, and a summand is recorded or replaced. This takes no hook, so no other reading is affected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from models.edits import Part

Place = tuple[str, int]  # a stack, and the number of one of its layers
Sums = Sequence[tuple[str, str]]  # of a layer, in order: the parts that the two summands are, "" for none
SUMS = frozenset({"add", "add_"})
# Functions whose result still counts as the stream, though it may be scaled, normed or laid out in another way.
SAME = frozenset(
    {
        "mul",
        "div",
        "sub",
        "true_divide",
        "layer_norm",
        "rms_norm",
        "dropout",
        "to",
        "float",
        "type_as",
        "contiguous",
        "clone",
        "view",
        "reshape",
        "flatten",
        "transpose",
        "squeeze",
        "unsqueeze",
    }
)


class PartWatcher(TorchFunctionMode):
    """Records and replaces what parts add, in this thread. The plan of the pass says which layer runs."""

    def __init__(self, known: Mapping[Place, Sums], listens: bool = False):
        """listens: whether to keep what every part adds, in `heard`: [batch, position, d_model] by layer and part."""
        super().__init__()
        self.known, self.listens = known, listens
        self.heard: dict[tuple[Place, str], Tensor] = {}
        self.wanted: Mapping[tuple[Place, str], Sequence[tuple[int, Part | None]]] = {}
        self.place: Place | None = None
        self._number = 0

    def begin(self, place: Place, stream: Tensor, turned: bool) -> None:
        """Note that a layer begins to read a stream [batch, position, d_model]; turned: as [position, batch, d_model]."""
        concerned = self.listens or any(wanted_place == place for wanted_place, _ in self.wanted)
        self.place, self._number = place if concerned else None, 0
        self.shape, self.turned, self._seen_parts = stream.shape, turned, set[str]()

    def end(self) -> None:
        """Note that the layer is finished. Errors: RuntimeError where it did not make the sums that the probe saw."""
        if self.place is not None and self._number != len(self.known[self.place]):
            raise RuntimeError(f"{self._number} sums in a layer where the probe saw {len(self.known[self.place])}.")
        self.place = None

    def note_attention(self, kind: str, out: Tensor) -> None:
        """Note the output of an attention of this kind."""

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if self.place is None or getattr(function, "__name__", "") not in SUMS or not self.sums(args):
            return function(*args, **kwargs)
        parts = self.known[self.place][self._number] if self._number < len(self.known[self.place]) else ("", "")
        self._number += 1
        summands = [self.edit_part(part, summand) if part else summand for part, summand in zip(parts, args[:2], strict=True)]
        return function(*summands, *args[2:], **kwargs)

    def sums(self, args: Sequence) -> bool:
        """Return whether two streams are added."""
        return len(args) > 1 and all(self.is_stream(argument) for argument in args[:2])

    def is_stream(self, argument: object) -> bool:
        """Return whether a tensor has the stream's size: [batch, position, d_model], or with the first two joined."""
        width, size = self.shape[-1], self.shape.numel()
        return isinstance(argument, Tensor) and argument.dim() > 1 and argument.shape[-1] == width and argument.numel() == size

    def edit_part(self, part: str, summand: Tensor) -> Tensor:
        place = self.place
        assert place is not None
        edits = self.wanted.get((place, part), ())
        if not edits and not self.listens:
            return summand
        added = summand.transpose(0, 1) if self.turned and summand.dim() > 2 else summand.reshape(self.shape)
        if edits:
            added = added.clone()
            for row, edit in edits:
                if edit is None:
                    added[row] = 0
                elif edit.position is None or edit.position < added.shape[1]:
                    at = slice(None) if edit.position is None else edit.position
                    # a block with two feed-forwards adds the value only once
                    added[row, at] = added.new_tensor(edit.value) if part not in self._seen_parts else 0
        self._seen_parts.add(part)
        if self.listens:
            before = self.heard.get((place, part))
            self.heard[place, part] = added.clone() if before is None else before + added
        return added.transpose(0, 1) if self.turned and summand.dim() > 2 else added.reshape(summand.shape)


@dataclass(frozen=True)
class Summand:
    """The origin of a summand, noted at once because a sum may overwrite it in place. kinds: the attentions that it depends on;
    of: if it is itself a sum, that sum's number and summands.
    """

    kinds: frozenset[str]
    of: tuple[int, Summand, Summand] | None


class Probe(PartWatcher):
    """Watches the sums of a pass and names their summands, in `layer_sums`. A layer that mixes its parts too early to tell them
    apart has no entry."""

    def __init__(self) -> None:
        super().__init__({})
        self.layer_sums: dict[Place, list[tuple[str, str]]] = {}
        self._tensors: dict[int, Tensor] = {}  # keeps tensors alive, so that no new tensor gets the id of one
        self._streams: set[int] = set()
        self._from: dict[int, frozenset[str]] = {}  # the attentions that a tensor depends on, since the last sum with the stream
        self._sums_of: dict[int, tuple[int, Summand, Summand]] = {}  # sums without a stream: their number and summands

    def begin(self, place: Place, stream: Tensor, turned: bool) -> None:
        self.place, self.shape, self._sums, self._unclear = place, stream.shape, list[list[str]](), False
        self._clear()
        self._entering = turned  # else it is given this very tensor
        if not turned:
            self._streams.add(id(self._keep(stream)))

    def end(self) -> None:
        if self.place is not None and not self._unclear:
            self.layer_sums[self.place] = [(first, second) for first, second in self._sums]
        self.place = None
        self._clear()

    def note_attention(self, kind: str, out: Tensor) -> None:
        self._keep(out)
        self._from[id(out)] = frozenset({kind})

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if self.place is None:
            return function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        tensors = [value for value in _flat((*args, *kwargs.values())) if isinstance(value, Tensor)]
        if self._entering and (first := next((tensor for tensor in tensors if self.is_stream(tensor)), None)) is not None:
            self._entering = False
            self._streams.add(id(self._keep(first)))
        before = [frozenset(self._from.get(id(tensor), ())) for tensor in tensors]
        out = function(*args, **kwargs)
        if name in SUMS and self.sums(args):
            self._sum(args[0], args[1], out)
            return out
        streams = [tensor for tensor in tensors if self.is_stream(tensor)]
        for output in _flat((out,)):
            if isinstance(output, Tensor) and id(output) not in self._from:
                self._keep(output)
                if name in SAME and len(streams) == 1 and id(streams[0]) in self._streams and self.is_stream(output):
                    self._streams.add(id(output))
                elif kinds := frozenset().union(*before):
                    self._from[id(output)] = kinds
        return out

    def _sum(self, first: Tensor, second: Tensor, out: Tensor) -> None:
        number, known = len(self._sums), (id(first) in self._streams, id(second) in self._streams)
        self._sums.append(["", ""])
        self._keep(first), self._keep(second), self._keep(out)
        summands = self._summand(first), self._summand(second)
        if not any(known):
            kinds = [summand.kinds for summand in summands]
            mixed = {"mixed"} if bool(kinds[0]) != bool(kinds[1]) else set()
            self._sums_of[id(out)], self._from[id(out)] = (number, *summands), kinds[0] | kinds[1] | mixed
            return
        if not all(known):
            self._name(number, int(known[0]), summands[int(known[0])])
        self._streams.add(id(out))
        self._from.pop(id(out), None)

    def _name(self, number: int, side: int, part: Summand) -> None:
        """Name a summand; where attention and feed-forward were added to each other first, name both."""
        if "mixed" in part.kinds:
            if part.of is None:
                self._unclear = True
            else:
                number, first, second = part.of
                self._name(number, 0, first)
                self._name(number, 1, second)
        elif len(part.kinds) > 1:
            self._unclear = True
        else:
            self._sums[number][side] = "feedforward" if not part.kinds else "cross" if "cross" in part.kinds else "attention"

    def _summand(self, tensor: Tensor) -> Summand:
        return Summand(self._from.get(id(tensor), frozenset()), self._sums_of.get(id(tensor)))

    def _keep(self, tensor: Tensor) -> Tensor:
        self._tensors[id(tensor)] = tensor
        return tensor

    def _clear(self) -> None:
        self._tensors, self._streams, self._from, self._sums_of = {}, set(), {}, {}


def _flat(values: Any) -> list[Any]:
    """Return the values, with nested tuples and lists flattened."""
    return [inner for value in values for inner in (_flat(value) if isinstance(value, tuple | list) else [value])]
