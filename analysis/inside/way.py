"""The path of a text through a model, from its ids to the next word, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.inside import steps
from analysis.inside.block import Block
from analysis.inside.ends import begin, finish
from analysis.inside.formulas import Identity
from analysis.inside.reading import Reading
from analysis.inside.stages import Cell, Index, Stage
from analysis.inside.stored import array

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.trace import Trace
    from models.watching.steps import Watched

WINDOW = 64  # tokens shown of a long text
LOGITS = 2**22  # numbers of logits to keep, at most
BETWEEN = "Between these blocks stands a layer without attention, which is not taken apart. The numbers are the model’s own."
NEAR = {"float32": steps.NEAR, "float16": 1e-2, "bfloat16": 8e-2}


class Way:
    """The path of a text through a model, stage by stage, with one layer in full.

    stages: in order. Numbers can be traced back: `explain` returns the terms of a number, and each term names its source, also in
    other layers and in the other stack; one of those is kept at a time. layer, head: the requested ones; stack: "self", or
    "encoder" or "decoder". tokens: those that the stack read; window: the positions that stages show.
    """

    def __init__(
        self,
        model: LanguageModel,
        trace: Trace,
        layer: int,
        head: int,
        stack: str,
        window: np.ndarray,
        ends: Sequence[int] | None = None,
    ):
        self.model, self.trace, self._ends = model, trace, ends
        self.layer, self.head, self.stack, self.window = layer, head, stack, window
        self.tokens = trace.target if stack == "decoder" else trace.tokens
        self.near = NEAR.get(model.info.dtype, steps.NEAR)
        self._other: Way | None = None
        self._explained: tuple[tuple[Stage, Index] | None, Cell | None] = None, None  # the last number
        self.fired: int | None = None  # the block's step whose output the neurons hand on, for `neurons`
        self.stages = tuple(self._read())
        self._named = {(stage.name, stage.layer): stage for stage in self.stages}

    def stage(self, name: str, layer: int | None = None) -> Stage:
        """Return a stage by its name, in the full layer or before or after the blocks. Errors: ValueError."""
        for place in (layer, None, self.layer):
            if (name, place) in self._named:
                return self._named[name, place]
        raise ValueError(f"This way has no stage “{name}”: it has {', '.join(stage.name for stage in self.stages)}.")

    def explain(self, stage: str, index: Index, layer: int | None = None, stack: str | None = None) -> Cell:
        """Return the terms whose sum is a number.

        index, layer, stack: as in `Place`; another layer is read on demand: `way.explain(*term.source)`.
        Errors: ValueError for an unknown stage or index.
        """
        if (stack or self.stack) != self.stack or (layer is not None and layer != self.layer):
            return self._at(layer or 0, stack or self.stack).explain(stage, index, layer, stack)
        of = self.stage(stage, layer)
        index = _check_index(of, index, len(self.tokens), len(self.trace.tokens))
        asked, cell = self._explained
        if cell is None or asked != (of, index):
            terms, facts = ((), {}) if of.rule is None or of.missing else (tuple(of.rule.terms(index)), of.rule.facts(index))
            cell = Cell(of.place(*index), of.at(index), terms, facts)
            self._explained = (of, index), cell
        return cell

    @property
    def ends(self) -> frozenset[int]:
        """The positions for which the stages after the blocks have numbers."""
        return frozenset(self.window.tolist() if self.stages[-1].held is None else self.stages[-1].held.tolist())

    @property
    def reads_label(self) -> bool:
        """Whether the stages after the blocks belong to a label of the text, which is read at one position."""
        labels = self.model.info.labels
        return labels is not None and not labels.each and self.stack != "encoder"

    def serves(self, position: int, every: bool = False) -> bool:
        """Return whether this has the stages after the blocks for a position; every: for the whole window."""
        if self.reads_label:
            return position in self.window
        return position in self.ends and not (every and len(self.ends) < len(self.window))

    @property
    def bytes(self) -> int:
        """The bytes in memory besides the model: the trace, and the numbers of stages computed so far."""
        arrays = [
            numbers for stage in self.stages for numbers in (stage.recorded, vars(stage).get("values")) if numbers is not None
        ]
        sizes = {id(numbers): numbers.nbytes for numbers in arrays}
        return self.trace.bytes + sum(sizes.values()) + (self._other.bytes - self.trace.bytes if self._other else 0)

    def _at(self, layer: int, stack: str) -> Way:
        other = self._other
        if other is None or (other.layer, other.stack) != (layer, stack):
            other = self._other = Way(self.model, self.trace, layer, self.head, stack, window_of(self.trace, stack, None))
        return other

    # Reading

    def _read(self) -> list[Stage]:
        trace, count = self.trace, len(self.tokens)
        rows = self._logit_positions()
        watched = self.model.watch(trace, self.stack, self.layer, rows.tolist())
        before = Reading(watched.before, count, None, self.stack, self.window, self.near)
        hidden = trace.hidden[self.stack]
        first = begin(before, np.array([token.id for token in self.tokens]), hidden[0])
        block = self._block(watched, first)
        after = self._after(watched, block, rows)
        return [*before.stages, *block, *after]

    def _block(self, watched: Watched, first: Stage) -> list[Stage]:
        trace, layer, window = self.trace, self.layer, self.window
        reading = Reading(watched.block, len(self.tokens), layer, self.stack, window, self.near)
        hidden = trace.hidden[self.stack][layer]
        stream_in = steps.flat(watched.block.start, len(self.tokens))  # type: ignore[arg-type]
        if layer == 0:
            same = stream_in is not None and steps.close(stream_in, hidden, self.near)
            stream = reading.add("stream", ("token", "d_model"), Identity(first), stream_in, None, None if same else BETWEEN)
        else:
            same = watched.handed and stream_in is not None and steps.close(stream_in, hidden, self.near)
            below = Stage("output", ("token", "d_model"), layer - 1, self.stack, None, hidden, window)
            stream = reading.add("stream", ("token", "d_model"), Identity(below), stream_in, None, None if same else BETWEEN)
        kind = self.stack
        rotary = trace.attention[kind].rotary(layer)
        weights = [trace.attention[kind][layer]]
        memory, keys = None, window
        if watched.memory is not None:
            weights.append(trace.attention["cross"][layer])
            keys = window_of(trace, "encoder", None)
            memory = self._memory(watched, reading, keys)
        block = Block(reading, stream, memory, rotary, weights, keys)
        block.read()
        self.fired = block.fired
        return reading.stages

    def _memory(self, watched: Watched, reading: Reading, keys: np.ndarray) -> Stage:
        """Return the encoder's output: the last stage of its own path."""
        recorded = array(watched.memory)
        return Stage("memory", ("source", "d_model"), None, "encoder", None, recorded, keys)

    def _after(self, watched: Watched, block: list[Stage], rows: np.ndarray) -> list[Stage]:
        trace = self.trace
        section, held = (watched.head, rows) if watched.head is not None else (watched.after, None)
        assert section is not None, "a pass that is made for some positions has an end"
        count = len(self.tokens) if held is None else len(held)
        positions = self.window if held is None else held
        reading = Reading(section, count, None, self.stack, positions, self.near, held)
        hidden = trace.hidden[self.stack]
        last = self.layer == len(hidden) - 2
        end = hidden[-1] if held is None else trace.stream[-1][held]
        output = (
            next(stage for stage in reversed(block) if stage.name == "output") if last and block[-1].name == "output" else None
        )
        below = output or Stage("output", ("token", "d_model"), len(hidden) - 2, self.stack, None, hidden[-1], self.window)
        between = None if trace.tail is None or held is None else BETWEEN
        stream = reading.add("blocks", ("token", "d_model"), Identity(below), end, None, between)
        finish(reading, stream, "label" if self.model.info.labels else "vocabulary")
        if self.stack == "encoder":
            reading.add("memory", ("token", "d_model"), Identity(reading.stages[-1]))
        return reading.stages

    def _logit_positions(self) -> np.ndarray:
        """Return the positions whose logits are kept: where a classifier's label of the text is read; else the requested ones,
        those of the window, or the last of them if these are too many."""
        if self.reads_label:
            return np.array(self.model.places(self.trace))
        if self._ends is not None:
            return np.array(sorted(set(self._ends)))
        places = self.model.places(self.trace) if self.stack != "encoder" else []
        most = max(1, LOGITS // max(1, self.model.info.vocabulary))
        last = self.window[-most:].tolist()
        inside = [place for place in places if place in self.window]
        return np.array(sorted({*last, *inside}))


def follow(
    model: LanguageModel,
    trace: Trace,
    layer: int = 0,
    head: int = 0,
    stack: str | None = None,
    around: int | None = None,
    ends: Sequence[int] | None = None,
) -> Way:
    """Return the path of a text through a model, with one layer in full.

    layer, head: counted from 0, or from the end when negative. stack: "encoder" or "decoder" of an encoder-decoder (the decoder
    by default). around: a position that the window must include, in a text longer than WINDOW tokens; None: the last.
    ends: positions to follow from the last block to the logits, few because a vocabulary is large; None: those of the window. A
    classifier's label of a text is read at one position, which is then the only end. Errors: ValueError for an unknown layer,
    head, stack or position, and for an end outside of the window.
    """
    stack = stack or ("self" if "self" in trace.hidden else "decoder")
    if stack not in trace.hidden:
        raise ValueError(f"This model has no stack “{stack}”: it has {', '.join(trace.hidden)}.")
    attention = trace.attention[stack]
    for number, total, noun in ((layer, attention.layers, "layers"), (head, attention.counts[layer % attention.layers], "heads")):
        if not -total <= number < total:
            raise ValueError(f"There are {total} {noun}, counted from 0: number {number} is none of them.")
    window = window_of(trace, stack, around)
    if ends is not None and not (ends and set(ends) <= set(window.tolist())):
        raise ValueError(f"Ends are positions of the window, {window[0]} to {window[-1]}; these are {list(ends)}.")
    return Way(model, trace, layer % attention.layers, head % attention.counts[layer % attention.layers], stack, window, ends)


def window_of(trace: Trace, stack: str, around: int | None) -> np.ndarray:
    """Return the positions to show of a stack's text: all, or WINDOW of them around one. Errors: ValueError."""
    count = len(trace.target if stack == "decoder" else trace.tokens)
    if around is None:
        around = count - 1
    if not -count <= around < count:
        raise ValueError(f"There are {count} positions, counted from 0: number {around} is none of them.")
    first = min(max(0, around % count - WINDOW // 2), max(0, count - WINDOW))
    return np.arange(first, min(count, first + WINDOW))


def _check_index(stage: Stage, index: Index, tokens: int, sources: int) -> Index:
    """Return the index as plain integers. Errors: ValueError for an index that no number of the stage has."""
    shape = list(stage.shape)
    if len(index) != len(shape):
        raise ValueError(f"{stage.name} has {len(shape)} dimensions ({', '.join(stage.axes)}), and this index {len(index)}.")
    row = stage.row_axis
    for axis, (number, size) in enumerate(zip(index, shape, strict=True)):
        total = size if axis != row else sources if stage.axes[axis] == "source" else tokens
        if not 0 <= number < total:
            raise ValueError(f"Number {number} is not on the axis {stage.axes[axis]} of {stage.name}, which has {total}.")
    return tuple(int(number) for number in index)
