"""Attention of one kind in one trace: its weights, scores, queries, keys and values, computed on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from models.edits import describe
from models.numbers.readonly import array_of, read_only
from models.tokens import Token

if TYPE_CHECKING:
    from torch import Tensor

    from models.attention.recorded_call import Call
    from models.attention.undo_rotary import Rotary


COMING = "what comes next"  # names the last row of cross-attention: its token is not chosen yet


KEPT = 64 * 2**20  # bytes of computed weights to keep; beyond, a layer is computed again when it is needed


LEEWAY = 0.01  # by which rows of weights in 16 bits may miss 1


class Attention:
    """The attention of one kind (self, encoder, decoder, cross) in one trace; index it by layer.

    layers, heads: counts; queries, keys: the tokens that look and that are looked at. counts: the heads of each layer; `heads` is
    the largest of them. numbers: the number of each layer in the network, counted from 0; layers without attention leave gaps.
    The arrays that it returns are read-only. Analyses that return [layers, heads, …] have NaN for heads that a layer does not
    have.
    """

    def __init__(
        self,
        queries: Sequence[Token],
        keys: Sequence[Token],
        calls: Sequence[Call],
        known: dict[int, np.ndarray] | None = None,
        rotary: Callable[[int], Rotary | None] = lambda layer: None,
        chooses: bool = False,
        numbers: Sequence[int] = (),
    ):
        """calls: one a layer. known: weights [heads, q, k] of layers already computed, for the first q queries. chooses: this is
        cross-attention, whose rows are named by what they serve to choose. numbers: of the layers; (): 0, 1, …"""
        self._rotary, self.chooses = rotary, chooses
        self.queries, self.keys = tuple(queries), tuple(keys)
        self.counts = tuple(call.shape[0] for call in calls)
        self.layers, self.heads = len(calls), max(self.counts)
        self.numbers = tuple(numbers) or tuple(range(self.layers))
        self.calls = calls
        self._known = dict(known or {})

    @classmethod
    def from_arrays(
        cls,
        weights: np.ndarray | Tensor | Sequence[np.ndarray] | Sequence[Tensor],
        queries: Sequence[Token],
        keys: Sequence[Token],
        chooses: bool = False,
    ) -> Attention:
        """Build an attention computed elsewhere: weights [layers, heads, query, key], a tensor, an array, or a list of layers.

        Each row sums to 1 (in 16 bits, within 1 %), or to less where an attention sink takes the rest, which no key gets. A copy
        is kept. chooses: it is the cross-attention of a decoder that reads the queries (see `rows`). Errors: ValueError for
        weights of another shape, or that are no attention.
        """
        try:
            weights = _float32(weights)
        except (TypeError, ValueError) as error:
            raise ValueError(f"The weights must be an array of numbers; they are {type(weights).__name__}.") from error
        if weights.ndim != 4 or not weights.shape[0] * weights.shape[1] or weights.shape[2:] != (len(queries), len(keys)):
            raise ValueError(
                f"The weights must be [layers, heads, {len(queries)} queries, {len(keys)} keys]; they are {list(weights.shape)}."
            )
        if not all(isinstance(token, Token) for token in (*queries, *keys)):
            raise ValueError("Queries and keys must be tokens (models.Token), such as `model.tokenize(text)` gives.")
        _check_rows(weights)
        return cls.of(weights, queries, keys, chooses)

    @classmethod
    def of(
        cls, weights: np.ndarray, queries: Sequence[Token], keys: Sequence[Token], chooses: bool, numbers: Sequence[int] = ()
    ) -> Attention:
        """Build an attention as `from_arrays` does, without checks, from float32 weights that are known to be valid."""
        attention = cls.__new__(cls)
        attention.queries, attention.keys, attention.calls = tuple(queries), tuple(keys), ()
        attention._rotary, attention.chooses = lambda layer: None, chooses
        attention.layers, attention.heads = weights.shape[:2]
        attention.numbers = tuple(numbers) or tuple(range(attention.layers))
        layers = [layer[~np.isnan(layer).all((1, 2))] if layer.size else layer for layer in weights]
        attention._known = dict(enumerate(map(read_only, layers)))
        attention.counts = tuple(map(len, layers))
        return attention

    @property
    def rows(self) -> tuple[Token, ...]:
        """The token that names each row: its query; in cross-attention the token that the row serves to choose.

        A decoder looks at its source while it stands on the token just read, in order to choose the next one. So the row of
        query i is named by query i + 1, with query i as its `after`; the last one by the next token, which is not known yet.
        """
        if not self.chooses:
            return self.queries
        end = self.queries[-1].end
        chosen = [*self.queries[1:], Token(-1, COMING, end, end, special=True)]
        return tuple(replace(token, after=query) for token, query in zip(chosen, self.queries, strict=True))

    def only(self, layer: int) -> Attention:
        """Return the weights of one layer as an attention of their own, without its queries, keys and values."""
        return self.of(self[layer][None], self.queries, self.keys, self.chooses, (self.numbers[layer],))

    def __getitem__(self, layer: int) -> np.ndarray:
        """Return the weights of a layer: float32 [heads, query, key], each row sums to 1."""
        layer = range(self.layers)[layer]
        known = self._known.get(layer)
        rows = 0 if known is None else known.shape[1]
        if known is not None and rows == len(self.queries):
            return known
        weights = self._compute(layer, rows)
        if known is not None:
            late, weights = weights, np.zeros((self.counts[layer], len(self.queries), len(self.keys)), np.float32)
            weights[:, :rows, : known.shape[2]], weights[:, rows:] = known, late
        weights.flags.writeable = False
        self._known.pop(layer, None)
        while (known_layers := list(self._known.items())) and sum(
            array.nbytes for _, array in known_layers
        ) + weights.nbytes > KEPT:
            self._known.pop(known_layers[0][0], None)
        self._known[layer] = weights
        return weights

    def _compute(self, layer: int, first: int) -> np.ndarray:
        """Compute the weights of a layer for the queries from `first` on."""
        return self.calls[layer].weights(first).cpu().numpy()

    def beginning(self, positions: int) -> dict[int, np.ndarray]:
        """Return the already computed weights of layers, for the first positions of a causal model: [heads, query, key]."""
        return {layer: weights[:, :positions, :positions] for layer, weights in list(self._known.items())}

    def between(self, queries: Sequence[Token], keys: Sequence[Token]) -> Attention:
        """Return the same weights between the same tokens at other offsets, in another text."""
        attention = copy(self)  # shares the weights computed so far and later
        attention.queries, attention.keys = tuple(queries), tuple(keys)
        return attention

    def scores(self, layer: int) -> np.ndarray:
        """Return q·k after scaling (and an edited temperature), before mask and softmax: float32 [heads, query, key]."""
        return array_of(self.call(layer).scores())

    def rotary(self, layer: int) -> Rotary | None:
        """Return the angles by which rotary positions turned queries and keys of a layer; None without any, or if not known."""
        return self._rotary(range(self.layers)[layer])

    def formula(self, layer: int) -> str:
        """Return the formula of a row of weights: "softmax(q·kᵀ/√d)", or this model's own; and the layer's edits."""
        call = self.calls[layer] if self.calls else None
        note = f" (edited: {describe(call.edits)})" if call is not None and call.edits else ""
        if call is None or call.query is None:
            return f"softmax of its scores{note}"
        usual = abs(call.scale * call.query.shape[-1] ** 0.5 - 1) < 1e-4
        score = "q·kᵀ/√d" if usual else "q·kᵀ" if call.scale == 1 else f"{call.scale:.3g} q·kᵀ"
        if call.softcap is not None:
            score = f"c·tanh({score}/c), c = {call.softcap:g}"
        if call.bias is not None:
            score += " + position bias"
        return f"softmax({score}{', and a sink' if call.sinks is not None else ''}){note}"

    def q(self, layer: int) -> np.ndarray:
        """Return the queries after positions were applied: float32 [heads, position, d_head]."""
        return array_of(_require(self.call(layer).query))

    def k(self, layer: int) -> np.ndarray:
        """Return the keys after positions were applied, one for each query head: float32 [heads, position, d_head]."""
        return array_of(self.call(layer).expanded("key"))

    def v(self, layer: int) -> np.ndarray:
        """Return the values, one for each query head: float32 [heads, position, d_head]."""
        return array_of(self.call(layer).expanded("value"))

    def call(self, layer: int) -> Call:
        """Return the recorded call of a layer. Errors: ValueError, a sentence, where queries and keys are not known."""
        if not self.calls:
            raise ValueError("These weights were computed elsewhere: queries, keys, values and scores are not known.")
        call = self.calls[layer]
        if call.query is None:
            raise ValueError(
                "This model attends in its own way: its attention weights are known, "
                "but not its queries, keys, values and scores."
            )
        return call

    def out(self, layer: int) -> np.ndarray:
        """Return the output of each head, before W_O: float32 [heads, position, d_head]. Errors: ValueError if not known."""
        call = self.call(layer)
        if call.out is None:
            raise ValueError("What the heads of this model give is not known, only their weights of attention.")
        return array_of(call.out.transpose(0, 1))

    @property
    def bytes(self) -> int:
        """The bytes in memory, with the weights computed so far; other threads may compute more meanwhile."""
        return self._recorded_bytes + sum(layer_weights.nbytes for layer_weights in list(self._known.values()))

    @cached_property
    def _recorded_bytes(self) -> int:
        storages = [tensor.untyped_storage() for call in self.calls for tensor in call.tensors()]
        return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def _float32(numbers: Any) -> np.ndarray:
    """Copy an array, a tensor, or a list of either: float32. Errors: TypeError, ValueError for anything without numbers."""
    if isinstance(numbers, list | tuple) and any(hasattr(part, "detach") for part in numbers):
        return np.stack([_float32(part) for part in numbers])
    return np.array(array_of(numbers) if hasattr(numbers, "detach") else numbers, dtype=np.float32)  # numpy has no bfloat16


def _check_rows(weights: np.ndarray) -> None:
    """Check weights [layers, heads, query, key]. Errors: ValueError, naming the first row, if no softmax could give them."""
    sums = weights.sum(-1)  # less than 1 where a sink takes a share
    odd = np.argwhere(~((sums > 0) & (sums <= 1 + LEEWAY) & (weights >= -LEEWAY).all(-1)))  # NaN is within nothing
    if len(odd):
        layer, head, query = (int(index) for index in odd[0])
        row = weights[layer, head, query]
        what = (
            "holds what is no number"
            if not np.isfinite(row).all()
            else "holds a negative weight"
            if (row < -LEEWAY).any()
            else f"sums to {sums[layer, head, query]:.4g}"
        )
        raise ValueError(
            f"These weights are no attention: the row of query {query} in L{layer} H{head} {what}. Each row must be shares that "
            "sum to 1, as after a softmax, or to less where an attention sink takes the rest."
        )


def _require(tensor: Tensor | None) -> Tensor:
    assert tensor is not None, "`call` has said what is not known"
    return tensor
