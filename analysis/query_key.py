"""How one weight comes about: a query, a key, their product dimension by dimension, and all that follows up to the softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from models import recorder
from models.trace import Attention


@dataclass(frozen=True, eq=False)
class QueryKey:
    """One query of one head against every key, as the forward pass had it.

    weight = softmax over the keys of (score + mask), where score = raw · scale, bent to softcap · tanh(raw · scale / softcap)
    where there is one, plus bias where there is one. All arrays are float32.
    """

    q: np.ndarray  # [d_head], after positions were applied
    k: np.ndarray  # [key, d_head], after positions were applied
    raw: np.ndarray  # [key], q·k
    scale: float
    score: np.ndarray  # [key], what the softmax is taken of, before the mask
    weight: np.ndarray  # [key], what the softmax gave
    mask: np.ndarray  # [key], added to the score: 0 where the query may look, -inf where not
    v_norm: np.ndarray  # [key], the length ‖v‖ of each value vector
    softcap: float | None = None  # Gemma 2
    bias: np.ndarray | None = None  # [key], of the position (T5)
    sink: float | None = None  # the score of one more key that brings nothing (GPT-OSS)
    unturned: np.ndarray | None = None  # [key], q·k had rotary positions not turned them

    @property
    def products(self) -> np.ndarray:
        """What each dimension contributes, q × k: float32 [key, d_head]; a row sums to `raw`."""
        return self.q * self.k

    @property
    def allowed(self) -> np.ndarray:
        """Whether the query may look at each key: bool [key]."""
        return np.isfinite(self.mask)

    @property
    def value_weighted(self) -> np.ndarray:
        """weight · ‖v‖, scaled to sum to 1: float32 [key]; zeros where every such product is zero.

        A key with a short value vector moves the output little, however large its weight. Kobayashi et al. 2020, "Attention is
        Not Only a Weight", measure the length after the output projection; here it is the value's own, before it.
        """
        moved = self.weight.astype(np.float64) * self.v_norm
        total = moved.sum()
        return (moved / total if total else moved).astype(np.float32)


@dataclass(frozen=True)
class Rotary:
    """How rotary positions turned the queries and keys of a model.

    frequencies: radians a position, one a pair of dimensions [pairs]. pairs: "halves" pairs dimension i with i + pairs (Llama,
    GPT-NeoX and our own transformer), "neighbours" 2i with 2i + 1 (the paper). Dimensions beyond the pairs are not turned. The
    positions are 0, 1, 2, … from the first token on. Source: Su et al. 2021, "RoFormer", eq. 15.
    """

    frequencies: np.ndarray
    pairs: Literal["halves", "neighbours"] = "halves"

    def undone(self, x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Queries or keys [position, d_head] turned back to how they were before: float64 of the same shape."""
        x = np.asarray(x, dtype=np.float64)
        count = len(self.frequencies)
        if self.pairs not in ("halves", "neighbours") or 2 * count > x.shape[-1]:
            raise ValueError(f"{count} pairs by {self.pairs!r} do not fit {x.shape[-1]} dimensions.")
        step = np.arange(count)
        first, second = (step, step + count) if self.pairs == "halves" else (2 * step, 2 * step + 1)
        angles = np.asarray(positions)[:, None] * np.asarray(self.frequencies, dtype=np.float64)  # [position, pairs]
        cos, sin = np.cos(angles), np.sin(angles)
        back = x.copy()
        back[:, first] = x[:, first] * cos + x[:, second] * sin
        back[:, second] = x[:, second] * cos - x[:, first] * sin
        return back


def query_key(attention: Attention, layer: int, head: int, query: int, rotary: Rotary | None = None) -> QueryKey:
    """How the weights of one query come about: every number from the forward pass that made this attention.

    layer, head, query count from 0, or from the end when negative. rotary: with it, `unturned` is q·k without positions (of
    self-attention, where queries and keys are the same tokens); what is recorded is after them, so it must be known how they
    were applied. Raises ValueError where there is no such layer, head or query, and where queries and keys are not known.
    """
    layer = _within(layer, attention.layers, "layers")
    head = _within(head, attention.heads, "heads")
    query = _within(query, len(attention.queries), "queries")
    call = attention._call(layer)  # says in a sentence where there are no queries
    q, k, v = call.query[head, query][None, None], call.expanded("key")[head][None], call.expanded("value")[head]
    bias, mask = _row(call.bias, head, query), _row(call.mask, head, query)
    weight = np.array(attention[layer][head, query])
    score = recorder.scores(q, k, call.scale, None if bias is None else bias[None, None], call.softcap)
    return QueryKey(
        q=_array(q[0, 0]),
        k=_array(k[0]),
        raw=_array((q @ k.transpose(-1, -2))[0, 0]),  # as the forward multiplied them, in its own precision
        scale=float(call.scale),
        score=_array(score[0, 0]),
        weight=weight,
        mask=_added(mask, call.causal, query, attention, weight),
        v_norm=_array(v.float().norm(dim=-1)),
        softcap=None if call.softcap is None else float(call.softcap),
        bias=None if bias is None else np.broadcast_to(_array(bias), weight.shape).copy(),
        sink=None if call.sinks is None else float(call.sinks[head]),
        unturned=None if rotary is None else _unturned(rotary, q[0, 0], k[0], query, attention),
    )


def _added(mask, causal: bool, query: int, attention: Attention, weight: np.ndarray) -> np.ndarray:
    """What the mask adds to each score; the very low numbers that some models write for "not here" become -inf."""
    keys = len(attention.keys)
    if mask is None:
        hidden = np.arange(keys) > query + keys - len(attention.queries) if causal else np.zeros(keys, dtype=bool)
        return np.where(hidden, -np.inf, 0).astype(np.float32)
    values = _array(mask) if mask.is_floating_point() else mask.cpu().numpy()
    values = np.broadcast_to(values, (keys,))
    if values.dtype == bool:
        return np.where(values, 0, -np.inf).astype(np.float32)
    return np.where((values < -1e4) & (weight == 0), -np.inf, values).astype(np.float32)


def _unturned(rotary: Rotary, q, k, query: int, attention: Attention) -> np.ndarray:
    if len(attention.queries) != len(attention.keys):
        raise ValueError("Rotary positions can be undone in self-attention only, where queries and keys are the same tokens.")
    before = rotary.undone(_array(q)[None], np.array([query]))
    return (rotary.undone(_array(k), np.arange(len(attention.keys))) @ before[0]).astype(np.float32)


def _row(of, head: int, query: int):
    """One head's row of a bias or mask [heads or 1, query or 1, key]."""
    if of is None:
        return None
    return of[min(head, of.shape[0] - 1), min(query, of.shape[1] - 1)]


def _within(index: int, count: int, what: str) -> int:
    if not -count <= index < count:
        raise ValueError(f"There are {count} {what}, counted from 0: number {index} is none of them.")
    return index % count


def _array(tensor) -> np.ndarray:
    return tensor.float().cpu().numpy()
