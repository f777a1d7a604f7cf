"""What the parts of a block add to the residual stream: found by watching the sums of a pass, whatever the modules' names.

A part is what is added to the stream, the very summand, so that a multiplier or a norm before the sum belongs to it. In one
probing pass each sum of a block is looked at once: which summand is the stream, and whether the other one hangs on the attention.
In later passes the sums are counted, and a summand is heard or replaced. This takes no hook: nobody else's reading meets it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from models.edits import Part

Place = tuple[str, int]  # a stack, and the number of one of its layers
Sums = Sequence[tuple[str, str]]  # of a layer, in order: which parts the two summands are, "" for none
SUMS = frozenset({"add", "add_"})
# What leaves a stream the stream, though it may be scaled, normed or laid out in another way.
SAME = frozenset({
    "mul", "div", "sub", "true_divide", "layer_norm", "rms_norm", "dropout", "to", "float", "type_as", "contiguous", "clone",
    "view", "reshape", "flatten", "transpose", "squeeze", "unsqueeze",
})  # fmt: skip


class Adds(TorchFunctionMode):
    """Hears and replaces what parts add, in this thread. The plan of the pass says which layer runs."""

    def __init__(self, known: Mapping[Place, Sums], listens: bool = False):
        """listens: whether what every part adds is kept, in `heard`: [batch, position, d_model] by layer and part."""
        super().__init__()
        self.known, self.listens = known, listens
        self.heard: dict[tuple[Place, str], Tensor] = {}
        self.wanted: Mapping[tuple[Place, str], Sequence[tuple[int, Part | None]]] = {}
        self._place: Place | None = None
        self._number = 0

    def begin(self, place: Place, stream: Tensor, turned: bool) -> None:
        """A layer begins to read a stream [batch, position, d_model]; turned: it is given it as [position, batch, d_model]."""
        concerned = self.listens or any(one == place for one, _ in self.wanted)
        self._place, self._number = place if concerned else None, 0
        self._shape, self._turned, self._met = stream.shape, turned, set[str]()

    def end(self) -> None:
        """Errors: RuntimeError where the layer did not make the sums that the probe saw."""
        if self._place is not None and self._number != len(self.known[self._place]):
            raise RuntimeError(f"{self._number} sums in a layer where the probe saw {len(self.known[self._place])}.")
        self._place = None

    def attended(self, kind: str, out: Tensor) -> None:
        """An attention gave this."""

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if self._place is None or getattr(function, "__name__", "") not in SUMS or not self.sums(args):
            return function(*args, **kwargs)
        parts = self.known[self._place][self._number] if self._number < len(self.known[self._place]) else ("", "")
        self._number += 1
        summands = [self._part(part, one) if part else one for part, one in zip(parts, args[:2], strict=True)]
        return function(*summands, *args[2:], **kwargs)

    def sums(self, args: Sequence) -> bool:
        """Whether two streams are added."""
        return len(args) > 1 and all(self.is_stream(one) for one in args[:2])

    def is_stream(self, one: object) -> bool:
        """Whether it is as large as the stream: [batch, position, d_model], or with the first two as one."""
        size = self._shape.numel()
        return isinstance(one, Tensor) and one.dim() > 1 and one.shape[-1] == self._shape[-1] and one.numel() == size

    def _part(self, part: str, summand: Tensor) -> Tensor:
        place = self._place
        assert place is not None
        edits = self.wanted.get((place, part), ())
        if not edits and not self.listens:
            return summand
        found = summand.transpose(0, 1) if self._turned and summand.dim() > 2 else summand.reshape(self._shape)
        if edits:
            found = found.clone()
            for row, edit in edits:
                if edit is None:
                    found[row] = 0
                elif edit.position is None or edit.position < found.shape[1]:
                    at = slice(None) if edit.position is None else edit.position
                    # of two feed-forwards in a block only one can bring it
                    found[row, at] = found.new_tensor(edit.value) if part not in self._met else 0
        self._met.add(part)
        if self.listens:
            before = self.heard.get((place, part))
            self.heard[place, part] = found.clone() if before is None else before + found
        return found.transpose(0, 1) if self._turned and summand.dim() > 2 else found.reshape(summand.shape)


@dataclass(frozen=True)
class Summand:
    """What is known of a summand now, as a sum may be made in its place. kinds: which attentions it hangs on; of: the number and
    the summands of the sum that it is, if any."""

    kinds: frozenset[str]
    of: tuple[int, Summand, Summand] | None


class Probe(Adds):
    """Watches the sums of a pass and says what they are, in `found`. A layer that mixes its parts before they are told apart has
    none."""

    def __init__(self) -> None:
        super().__init__({})
        self.found: dict[Place, list[tuple[str, str]]] = {}
        self._kept: dict[int, Tensor] = {}  # held, so that no other tensor gets the identity of one
        self._streams: set[int] = set()
        self._from: dict[int, frozenset[str]] = {}  # which attentions a tensor hangs on, since the last sum with the stream
        self._sums_of: dict[int, tuple[int, Summand, Summand]] = {}  # of no stream: their number and what they are of

    def begin(self, place: Place, stream: Tensor, turned: bool) -> None:
        self._place, self._shape, self._sums, self._unclear = place, stream.shape, list[list[str]](), False
        self._clear()
        self._entering = turned  # else it is given this very tensor
        if not turned:
            self._streams.add(id(self._keep(stream)))

    def end(self) -> None:
        if self._place is not None and not self._unclear:
            self.found[self._place] = [(one, two) for one, two in self._sums]
        self._place = None
        self._clear()

    def attended(self, kind: str, out: Tensor) -> None:
        self._keep(out)
        self._from[id(out)] = frozenset({kind})

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if self._place is None:
            return function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        given = [one for one in _flat((*args, *kwargs.values())) if isinstance(one, Tensor)]
        if self._entering and (first := next((one for one in given if self.is_stream(one)), None)) is not None:
            self._entering = False
            self._streams.add(id(self._keep(first)))
        before = [frozenset(self._from.get(id(one), ())) for one in given]
        out = function(*args, **kwargs)
        if name in SUMS and self.sums(args):
            self._sum(args[0], args[1], out)
            return out
        same = [one for one in given if self.is_stream(one)]
        for one in _flat((out,)):
            if isinstance(one, Tensor) and id(one) not in self._from:
                self._keep(one)
                if name in SAME and len(same) == 1 and id(same[0]) in self._streams and self.is_stream(one):
                    self._streams.add(id(one))
                elif found := frozenset().union(*before):
                    self._from[id(one)] = found
        return out

    def _sum(self, one: Tensor, two: Tensor, out: Tensor) -> None:
        number, known = len(self._sums), (id(one) in self._streams, id(two) in self._streams)
        self._sums.append(["", ""])
        self._keep(one), self._keep(two), self._keep(out)
        summands = self._summand(one), self._summand(two)
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
        """Say what a summand is; of attention and feed-forward, added to each other first, say it of both."""
        if "mixed" in part.kinds:
            if part.of is None:
                self._unclear = True
            else:
                number, one, two = part.of
                self._name(number, 0, one)
                self._name(number, 1, two)
        elif len(part.kinds) > 1:
            self._unclear = True
        else:
            self._sums[number][side] = "feedforward" if not part.kinds else "cross" if "cross" in part.kinds else "attention"

    def _summand(self, one: Tensor) -> Summand:
        return Summand(self._from.get(id(one), frozenset()), self._sums_of.get(id(one)))

    def _keep(self, one: Tensor) -> Tensor:
        self._kept[id(one)] = one
        return one

    def _clear(self) -> None:
        self._kept, self._streams, self._from, self._sums_of = {}, set(), {}, {}


def _flat(values: Any) -> list[Any]:
    """The values inside tuples and lists too."""
    return [inner for one in values for inner in (_flat(one) if isinstance(one, tuple | list) else [one])]
