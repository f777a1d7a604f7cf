"""Makes edits while a network reads: a record's plan changes attention and the residual stream.

A batch is read with a list of edits for each row. A reading without edits uses nothing from here.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from models.attention.recorded_call import Call
from models.attention.recorder import Record, recording
from models.attention.weight_formula import causal_mask, expand, row_of, scores, weights
from models.editing.parts import PartWatcher, Place
from models.edits import Cut, Edit, Head, Part, Row, Skip, Stream, Temperature

Pairs = Sequence[tuple[str, int]]


@dataclass
class AttentionInputs:
    """The arguments of an attention call: as in `Call`, with a batch dimension in front."""

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    causal: bool
    scale: float
    bias: Tensor | None = None
    softcap: float | None = None
    sinks: Tensor | None = None

    def call(self, row: int, out: Tensor, edited: Tensor | None, edits: tuple[Edit, ...]) -> Call:
        """Return one row of the batch, as the recorder keeps it."""
        mask, bias = row_of(self.mask, row), row_of(self.bias, row)
        mask = mask if mask is None else mask[..., : self.key.shape[2]]
        return Call(
            self.query[row],
            self.key[row],
            self.value[row],
            mask,
            self.causal,
            self.scale,
            out[row],
            bias,
            self.softcap,
            self.sinks,
            edited=None if edited is None else edited[row],
            edits=edits,
        )


class Plan:
    """The edits of the rows of a batch, sorted by the place where they are made.

    rows: the edits of each row, with positions counted from the front. calls: kind and layer of each attention call of the pass,
    in order. places: for each stack, the number of layers before the stream after the embedding (0) and after each block.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[Edit]],
        calls: Pairs,
        places: Mapping[str, Sequence[int]],
        adds: PartWatcher | None = None,
        keeps: bool = True,
        start: int = 0,
        past: int = 0,
    ):
        """adds: records and replaces the parts of blocks, needed where they are edited. keeps: whether to keep the calls. start:
        the block to start from, in a model of one stack. past: how many positions the decoder has already read, whose keys and
        values this pass uses; positions of the edits are then counted from the first that is read now, keys from the first of
        all."""
        self.rows, self.places, self.adds, self.keeps, self.start, self.past = rows, places, adds, keeps, start, past
        self.kinds = [(kind, layer) for kind, layer in calls if layer >= start]
        self.first = places["self"][start] if start else 0
        self._calls: dict[tuple[str, int], list[tuple[int, Edit]]] = defaultdict(list)
        self._streams: dict[Place, list[tuple[int, Stream]]] = defaultdict(list)
        self._skips: dict[Place, list[int]] = defaultdict(list)
        parts: dict[tuple[Place, str], list[tuple[int, Part | None]]] = defaultdict(list)
        layers: dict[str, int] = defaultdict(int)
        for kind, layer in calls:
            layers[kind] = max(layers[kind], layer + 1)
        for row, edits in enumerate(rows):
            for edit in edits:
                stack = "decoder" if edit.kind == "cross" else edit.kind
                if isinstance(edit, Cut):
                    for layer in range(layers[edit.kind]) if edit.layer is None else [edit.layer]:
                        self._calls[edit.kind, layer].append((row, edit))
                elif isinstance(edit, Stream):
                    self._streams[stack, places[stack][edit.layer]].append((row, edit))
                elif isinstance(edit, Skip | Part):
                    place = stack, places[stack][edit.layer + 1] - 1
                    if edit.part == "block":
                        self._skips[place].append(row)
                    else:
                        part = "cross" if edit.kind == "cross" else edit.part
                        parts[place, part].append((row, edit if isinstance(edit, Part) else None))
                elif isinstance(edit, Head | Temperature | Row):
                    self._calls[edit.kind, edit.layer].append((row, edit))
        if adds is not None:
            adds.wanted = parts

    @contextlib.contextmanager
    def running(self, outs: bool = False) -> Iterator[Record]:
        """Record a pass in which these edits are made."""
        with recording(outs=outs, plan=self) as record, self.adds or contextlib.nullcontext():
            yield record

    # The stream

    def pass_on(self, record: Record, stack: str, stream: Tensor) -> Tensor:
        """Edit and note the stream of a stack whose layers are all blocks, after the embedding and after each of them."""
        if stack not in record.hidden:
            return self.enter(record, stack, stream)
        last = self.first + len(record.hidden[stack]) == self.places[stack][-1]
        stream = self.leave(record, stack, stream, last)
        return stream if last else self.enter(record, stack, stream)

    def enter(self, record: Record, stack: str, stream: Tensor, turned: bool = False) -> Tensor:
        """Return the input of a layer [batch, position, d_model], edited; turned: the layer takes it as [position, batch,
        d_model]."""
        noted = record.hidden.setdefault(stack, [])
        place = stack, self.first + max(0, len(noted) - 1)
        stream = self._edit_stream(place, stream)
        noted[-1:] = [stream]
        if self.adds is not None:
            self.adds.begin(place, stream, turned)
        return stream

    def leave(self, record: Record, stack: str, stream: Tensor, last: bool) -> Tensor:
        """Return the output of a layer, edited; last: whether no layer follows."""
        noted = record.hidden[stack]
        place = stack, self.first + len(noted) - 1
        if self.adds is not None:
            self.adds.end()
        if rows := self._skips.get(place):
            chosen = self._mask(rows, stream)
            stream = torch.where(chosen, noted[-1], stream)
        if last:
            stream = self._edit_stream((stack, self.first + len(noted)), stream)
        noted.append(stream)
        return stream

    def _edit_stream(self, place: Place, stream: Tensor) -> Tensor:
        if not (edits := self._streams.get(place)):
            return stream
        stream = stream.clone()
        for row, edit in edits:
            at = slice(None) if edit.position is None else slice(edit.position, edit.position + 1)
            change = edit.add if edit.value is None else edit.value
            vector = torch.tensor(change).to(stream.device, stream.dtype)
            stream[row, at] = vector if edit.value is not None else stream[row, at] + vector
        return stream

    def _mask(self, rows: Sequence[int], stream: Tensor) -> Tensor:
        """Return a mask of rows of the batch: bool [batch, 1, 1]."""
        chosen = torch.zeros(len(stream), 1, 1, dtype=torch.bool, device=stream.device)
        chosen[list(rows)] = True
        return chosen

    # Attention

    def attend(self, record: Record, plain: Callable[[], Tensor], *fields: Any) -> Tensor:
        """Compute attention with edits: [batch, query, heads, d_head]. plain: computes it without edits, by the fused kernel, for
        calls in which no weights change; fields: those of `AttentionInputs`.
        """
        inputs = AttentionInputs(*fields)
        edits = self._edits_of_next_call(record, inputs.query.shape[2], inputs.key.shape[2])
        weight_edits = [(row, edit) for row, edit in edits if not isinstance(edit, Head)]
        edited_weights = self._edited_weights(inputs, weight_edits) if weight_edits else None
        heads = inputs.query.shape[1]
        out = (
            plain()
            if edited_weights is None
            else (edited_weights.to(inputs.value.dtype) @ expand(inputs.value, heads)).transpose(1, 2).contiguous()
        )
        out = self._edit_heads(self._listen(record, out), edits)
        rows = range(len(out)) if self.keeps else ()
        record.rows.append([inputs.call(row, out, edited_weights, _of(edits, row)) for row in rows])
        return out

    def attend_by_weights(self, record: Record, head_weights: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Compute attention with edits where the weights [batch, heads, query, key] come from elsewhere."""
        edits = self._edits_of_next_call(record, *head_weights.shape[2:])
        head_weights = self._listen(record, self._edit_weights(head_weights, edits))
        out = (head_weights.to(value.dtype) @ expand(value, head_weights.shape[1])).transpose(1, 2)
        out = self._edit_heads(out, edits)
        rows = range(len(out)) if self.keeps else ()
        record.rows.append(
            [Call(None, key[row], value[row], out=out[row], given=head_weights[row], edits=_of(edits, row)) for row in rows]
        )
        return out

    def reweigh(self, record: Record, head_weights: Tensor) -> Tensor:
        """Edit weights [batch, heads, query, key] that a network multiplies itself; a head is scaled by scaling its weights."""
        edits = self._edits_of_next_call(record, *head_weights.shape[2:])
        head_weights = self._listen(record, self._edit_weights(head_weights, edits))
        rows = range(len(head_weights)) if self.keeps else ()
        record.rows.append([Call(None, None, None, given=head_weights[row], edits=_of(edits, row)) for row in rows])
        return self._edit_heads(head_weights.transpose(1, 2), edits).transpose(1, 2)

    def _edits_of_next_call(self, record: Record, queries: int, keys: int) -> Sequence[tuple[int, Edit]]:
        """Return the edits of the next call, with keys counted from the first one present: a window has lost its oldest keys."""
        kind, layer = self.kinds[len(record.rows)]
        edits = self._calls.get((kind, layer), ())
        lost = 0 if kind == "cross" else max(0, self.past + queries - keys)
        if not lost:
            return edits
        shifted = [
            (row, replace(edit, key=edit.key - lost) if isinstance(edit, Cut) and edit.key is not None else edit)
            for row, edit in edits
        ]
        return [(row, edit) for row, edit in shifted if not isinstance(edit, Cut) or edit.key is None or edit.key >= 0]

    def _listen(self, record: Record, out: Tensor) -> Tensor:
        """Note the heads' output before a head is scaled, so that gradients can be taken with respect to it."""
        if self.adds is not None:
            self.adds.note_attention(self.kinds[len(record.rows)][0], out)
        if record.outs is not None:
            if not out.requires_grad:
                out.requires_grad_()
            record.outs.append(out)
        return out

    def _edited_weights(self, inputs: AttentionInputs, edits: Sequence[tuple[int, Edit]]) -> Tensor:
        """Compute the edited weights of all rows: float32 [batch, heads, query, key]."""
        heads, queries, keys = inputs.query.shape[1], inputs.query.shape[2], inputs.key.shape[2]
        row_scores = scores(inputs.query, expand(inputs.key, heads), inputs.scale, inputs.bias, inputs.softcap)
        factor = torch.ones(len(row_scores), heads, 1, 1, device=row_scores.device)
        hidden = torch.zeros(row_scores.shape, dtype=torch.bool, device=row_scores.device)
        for row, edit in edits:
            if isinstance(edit, Temperature):
                factor[row, edit.head] *= edit.value
            elif isinstance(edit, Cut) and (edit.query or 0) < queries and (edit.key or 0) < keys:
                hidden[row, _all(edit.head), _all(edit.query), _all(edit.key)] = True
        mask = inputs.mask if inputs.mask is None else inputs.mask[..., :keys]
        if mask is None:
            square = causal_mask(queries, keys, row_scores.device) if inputs.causal else torch.ones_like(hidden[:1])
            allowed = square.expand_as(hidden)
        else:  # added to the scores: nearly −∞ for a key that is masked
            allowed = (mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2).expand_as(hidden)
            row_scores = row_scores if mask.dtype == torch.bool else row_scores + mask.float()
        allowed = allowed & ~hidden
        nowhere = ~allowed.any(-1, keepdim=True)  # the softmax of such a row, and its slopes, would be NaN
        edited = weights(row_scores / factor, allowed | nowhere, False, inputs.sinks).masked_fill(nowhere, 0)
        return self._replace_rows(edited, edits)

    def _edit_weights(self, head_weights: Tensor, edits: Sequence[tuple[int, Edit]]) -> Tensor:
        """Edit weights directly: softmax(s / T) is softmax(s)^(1/T), scaled to sum to 1; a cut key leaves its share to the
        others."""
        weight_edits = [(row, edit) for row, edit in edits if isinstance(edit, Cut | Temperature)]
        if weight_edits:
            shares = head_weights.float()
            total = shares.sum(-1, keepdim=True)
            power = torch.ones(len(shares), shares.shape[1], 1, 1, device=shares.device)
            allowed = torch.ones_like(shares)
            for row, edit in weight_edits:
                if isinstance(edit, Temperature):
                    power[row, edit.head] /= edit.value
                elif (edit.query or 0) < allowed.shape[2] and (edit.key or 0) < allowed.shape[3]:
                    allowed[row, _all(edit.head), _all(edit.query), _all(edit.key)] = 0
            shares = shares.clamp_min(0) ** power * allowed
            head_weights = (shares * (total / shares.sum(-1, keepdim=True).clamp_min(1e-30))).to(head_weights.dtype)
        return self._replace_rows(head_weights, edits)

    def _replace_rows(self, head_weights: Tensor, edits: Sequence[tuple[int, Edit]]) -> Tensor:
        for row, edit in edits:
            if isinstance(edit, Row) and edit.query < head_weights.shape[2]:
                head_weights = head_weights.clone()
                head_weights[row, edit.head, edit.query] = 0
                head_weights[row, edit.head, edit.query, : len(edit.weights)] = torch.tensor(edit.weights).to(head_weights)
        return head_weights

    def _edit_heads(self, out: Tensor, edits: Sequence[tuple[int, Edit]]) -> Tensor:
        """Scale or replace the outputs of heads [batch, query, heads, d_head]."""
        head_edits = [(row, edit) for row, edit in edits if isinstance(edit, Head)]
        if not head_edits:
            return out
        factor = torch.ones(len(out), 1, out.shape[2], 1, dtype=out.dtype, device=out.device)
        for row, edit in head_edits:
            factor[row, :, edit.head] = 0 if edit.mean is not None else factor[row, :, edit.head] * edit.scale
        out = out * factor
        for row, edit in head_edits:
            if edit.mean is not None:
                mean = torch.tensor(edit.mean).to(out)
                if mean.shape[-1] != out.shape[3] or (mean.dim() == 2 and len(mean) != out.shape[1]):
                    raise ValueError(
                        f"The mean of a head must be [{out.shape[3]}] or [{out.shape[1]}, {out.shape[3]}] here; "
                        f"it is {list(mean.shape)}."
                    )
                out[row, :, edit.head] = mean
        return out


def _of(edits: Sequence[tuple[int, Edit]], row: int) -> tuple[Edit, ...]:
    """Return the edits of one row of the batch."""
    return tuple(edit for number, edit in edits if number == row)


def _all(number: int | None) -> int | slice:
    return slice(None) if number is None else number
