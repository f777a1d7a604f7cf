"""How edits are made while a network reads: what a record's plan does to attention and to the residual stream.

A batch is read with a list of edits for each row. Nothing here is met by a reading without edits.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from models.adding import PartWatcher, Place
from models.edits import Cut, Edit, Head, Part, Row, Skip, Stream, Temperature
from models.recorder import Call, Record, causal_mask, expand, recording, row_of, scores, weights

Pairs = Sequence[tuple[str, int]]


@dataclass
class Asked:
    """What attention was called with, with its batch: as `recorder.Call`, each with one dimension more in front."""

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
        """One row of the batch, as the recorder keeps it."""
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
    """Edits of the rows of a batch, put where they are made.

    rows: of each row, its edits, with positions counted from the front. calls: of each attention call of the pass, in order, its
    kind and layer. places: of each stack, after which of its layers the stream after the embedding (0) and after each block
    stands.
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
        """adds: what hears and replaces the parts of blocks, needed where they are edited. keeps: whether calls are kept. start:
        the block that is read from, of a model of one stack. past: positions that a decoder has read already, on from whose keys
        and values this pass goes; positions of the edits are then counted from the first that is read now, keys from the first
        of all."""
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
        """Record a pass that these edits are made in."""
        with recording(outs=outs, plan=self) as record, self.adds or contextlib.nullcontext():
            yield record

    # The stream

    def pass_on(self, record: Record, stack: str, stream: Tensor) -> Tensor:
        """The stream of a stack without a layer but its blocks, after the embedding and after each of them."""
        if stack not in record.hidden:
            return self.enter(record, stack, stream)
        last = self.first + len(record.hidden[stack]) == self.places[stack][-1]
        stream = self.leave(record, stack, stream, last)
        return stream if last else self.enter(record, stack, stream)

    def enter(self, record: Record, stack: str, stream: Tensor, turned: bool = False) -> Tensor:
        """What a layer is given [batch, position, d_model], in the place of what the one before gave; turned: it takes it as
        [position, batch, d_model]."""
        noted = record.hidden.setdefault(stack, [])
        place = stack, self.first + max(0, len(noted) - 1)
        stream = self._changed(place, stream)
        noted[-1:] = [stream]
        if self.adds is not None:
            self.adds.begin(place, stream, turned)
        return stream

    def leave(self, record: Record, stack: str, stream: Tensor, last: bool) -> Tensor:
        """What a layer gives; last: whether no layer follows that would be given it."""
        noted = record.hidden[stack]
        place = stack, self.first + len(noted) - 1
        if self.adds is not None:
            self.adds.end()
        if rows := self._skips.get(place):
            chosen = self._mask(rows, stream)
            stream = torch.where(chosen, noted[-1], stream)
        if last:
            stream = self._changed((stack, self.first + len(noted)), stream)
        noted.append(stream)
        return stream

    def _changed(self, place: Place, stream: Tensor) -> Tensor:
        if not (edits := self._streams.get(place)):
            return stream
        stream = stream.clone()
        for row, edit in edits:
            at = slice(None) if edit.position is None else slice(edit.position, edit.position + 1)
            given = edit.add if edit.value is None else edit.value
            vector = torch.tensor(given).to(stream.device, stream.dtype)
            stream[row, at] = vector if edit.value is not None else stream[row, at] + vector
        return stream

    def _mask(self, rows: Sequence[int], stream: Tensor) -> Tensor:
        """Which rows of a batch: bool [batch, 1, 1]."""
        chosen = torch.zeros(len(stream), 1, 1, dtype=torch.bool, device=stream.device)
        chosen[list(rows)] = True
        return chosen

    # Attention

    def attend(self, record: Record, plain: Callable[[], Tensor], *given: Any) -> Tensor:
        """Attention with edits: [batch, query, heads, d_head]. plain: the same without, by the fused kernel, for where no row of
        weights changes; given: the fields of `Asked`."""
        asked = Asked(*given)
        edits = self._here(record, asked.query.shape[2], asked.key.shape[2])
        changed = [(row, edit) for row, edit in edits if not isinstance(edit, Head)]
        found = self._weights(asked, changed) if changed else None
        heads = asked.query.shape[1]
        out = (
            plain() if found is None else (found.to(asked.value.dtype) @ expand(asked.value, heads)).transpose(1, 2).contiguous()
        )
        out = self._scaled(self._listen(record, out), edits)
        rows = range(len(out)) if self.keeps else ()
        record.rows.append([asked.call(row, out, found, _of(edits, row)) for row in rows])
        return out

    def attend_by_weights(self, record: Record, given: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """The same where the weights [batch, heads, query, key] come from elsewhere."""
        edits = self._here(record, *given.shape[2:])
        given = self._listen(record, self._reweighed(given, edits))
        out = (given.to(value.dtype) @ expand(value, given.shape[1])).transpose(1, 2)
        out = self._scaled(out, edits)
        rows = range(len(out)) if self.keeps else ()
        record.rows.append(
            [Call(None, key[row], value[row], out=out[row], given=given[row], edits=_of(edits, row)) for row in rows]
        )
        return out

    def reweigh(self, record: Record, given: Tensor) -> Tensor:
        """Weights [batch, heads, query, key] that a network goes on with by itself: a head is scaled by scaling its weights."""
        edits = self._here(record, *given.shape[2:])
        given = self._listen(record, self._reweighed(given, edits))
        rows = range(len(given)) if self.keeps else ()
        record.rows.append([Call(None, None, None, given=given[row], edits=_of(edits, row)) for row in rows])
        return self._scaled(given.transpose(1, 2), edits).transpose(1, 2)

    def _here(self, record: Record, queries: int, keys: int) -> Sequence[tuple[int, Edit]]:
        """The edits of the next call, with keys counted from the first that is there: a window has lost its oldest ones."""
        kind, layer = self.kinds[len(record.rows)]
        edits = self._calls.get((kind, layer), ())
        lost = 0 if kind == "cross" else max(0, self.past + queries - keys)
        if not lost:
            return edits
        moved = [
            (row, replace(edit, key=edit.key - lost) if isinstance(edit, Cut) and edit.key is not None else edit)
            for row, edit in edits
        ]
        return [(row, edit) for row, edit in moved if not isinstance(edit, Cut) or edit.key is None or edit.key >= 0]

    def _listen(self, record: Record, out: Tensor) -> Tensor:
        """What gradients are taken of, before a head is scaled."""
        if self.adds is not None:
            self.adds.note_attention(self.kinds[len(record.rows)][0], out)
        if record.outs is not None:
            if not out.requires_grad:
                out.requires_grad_()
            record.outs.append(out)
        return out

    def _weights(self, asked: Asked, edits: Sequence[tuple[int, Edit]]) -> Tensor:
        """The weights of all rows, with those that edits change: float32 [batch, heads, query, key]."""
        heads, queries, keys = asked.query.shape[1], asked.query.shape[2], asked.key.shape[2]
        found = scores(asked.query, expand(asked.key, heads), asked.scale, asked.bias, asked.softcap)
        factor = torch.ones(len(found), heads, 1, 1, device=found.device)
        hidden = torch.zeros(found.shape, dtype=torch.bool, device=found.device)
        for row, edit in edits:
            if isinstance(edit, Temperature):
                factor[row, edit.head] *= edit.value
            elif isinstance(edit, Cut) and (edit.query or 0) < queries and (edit.key or 0) < keys:
                hidden[row, _all(edit.head), _all(edit.query), _all(edit.key)] = True
        mask = asked.mask if asked.mask is None else asked.mask[..., :keys]
        if mask is None:
            square = causal_mask(queries, keys, found.device) if asked.causal else torch.ones_like(hidden[:1])
            allowed = square.expand_as(hidden)
        else:  # added to the scores, nearly −∞ where one may not look
            allowed = (mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2).expand_as(hidden)
            found = found if mask.dtype == torch.bool else found + mask.float()
        allowed = allowed & ~hidden
        nowhere = ~allowed.any(-1, keepdim=True)  # the softmax of such a row would be no number, and so would its slopes
        found = weights(found / factor, allowed | nowhere, False, asked.sinks).masked_fill(nowhere, 0)
        return self._rows_put_in(found, edits)

    def _reweighed(self, given: Tensor, edits: Sequence[tuple[int, Edit]]) -> Tensor:
        """Temperature: softmax(s / T) is softmax(s)^(1/T), made to sum to 1; a key that is cut leaves its share to the others."""
        changed = [(row, edit) for row, edit in edits if isinstance(edit, Cut | Temperature)]
        if changed:
            found = given.float()
            total = found.sum(-1, keepdim=True)
            power = torch.ones(len(found), found.shape[1], 1, 1, device=found.device)
            kept = torch.ones_like(found)
            for row, edit in changed:
                if isinstance(edit, Temperature):
                    power[row, edit.head] /= edit.value
                elif (edit.query or 0) < kept.shape[2] and (edit.key or 0) < kept.shape[3]:
                    kept[row, _all(edit.head), _all(edit.query), _all(edit.key)] = 0
            found = found.clamp_min(0) ** power * kept
            given = (found * (total / found.sum(-1, keepdim=True).clamp_min(1e-30))).to(given.dtype)
        return self._rows_put_in(given, edits)

    def _rows_put_in(self, found: Tensor, edits: Sequence[tuple[int, Edit]]) -> Tensor:
        for row, edit in edits:
            if isinstance(edit, Row) and edit.query < found.shape[2]:
                found = found.clone()
                found[row, edit.head, edit.query] = 0
                found[row, edit.head, edit.query, : len(edit.weights)] = torch.tensor(edit.weights).to(found)
        return found

    def _scaled(self, out: Tensor, edits: Sequence[tuple[int, Edit]]) -> Tensor:
        """What heads give [batch, query, heads, d_head], scaled or replaced."""
        changed = [(row, edit) for row, edit in edits if isinstance(edit, Head)]
        if not changed:
            return out
        factor = torch.ones(len(out), 1, out.shape[2], 1, dtype=out.dtype, device=out.device)
        for row, edit in changed:
            factor[row, :, edit.head] = 0 if edit.mean is not None else factor[row, :, edit.head] * edit.scale
        out = out * factor
        for row, edit in changed:
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
    """Those of one row of the batch."""
    return tuple(edit for number, edit in edits if number == row)


def _all(number: int | None) -> int | slice:
    return slice(None) if number is None else number
