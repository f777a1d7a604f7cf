"""Edits, the changes made in a model while it reads: small frozen values for `trace(edits=…)`, `traces` and `generate`.

Layers and heads count from 0. kind is that of `trace.attention`: "self", or "encoder", "decoder" and "cross" of two stacks; where
a stream is meant, "encoder" or "decoder". Positions are those of the tokens that the kind reads (`trace.tokens`, or
`trace.target`); negative ones count from the end. Edits of one kind of thing at the same place are made in the order given. Two
edits that say the same are equal and have the same hash, arrays included.

`str(edit)` is the text of an edit in links, lessons and notebooks, and `Edit.parse` reads it: `FORMS`, below, lists all of them.
In place of an array an edit may name where its numbers come from, as "sample"; `analysis.edit_numbers.fill` puts them in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from models.huggingface.names import quoted

if TYPE_CHECKING:
    from models.info import ModelInfo

PARTS = ("block", "attention", "feedforward")
STACKS = ("encoder", "decoder", "cross")  # the kinds of a model of two stacks
SAMPLE, OTHER, EVEN = "sample", "other text", "even"  # names for numbers: a mean over texts, a head's output, a row of attention
HOW_MANY = "{name} has {count} {what}{kind}, numbered from 0 to {last}; there is no {noun} {number!r}."


@dataclass(frozen=True, eq=False)
class Edit:
    """The base class of all edits."""

    numbers: ClassVar[tuple[str, ...]] = ()  # fields that hold arrays
    names: ClassVar[re.Pattern[str] | None] = None  # the names that may stand in place of an array
    places: ClassVar[dict[str, str]] = {}  # fields that hold positions: of the "queries" or of the "keys"
    kind: str = field(default="self", kw_only=True)

    def __post_init__(self) -> None:
        for name in self.numbers:
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and self.names and self.names.fullmatch(value)):
                try:
                    with np.errstate(over="ignore"):  # what does not fit into float32 is infinite
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

    def __str__(self) -> str:
        """Return the text that `parse` reads; for an edit that no model allows, such as one of a part "tail", its repr."""
        texts = (form.write(self) for form in FORMS if form.edit is type(self))
        return next(filter(None, texts), repr(self))

    @staticmethod
    def parse(text: str) -> Edit:
        """Return the edit of a text such as "h2.3", whatever its class. Errors: ValueError, a sentence, for a text that is no
        edit."""
        written, at, kind = text.partition("@")
        numbers, tilde, value = written[1:].partition("~")
        forms = [form for form in FORMS if form.letter == written[:1]]
        if not forms:
            letters = ", ".join(dict.fromkeys(form.letter for form in FORMS))
            raise ValueError(f"{quoted(text)} is not an edit. An edit begins with one of the letters {letters}, as h2.3 does.")
        if at and kind not in STACKS:
            raise ValueError(f"{quoted(text)} names {quoted(kind)} after the @. Write encoder, decoder or cross there.")
        form = next((form for form in forms if form.reads(numbers.split("."), bool(tilde))), None)
        if form is None:
            ways = " or ".join(f"{form.example} ({form.meaning})" for form in forms)
            raise ValueError(f"{quoted(text)} is not an edit. Write it like {ways}.")
        try:
            return form.build(numbers.split("."), value, kind or "self")
        except ValueError as error:
            raise ValueError(f"{quoted(text)} is not an edit. {error}") from error


@dataclass(frozen=True, eq=False)
class Head(Edit):
    """Multiplies a head's output, before W_O, by `scale`: 0 switches it off, 1 leaves it unchanged.

    mean: float [d_head] or [query, d_head], replaces the output, for example by its mean over other texts (mean ablation);
    `scale` does not count then, and is 0. "sample" names the mean over the built-in sample of texts, "other text" the output in
    another text. The maps of the head stay as they are.
    """

    numbers = ("mean",)
    names = re.compile(f"{SAMPLE}|{OTHER}")
    layer: int
    head: int
    scale: float = 0.0
    mean: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mean is not None:
            object.__setattr__(self, "scale", 0.0)


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
    """Replaces a row of attention. weights: float [key], shares that sum to 1; keys that come later get 0. "even" names the same
    share for all keys that the row looks at, "H5" the row of head 5 in the same layer."""

    numbers = ("weights",)
    names = re.compile(rf"{EVEN}|H(?:0|[1-9]\d*)", re.ASCII)
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
    part: "attention" | "feedforward". position None: every position, in `generate` each new one too. "sample" names the mean of a
    feed-forward over the built-in sample of texts."""

    numbers = ("value",)
    names = re.compile(SAMPLE)
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
    return not isinstance(edit, Row) and not (isinstance(edit, Head) and np.ndim(edit.mean) > 1)


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
    kinds = (
        ("self",)
        if info.kind != "encoder-decoder"
        else ("encoder", "decoder")
        if streams or feedforward
        else ("encoder", "decoder", "cross")
    )
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
    for name in edit.numbers:
        if isinstance(value := getattr(edit, name), str):
            raise ValueError(f"{edit} names its {name}, “{value}”. Put in the numbers first, by analysis.edit_numbers.fill.")
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
    if isinstance(edit, Row) and (edit.weights.ndim != 1 or (edit.weights < 0).any() or not abs(edit.weights.sum() - 1) < 1e-3):
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


# ---------------------------------------------------------------- their text form

WHOLE = re.compile(r"-?[0-9]{1,18}|\*")  # a layer, head or position; * for all
HEAD_NUMBER = re.compile(r"[0-9]{1,18}")
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]{1,3})?")
SHAPE = re.compile(r"(?:[0-9]{1,9}(?:x[0-9]{1,9})*)?")


@dataclass(frozen=True)
class Form:
    """A way to write an edit: a letter; whole numbers, with dots between; after "~" a number, or an array as "0.5_0.25" or, with
    its shape, "2x1:0.5_0.25"; after "@" the kind, unless it is "self".

    whole: the fields that the whole numbers are; value: the field after "~"; fixed: the fields that the letter itself sets. All
    other fields have their defaults.
    """

    example: str
    meaning: str
    edit: type[Edit]
    whole: tuple[str, ...]
    value: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def letter(self) -> str:
        return self.example[0]

    def write(self, edit: Edit) -> str:
        """Return the text of an edit; "" where this form cannot write it."""
        values = {name: getattr(edit, name) for name in (*self.whole, self.value) if name}
        if self.edit(**values, **self.fixed, kind=edit.kind) != edit or edit.kind not in ("self", *STACKS):
            return ""
        numbers = [_write_whole(values[name]) for name in self.whole]
        value = _write_value(values[self.value]) if self.value else ""
        if not all(numbers) or (self.value and not value):
            return ""
        return f"{self.letter}{'.'.join(numbers)}{value}" + ("" if edit.kind == "self" else f"@{edit.kind}")

    def reads(self, numbers: list[str], has_value: bool) -> bool:
        """Return whether texts of whole numbers are those of this form."""
        patterns = [HEAD_NUMBER if name == "weights" else WHOLE for name in self.whole]
        fits = len(numbers) == len(patterns) and has_value == bool(self.value)
        return fits and all(pattern.fullmatch(number) for pattern, number in zip(patterns, numbers, strict=True))

    def build(self, numbers: list[str], value: str, kind: str) -> Edit:
        """Return the edit of these texts. Errors: ValueError, a sentence."""
        values: dict[str, Any] = {
            name: f"H{int(number)}" if name == "weights" else None if number == "*" else int(number)
            for name, number in zip(self.whole, numbers, strict=True)
        }
        if self.value:
            values[self.value] = (_read_array if self.value in self.edit.numbers else _read_number)(value)
        return self.edit(**values, **self.fixed, kind=kind)


HEAD, ROW, PLACE = ("layer", "head"), ("layer", "head", "query"), ("layer", "position")
FEEDFORWARD: dict[str, Any] = {"part": "feedforward"}
MEAN_FEEDFORWARD = {**FEEDFORWARD, "value": SAMPLE}
FORMS = (
    Form("h2.3", "a head off", Head, HEAD),
    Form("s2.3~1.5", "the strength of a head", Head, HEAD, "scale"),
    Form("m2.3", "a head at its mean over the sample", Head, HEAD, fixed={"mean": SAMPLE}),
    Form("m2.3~0.5_0.25", "a head at other numbers", Head, HEAD, "mean"),
    Form("r2.3", "a head as in another text", Head, HEAD, fixed={"mean": OTHER}),
    Form("t2.3~0.5", "the temperature of a head", Temperature, HEAD, "value"),
    Form("x5.1", "query 5 may not look at key 1", Cut, ("query", "key")),
    Form("c2.3.5.1", "query 5 may not look at key 1 in one head", Cut, (*ROW, "key")),
    Form("e2.3.5", "the row of query 5 even", Row, ROW, fixed={"weights": EVEN}),
    Form("o2.3.5.4", "the row of query 5 as in head 4", Row, (*ROW, "weights")),
    Form("w2.3.5~0.5_0.25_0.25", "other weights for the row of query 5", Row, ROW, "weights"),
    Form("b3", "a block skipped", Skip, ("layer",)),
    Form("f4", "a feed-forward skipped", Skip, ("layer",), fixed=FEEDFORWARD),
    Form("a4", "the attention of a block skipped", Skip, ("layer",), fixed={"part": "attention"}),
    Form("g4", "a feed-forward at its mean over the sample", Part, ("layer",), fixed={**MEAN_FEEDFORWARD, "position": None}),
    Form("g4.5", "the same at position 5", Part, PLACE, fixed=MEAN_FEEDFORWARD),
    Form("g4.5~0.5_0.25", "other numbers from a feed-forward", Part, PLACE, "value", FEEDFORWARD),
    Form("p4.5~0.5_0.25", "other numbers from attention", Part, PLACE, "value"),
    Form("v3.5~0.5_0.25", "the stream replaced", Stream, PLACE, "value"),
    Form("d3.5~0.5_0.25", "a direction added to the stream", Stream, PLACE, "add"),
)


def _write_whole(value: object) -> str:
    """Return a layer, head or position as text, None as *, the name of a head's row as its number; "" for anything else."""
    if isinstance(value, str):
        return value.removeprefix("H") if value != EVEN else ""
    return "*" if value is None else str(int(value)) if isinstance(value, int | np.integer) else ""


def _write_value(value: object) -> str:
    """Return the text of a number or an array, after "~"; "" for anything else. Nine digits tell every float32 apart."""
    if isinstance(value, np.ndarray):
        shape = "" if value.ndim == 1 else f"{'x'.join(map(str, value.shape))}:"
        return "~" + shape + "_".join(f"{number:.9g}".replace("e+", "e") for number in value.ravel().tolist())
    if isinstance(value, int | float | np.number) and math.isfinite(value):
        return "~" + repr(float(value)).removesuffix(".0").replace("e+", "e")
    return ""


def _read_number(text: str) -> float:
    if not NUMBER.fullmatch(text) or not math.isfinite(number := float(text)):
        raise ValueError(f"{quoted(text)} is not a number.")
    return number


def _read_array(text: str) -> np.ndarray:
    shape, colon, joined = text.rpartition(":")
    values = [_read_number(number) for number in joined.split("_")] if joined else []
    if not SHAPE.fullmatch(shape):
        raise ValueError(f"{quoted(shape)} is not the shape of an array, such as 2x3.")
    sizes = [int(size) for size in shape.split("x") if size] if colon else [len(values)]
    if math.prod(sizes) != len(values):
        raise ValueError(f"{len(values)} numbers do not fill an array of {shape or 'one number'}.")
    return np.array(values).reshape(sizes)
