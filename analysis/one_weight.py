"""The calculation of one weight: a query, a key, their product dimension by dimension, and all steps up to the softmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from models.attention.undo_rotary import Rotary
from models.edits import Cut, Edit, Row, Temperature
from models.numbers.readonly import array_of
from models.trace import Attention

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class QueryKey:
    """One query of one head against every key, as in the forward pass.

    weight = softmax over the keys of (score + mask), where score = raw · scale, limited to softcap · tanh(raw · scale / softcap)
    if there is a cap, plus the bias if there is one, divided by the temperature if an edit set one. Keys that an edit cut are
    masked. replaced: whether an edit replaced the row, which is then no softmax of these scores. All arrays are float32.
    """

    q: np.ndarray  # [d_head], after positions were applied
    k: np.ndarray  # [key, d_head], after positions were applied
    raw: np.ndarray  # [key], q·k
    scale: float
    score: np.ndarray  # [key], the softmax's input, before the mask
    weight: np.ndarray  # [key], the softmax's output
    mask: np.ndarray  # [key], added to the score: 0 where the query may look, -inf where not
    v_norm: np.ndarray  # [key], the length ‖v‖ of each value vector
    softcap: float | None = None  # Gemma 2
    bias: np.ndarray | None = None  # [key], of the position (T5)
    sink: float | None = None  # the score of one more key that brings nothing (GPT-OSS)
    unturned: np.ndarray | None = None  # [key], q·k had rotary positions not turned them
    frequencies: np.ndarray | None = None  # [pairs], radians a position, by which each pair of dimensions was turned
    pairs: np.ndarray | None = None  # int [pairs, 2], which dimensions
    temperature: float | None = None  # an edit's, by which the score was divided
    replaced: bool | None = None  # True where an edit replaced the row

    @property
    def products(self) -> np.ndarray:
        """The contribution of each dimension, q × k: float32 [key, d_head]; a row sums to `raw`."""
        return self.q * self.k

    @property
    def allowed(self) -> np.ndarray:
        """Whether the query may look at each key: bool [key]."""
        return np.isfinite(self.mask)


def query_key(attention: Attention, layer: int, head: int, query: int) -> QueryKey:
    """Return the calculation of one query's weights: every number from the forward pass that made this attention.

    layer, head, query count from 0, or from the end when negative. The recorded vectors are those after rotary positions; if
    their rotation is known (`Attention.rotary`), unturned, frequencies and pairs describe it. Raises ValueError for an unknown
    layer, head or query, and if queries and keys are unknown.
    """
    from models.attention import weight_formula  # brings torch, which the first page does not wait for

    layer = _checked_index(layer, attention.layers, "layers")
    head = _checked_index(head, attention.counts[layer], "heads")
    query = _checked_index(query, len(attention.queries), "queries")
    rotary = attention.rotary(layer)
    call = attention.call(layer)  # says in a sentence where there are no queries
    assert call.query is not None, "`call` has said so"
    q, k, v = call.query[head, query][None, None], call.expanded("key")[head][None], call.expanded("value")[head]
    bias, mask = _row(call.bias, head, query), _row(call.mask, head, query)
    weight = np.array(attention[layer][head, query])
    score = weight_formula.scores(q, k, call.scale, None if bias is None else bias[None, None], call.softcap)
    edits = [edit for edit in call.edits if getattr(edit, "head", None) in (head, None)]
    heats = [edit.value for edit in edits if isinstance(edit, Temperature)]
    heat = float(np.prod(heats))
    return QueryKey(
        q=_array(q[0, 0]),
        k=_array(k[0]),
        raw=_array((q @ k.transpose(-1, -2))[0, 0]),  # as the forward multiplied them, in its own precision
        scale=float(call.scale),
        score=_array(score[0, 0]) / np.float32(heat),
        weight=weight,
        mask=_with_cuts(_mask_values(mask, call.causal, query, attention, weight), edits, query),
        v_norm=_array(v.float().norm(dim=-1)),
        softcap=None if call.softcap is None else float(call.softcap),
        bias=None if bias is None else np.broadcast_to(_array(bias), weight.shape).copy(),
        sink=None if call.sinks is None else float(call.sinks[head]),
        temperature=heat if heats else None,
        replaced=True if any(isinstance(edit, Row) and edit.query == query for edit in edits) else None,
        **({} if rotary is None else _turns(rotary, _array(q[0, 0]), _array(k[0]), query)),
    )


def _mask_values(mask: Tensor | None, causal: bool, query: int, attention: Attention, weight: np.ndarray) -> np.ndarray:
    """Return the numbers that the mask adds to each score; the very low numbers of some models' masks become -inf."""
    keys = len(attention.keys)
    if mask is None:
        masked = np.arange(keys) > query + keys - len(attention.queries) if causal else np.zeros(keys, dtype=bool)
        return np.where(masked, -np.inf, 0).astype(np.float32)
    values = _array(mask) if mask.is_floating_point() else mask.cpu().numpy()
    values = np.broadcast_to(values, (keys,))
    if values.dtype == bool:
        return np.where(values, 0, -np.inf).astype(np.float32)
    return np.where((values < -1e4) & (weight == 0), -np.inf, values).astype(np.float32)


def _with_cuts(mask: np.ndarray, edits: Sequence[Edit], query: int) -> np.ndarray:
    """Return the mask, extended by the keys that edits of this head cut from the query."""
    cut_mask = mask.copy()
    for edit in edits:
        if isinstance(edit, Cut) and edit.query in (query, None):
            cut_mask[slice(None) if edit.key is None else slice(edit.key, edit.key + 1)] = -np.inf
    return cut_mask


def _turns(rotary: Rotary, q: np.ndarray, k: np.ndarray, query: int) -> dict[str, np.ndarray]:
    before = rotary.undone(q[None], np.array([query]))[0]
    unturned = (rotary.undone(k, np.arange(len(k))) @ before).astype(np.float32)
    return {"unturned": unturned, "frequencies": rotary.frequencies.astype(np.float32), "pairs": rotary.dimensions}


def _row(of: Tensor | None, head: int, query: int) -> Tensor | None:
    """Return one head's row of a bias or mask [heads or 1, query or 1, key]."""
    if of is None:
        return None
    return of[min(head, of.shape[0] - 1), min(query, of.shape[1] - 1)]


def _checked_index(index: int, count: int, noun: str) -> int:
    if not -count <= index < count:
        raise ValueError(f"There are {count} {noun}, counted from 0: number {index} is none of them.")
    return index % count


def _array(tensor: Tensor) -> np.ndarray:
    return array_of(tensor)
