"""Reads several texts at once, each with edits of its own, for `trace(edits=…)`, `traces` and analyses of causes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch

from models.attention.recorder import Record
from models.editing.parts import PartWatcher, Place, Probe, Sums
from models.editing.plan import Plan
from models.edits import Edit, Part, Skip, check, shift
from models.images.opening import is_image
from models.reading.inputs import SECOND, Text, are_ids, text_of
from models.reading.readable import ReadableModel, Ready
from models.trace import Attention, Trace

TOKENS = 4096  # the most that are read at once, of all rows together
UNCLEAR = (
    "What the {part} of block {layer} of {name} adds to its stream cannot be told apart from the rest of the block, so it cannot "
    "be changed by itself. Skip the whole block instead."
)


def columns(
    texts: Text | Sequence[Text], edits: Sequence[Sequence[Edit]], targets: Text | Sequence[Text]
) -> list[tuple[Any, Any, tuple[Edit, ...]]]:
    """Pair each text with its target and its edits. Errors: TypeError; ValueError where their numbers differ."""
    if not isinstance(edits, Sequence) or any(not isinstance(row_edits, Sequence) for row_edits in edits):
        raise TypeError("edits must be a list that holds a list of edits for each text.")
    single = isinstance(texts, str) or are_ids(texts) or is_image(texts)
    several: Any = texts
    count = max(1, len(edits)) if single else len(several)
    text_list: list[Any] = [texts] * count if single else list(several)
    target_list: list[Any] = [targets] * count if isinstance(targets, str) or are_ids(targets) else list(cast(Any, targets))
    edit_lists = [tuple(row_edits) for row_edits in edits] or [()] * count
    if not len(text_list) == len(target_list) == len(edit_lists):
        raise ValueError(
            f"There are {len(text_list)} texts, {len(target_list)} targets and {len(edit_lists)} lists of edits: "
            "give as many of each."
        )
    return list(zip(text_list, target_list, edit_lists, strict=True))


def rows_of(
    model: ReadableModel, texts: Text | Sequence[Text], edits: Sequence[Sequence[Edit]], targets: Text | Sequence[Text]
) -> list[Ready]:
    """Check the arguments of `LanguageModel.traces` and return its rows. Errors: TypeError, ValueError."""
    rows = []
    for text, target, row_edits in columns(texts, edits, targets):
        ready = model.prepare(text_of(model, text), text_of(model, target, SECOND))
        rows.append(replace(ready, edits=check(row_edits, model.info, ready.lengths)))
    return rows


def read(model: ReadableModel, rows: Sequence[Ready]) -> list[Trace]:
    """Return the trace of each row. Rows of one length are read together, and need no padding."""
    traces: dict[int, Trace] = {}
    for numbers in batches([(len(row.tokens), len(row.target_tokens)) for row in rows]):
        part = [rows[i] for i in numbers]
        record = run(model, part)
        traces |= dict(zip(numbers, _traces(model, part, record), strict=True))
    return [traces[i] for i in range(len(rows))]


def batches(lengths: Sequence[tuple[int, ...]]) -> Iterator[list[int]]:
    """Yield the numbers of rows of equal lengths, to be read together. A row's first two lengths add up to its tokens."""
    by_length: dict[tuple[int, ...], list[int]] = {}
    for number, length in enumerate(lengths):
        by_length.setdefault(length, []).append(number)
    for length, numbers in by_length.items():
        count = max(1, TOKENS // sum(length[:2]))
        yield from (numbers[i : i + count] for i in range(0, len(numbers), count))


def run(
    model: ReadableModel, rows: Sequence[Ready], keeps: bool = True, adds: PartWatcher | None = None, before: Trace | None = None
) -> Record:
    """Run one pass over rows of the same lengths. before: their trace without edits; the pass then starts at the first edited
    block. Errors: ValueError where a part is edited that cannot be told apart."""
    start = min((begins(edit, model.info.layers) for row in rows for edit in row.edits), default=0) if before else 0
    plan, stream = plan_of(model, rows, keeps, adds, start), None
    if before and start:
        stream = torch.tensor(before.hidden["self"][start]).expand(len(rows), -1, -1).to(model.device)
    with torch.inference_mode():
        return model.run_plan([row.tokens for row in rows], [row.target_tokens for row in rows], plan, stream=stream)


def begins(edit: Edit, layers: int) -> int:
    """Return the first block that an edit affects."""
    layer = getattr(edit, "layer", None)
    return 0 if layer is None else min(layer, layers - 1)


def starts_anywhere(model: ReadableModel) -> bool:
    """Return whether a pass can start from a block's input: tried once, with the second block."""
    if model.info.kind == "encoder-decoder" or model.info.layers < 2 or model.shares_layers:
        return False
    plain = model.trace(model.sample, remember=False)
    nothing = Skip(1, "block")
    continued, expected = (
        run(model, [of_trace(plain, [nothing])], False, None, before).hidden["self"][-1] for before in (plain, None)
    )
    return bool((continued - expected).abs().max() <= 1e-4 * expected.abs().max())


def plan_of(
    model: ReadableModel, rows: Sequence[Ready], keeps: bool = True, adds: PartWatcher | None = None, start: int = 0
) -> Plan:
    """Return the plan of a pass over these rows. keeps, adds, start: as `Plan` takes them."""
    order, places = model.pass_order
    edits = [row.edits for row in rows]
    return Plan(edits, order, places, adds_of(model, edits) if adds is None else adds, keeps, start)


def reading_on(model: ReadableModel, edits: Sequence[Edit], versions: int, past: int) -> Plan:
    """Return the plan for continuing versions of a text from the keys and values of `past` positions, with these edits in each;
    an encoder beside it reads only when `past` is 0.
    """
    order, places = model.pass_order
    if past:
        order = [(kind, layer) for kind, layer in order if kind != "encoder"]
        later_edits = (shift(edit, past) if edit.kind != "encoder" else None for edit in edits)
        edits = [edit for edit in later_edits if edit is not None]
    rows = [tuple(edits)] * versions
    return Plan(rows, order, places, adds_of(model, rows), past=past)


def adds_of(model: ReadableModel, edits: Sequence[Sequence[Edit]]) -> PartWatcher | None:
    """Return a watcher that replaces parts of blocks; None where no edit does. Errors: ValueError where a part cannot be told
    apart."""
    parts = [edit for row in edits for edit in row if isinstance(edit, Part | Skip) and edit.part != "block"]
    if not parts:
        return None
    known, places = model.block_sums, model.pass_order[1]
    for edit in parts:
        stack, part = ("decoder", "cross") if edit.kind == "cross" else (edit.kind, edit.part)
        if not any(part in pair for pair in known.get((stack, places[stack][edit.layer + 1] - 1), ())):
            part_name = "cross-attention" if part == "cross" else "feed-forward" if part == "feedforward" else part
            raise ValueError(UNCLEAR.format(part=part_name, layer=edit.layer, name=model.info.name))
    return PartWatcher(known)


def sums_of(model: ReadableModel) -> dict[Place, Sums]:
    """Find the sums that the layers of a model make, and their summands, by a short pass."""
    probe = Probe()
    target = "the cat" if model.info.kind == "encoder-decoder" else ""
    run(model, [model.prepare(text_of(model, model.sample), target)], False, probe)
    return dict(probe.layer_sums)


def parts(model: ReadableModel, trace: Trace) -> dict[str, dict[str, np.ndarray]]:
    """Compute `LanguageModel.parts`."""
    adds = PartWatcher(model.block_sums, listens=True)
    run(model, [of_trace(trace)], False, adds)
    _, places = model.pass_order
    values_by_stack: dict[str, dict[str, np.ndarray]] = {}
    for stack, stream in trace.hidden.items():
        names = {part for (place, part) in adds.heard if place[0] == stack}
        for part in sorted(names):
            values = np.full((len(stream) - 1, *stream.shape[1:]), np.nan, np.float32)
            for layer, place in enumerate(places[stack][1:]):
                if (added := adds.heard.get(((stack, place - 1), part))) is not None:
                    values[layer] = added[0].float().cpu().numpy()
            values_by_stack.setdefault(stack, {})[part] = values
    return values_by_stack


def of_trace(trace: Trace, edits: Sequence[Edit] = ()) -> Ready:
    """Return the text of a trace as a row to read again, with its edits and further ones; positions count from the front."""
    return Ready(trace.text, trace.tokens, trace.target, trace.cut, (*trace.edits, *edits))


def alone(record: Record) -> Record:
    """Convert the record of a plan's batch of one row to the form that it has without a plan."""
    hidden = {stack: [stream[0] for stream in noted] for stack, noted in record.hidden.items()}
    return Record([rows[0] for rows in record.rows], hidden, record.outs)


def answers(model: ReadableModel, trace: Trace, edits: Sequence[Sequence[Edit]], position: int = -1) -> np.ndarray:
    """Return the scores at a position of `trace.read`, with each list of edits added to those of the trace: float32 [list,
    outcome].

    Nothing else is kept of these readings. Errors: ValueError without a language-model head, for a position that is not there.
    """
    if trace.way_out is None:
        raise ValueError(f"{model.info.name} has no language-model head, so it makes no predictions.")
    if not -len(trace.read) <= position < len(trace.read):
        raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
    last_streams = {row: stream[position] for row, stream in streams(model, trace, edits)}
    return trace.way_out(np.stack([last_streams[i] for i in range(len(edits))]))


def streams(model: ReadableModel, trace: Trace, edits: Sequence[Sequence[Edit]]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield, for each list of edits, its number and the stream from which predictions are made [position, d_model], read with
    these edits added to those of the trace. The lists come in any order, and nothing else is kept of these readings.
    """
    plain = of_trace(trace)
    rows = [of_trace(trace, check(edit_list, model.info, plain.lengths)) for edit_list in edits]
    stack = "decoder" if trace.target else "self"
    before = trace if not trace.edits and trace.tail is None and model.starts_anywhere else None
    starts = [min((begins(edit, model.info.layers) for edit in row.edits), default=0) if before else 0 for row in rows]
    for numbers in batches([(len(trace.tokens), len(trace.target), start) for start in starts]):
        record = run(model, [rows[i] for i in numbers], keeps=False, before=before)
        places, start = model.pass_order[1][stack], starts[numbers[0]]
        last = places[-1] - (places[start] if start else 0)  # a pass that starts later has fewer streams
        stack_streams = record.hidden[stack][last].float().cpu().numpy()  # [row, position, d_model]
        yield from zip(numbers, [trace.tail(stream) if trace.tail else stream for stream in stack_streams], strict=True)


def _traces(model: ReadableModel, rows: Sequence[Ready], record: Record) -> Iterator[Trace]:
    order, places = model.pass_order
    hidden = {
        stack: torch.stack([noted[place] for place in places[stack]], 1).float().cpu().numpy()
        for stack, noted in record.hidden.items()
    }  # [row, layers + 1, position, d_model]
    for number, row in enumerate(rows):
        calls: dict[str, list] = {}
        for (kind, _), row_calls in zip(order, record.rows, strict=True):
            calls.setdefault(kind, []).append(row_calls[number])
        attention = {}
        for kind in sorted(calls, key=["self", "encoder", "decoder", "cross"].index):
            queries, keys = (
                row.target_tokens if kind in decoder_kinds else row.tokens
                for decoder_kinds in (("decoder", "cross"), ("decoder",))
            )
            attention[kind] = Attention(
                queries, keys, calls[kind], chooses=kind == "cross" and not model.info.labels, **model.attention_options(kind)
            )
        yield Trace(
            row.text,
            row.tokens,
            attention,
            {stack: stream[number] for stack, stream in hidden.items()},
            row.cut,
            model.unembed if model.info.predicts else None,
            row.target_tokens,
            model.tail,
            row.edits,
            model,
            model.label,
        )
