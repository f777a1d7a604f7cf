"""Edits, the changes made in a model while it reads: small frozen values for `trace(edits=…)`, `traces` and `generate`.

Layers and heads count from 0. kind is that of `trace.attention`: "self", or "encoder", "decoder" and "cross" of two stacks;
where a stream is meant, "encoder" or "decoder". Positions are those of the tokens that the kind reads (`trace.tokens`, or
`trace.target`); negative ones count from the end. Edits of one kind of thing at the same place are made in the order given. Two
edits that say the same are equal and have one hash, arrays included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from models.language_model import ModelInfo

PARTS = ("block", "attention", "feedforward")
HOW_MANY = "{name} has {count} {what}{kind}, numbered from 0 to {last}; there is no {noun} {number!r}."


@dataclass(frozen=True, eq=False)
class Edit:
    """The base class of all edits."""

    numbers: ClassVar[tuple[str, ...]] = ()  # fields that hold arrays
    places: ClassVar[dict[str, str]] = {}  # fields that hold positions: of the "queries" or of the "keys"
    kind: str = field(default="self", kw_only=True)

    def __post_init__(self) -> None:
        for name in self.numbers:
            if (value := getattr(self, name)) is not None:
                try:
                    array = np.array(value, dtype=np.float32)
                except (TypeError, ValueError) as error:
                    raise ValueError(f"{name} must be numbers; it is {type(value).__name__}.") from error
                if not np.isfinite(array).all():
                    raise ValueError(f"{name} holds what is no number (NaN or infinite).")
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    def _values(self) -> tuple[Any, ...]:
        values = (getattr(self, entry.name) for entry in fields(self))
        return type(self), *((value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value for value in values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Edit) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())


@dataclass(frozen=True, eq=False)
class Head(Edit):
    """Multiplies a head's output, before W_O, by `scale`: 0 switches it off, 1 leaves it unchanged.

    mean: float [d_head] or [query, d_head], replaces the output, for example by its mean over other texts (mean ablation);
    `scale` does not count then. The maps of the head stay as they are.
    """

    numbers = ("mean",)
    layer: int
    head: int
    scale: float = 0.0
    mean: Any = None


@dataclass(frozen=True, eq=False)
class Cut(Edit):
    """Masks a key for a query before the softmax, so that the row still sums to 1.

    None stands for all: queries, keys, layers, heads. A query without any key left has a row of zeros, and its heads give zeros.
    Source: Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models" (attention knockout).
    """

    places: ClassVar = {"query": "queries", "key": "keys"}
    query: int | None
    key: int | None
    layer: int | None = None
    head: int | None = None


@dataclass(frozen=True, eq=False)
class Temperature(Edit):
    """Divides the scores of a head by `value` before the softmax: below 1 its rows get sharper, above 1 more even."""

    layer: int
    head: int
    value: float


@dataclass(frozen=True, eq=False)
class Row(Edit):
    """Replaces a row of attention. weights: float [key], shares that sum to 1; keys that come later get 0."""

    numbers = ("weights",)
    places: ClassVar = {"query": "queries"}
    layer: int
    head: int
    query: int
    weights: Any


@dataclass(frozen=True, eq=False)
class Skip(Edit):
    """Skips a block, or its attention or its feed-forward: it adds nothing to the stream.

    part: "block" | "attention" | "feedforward". A skipped block passes its input on unchanged, and its maps show what it would
    have looked at. Where a norm follows the sum, as in BERT, the norm stays when a part of the block is skipped.
    """

    layer: int
    part: str = "block"


@dataclass(frozen=True, eq=False)
class Part(Edit):
    """Replaces what the attention or feed-forward of a block adds to the stream at a position. value: float [d_model];
    part: "attention" | "feedforward". position None: every position, in `generate` each new one too."""

    numbers = ("value",)
    places: ClassVar = {"position": "queries"}
    layer: int
    position: int | None
    value: Any
    part: str = "attention"


@dataclass(frozen=True, eq=False)
class Stream(Edit):
    """Replaces or adds to the residual stream `trace.hidden[kind][layer]`: 0 after the embedding, l after block l − 1.

    value: float [d_model], replaces it; add: float [d_model], a direction added to it (steering: Turner et al. 2023,
    "Activation Addition"). position None: every position, in `generate` each new one too.
    """

    numbers = ("value", "add")
    places: ClassVar = {"position": "queries"}
    layer: int
    position: int | None
    value: Any = None
    add: Any = None


def at(edits: Iterable[Edit], kind: str, layer: int) -> tuple[Edit, ...]:
    """Return the edits that change what heads of this layer look at or give."""
    heads = [edit for edit in edits if isinstance(edit, Head | Cut | Temperature | Row) and edit.kind == kind]
    return tuple(edit for edit in heads if edit.layer in (layer, None))


def shift(edit: Edit, by: int) -> Edit | None:
    """Shift an edit to a reading of the positions from `by` on, keys counted as before; None for an edit of earlier positions."""
    positions: dict[str, Any] = {name: getattr(edit, name) for name, side in edit.places.items() if side == "queries"}
    if any(position is not None and position < by for position in positions.values()):
        return None
    positions = {name: position if position is None else position - by for name, position in positions.items()}
    return replace(edit, **positions) if by and positions else edit


def grows(edit: Edit) -> bool:
    """Return whether an edit has the same effect on a text read on from keys and values as on one read from the start."""
    return not isinstance(edit, Row) and not (isinstance(edit, Head) and edit.mean is not None and edit.mean.ndim > 1)


def describe(edits: Iterable[Edit]) -> str:
    """Describe the edits of one layer in a few words."""
    phrases, cuts = [], 0
    for edit in edits:
        if isinstance(edit, Temperature):
            phrases.append(f"scores of H{edit.head} ÷ {edit.value:g}")
        elif isinstance(edit, Row):
            phrases.append(f"row {edit.query} of H{edit.head} replaced")
        elif isinstance(edit, Head):
            phrases.append(f"what H{edit.head} gives {f'× {edit.scale:g}' if edit.mean is None else 'replaced'}")
        elif isinstance(edit, Cut):
            cuts += 1
    return ", ".join([*phrases, *([f"{cuts} cut{'s' if cuts > 1 else ''}"] if cuts else [])])


def check(edits: Iterable[Edit], info: ModelInfo, lengths: Mapping[str, int], later: bool = False) -> tuple[Edit, ...]:
    """Check edits, and return them with positions counted from the front.

    lengths: how many positions each stack reads, by its name; later: whether later positions may be named. Errors:
    TypeError for what is no edit, ValueError for a layer, head, position or kind that the model does not have, and for arrays of
    another shape.
    """
    checked = []
    for edit in edits:
        if not isinstance(edit, Edit):
            raise TypeError(f"edits must be values of models.edits, such as Head(3, 1); one is of type {type(edit).__name__}.")
        _check_kind(edit, info)
        _check_place(edit, info)
        _check_arrays(edit, info)
        checked.append(_count_from_front(edit, info, lengths, later))
    return tuple(checked)


def _check_kind(edit: Edit, info: ModelInfo) -> None:
    streams = isinstance(edit, Stream) or (isinstance(edit, Skip) and edit.part == "block")
    feedforward = isinstance(edit, Skip | Part) and edit.part == "feedforward"
    kinds = ("self",) if info.kind != "encoder-decoder" else ("encoder", "decoder") if streams or feedforward else (
        "encoder", "decoder", "cross")  # fmt: skip
    if edit.kind not in kinds:
        allowed = ", ".join(f'"{kind}"' for kind in kinds)
        raise ValueError(f'{type(edit).__name__} has kind="{edit.kind}"; for {info.name} it must be {allowed}.')
    if isinstance(edit, Skip) and edit.part not in PARTS:
        raise ValueError(f'Skip has part="{edit.part}"; it must be "block", "attention" or "feedforward".')
    if isinstance(edit, Part) and edit.part not in PARTS[1:]:
        raise ValueError(f'Part has part="{edit.part}"; it must be "attention" or "feedforward".')


def _check_place(edit: Edit, info: ModelInfo) -> None:
    values = {entry.name: getattr(edit, entry.name) for entry in fields(edit)}
    own = info.kind == "encoder-decoder" and values["kind"] != "encoder"
    layer = values.get("layer")
    heads = info.heads_of(int(layer) if isinstance(layer, int | np.integer) else -1, own)
    layers = info.decoder_layers if own else info.layers
    kind = "" if info.kind != "encoder-decoder" else f" in its {values['kind']}"
    if info.head_counts and heads < info.heads:
        kind = f" in L{layer}"
    counts = {"layer": layers + isinstance(edit, Stream), "head": heads}
    for name, count in counts.items():
        number = values.get(name, 0)
        if number is None and isinstance(edit, Cut):
            continue
        if not isinstance(number, int | np.integer) or isinstance(number, bool) or not 0 <= number < count:
            what = "places of the stream" if isinstance(edit, Stream) else f"{name}s"
            noun = "place" if isinstance(edit, Stream) else name
            raise ValueError(
                HOW_MANY.format(name=info.name, count=count, what=what, kind=kind, last=count - 1, noun=noun, number=number)
            )


def _check_arrays(edit: Edit, info: ModelInfo) -> None:
    if isinstance(edit, Temperature) and not (np.isfinite(edit.value) and edit.value > 0):
        raise ValueError(f"A temperature is a number above 0; it is {edit.value!r}.")
    if isinstance(edit, Head) and edit.mean is None and not np.isfinite(edit.scale):
        raise ValueError(f"A head is scaled by a number; it is {edit.scale!r}.")
    if isinstance(edit, Head) and edit.mean is not None and not info.queries:
        raise ValueError(
            f"{info.name} attends in its own way: what its heads give cannot be replaced by a mean. Scale them instead, or "
            "switch them off."
        )
    if isinstance(edit, Head) and edit.mean is not None and edit.mean.ndim not in (1, 2):
        raise ValueError(f"The mean of a head must be [d_head] or [query, d_head]; it is {list(edit.mean.shape)}.")
    if isinstance(edit, Row):
        good = edit.weights.ndim == 1 and (edit.weights >= 0).all() and abs(float(edit.weights.sum()) - 1) < 1e-3
        if not good:
            raise ValueError("The weights of a row must be one number a key, none below 0, that sum to 1.")
    if isinstance(edit, Stream) and (edit.value is None) == (edit.add is None):
        raise ValueError("Stream takes either value, which replaces, or add, which is added.")
    for name in ("value", "add") if isinstance(edit, Stream | Part) else ():
        vector = getattr(edit, name, None)
        if vector is not None and vector.shape != (info.d_model,):
            raise ValueError(f"{name} must be [{info.d_model}] numbers for {info.name}; it is {list(vector.shape)}.")


def _count_from_front(edit: Edit, info: ModelInfo, lengths: Mapping[str, int], later: bool) -> Edit:
    positions: dict[str, Any] = {}
    for name, side in edit.places.items():
        position = getattr(edit, name)
        if position is None and isinstance(edit, Cut | Stream | Part):
            continue
        length = lengths[edit.kind if edit.kind != "cross" else "encoder" if side == "keys" else "decoder"]
        if not isinstance(position, int | np.integer) or isinstance(position, bool):
            raise ValueError(f"{name} must be a whole number; it is {position!r}.")
        if not -length <= position < length and not (later and position >= 0):
            raise ValueError(f"There is no {name} {position} in {length} tokens.")
        if position < 0:
            positions[name] = int(position) + length
    if isinstance(edit, Row):
        keys = lengths["encoder" if edit.kind == "cross" else edit.kind]
        keys = max(keys, edit.query + 1) if later and edit.kind != "cross" else keys
        if len(edit.weights) > keys:
            raise ValueError(f"The row has {len(edit.weights)} weights for {keys} keys.")
    return replace(edit, **positions) if positions else edit
