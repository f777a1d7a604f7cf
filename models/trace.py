"""A Trace: what a model did with one text. It is frozen; what is costly is computed when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from models.tokens import Token

if TYPE_CHECKING:
    from models.recorder import Call
    from models.rotary import Rotary

KEPT = 64 * 2**20  # bytes of weights that are kept once computed; beyond, a layer is computed again when somebody looks


class Attention:
    """The attention of one kind (self, encoder, decoder, cross) in one trace; index it by layer.

    layers, heads: counts; queries, keys: the tokens that look and that are looked at.
    """

    def __init__(
        self,
        queries: Sequence[Token],
        keys: Sequence[Token],
        calls: Sequence[Call],
        known: dict[int, np.ndarray] | None = None,
        rotary: Callable[[int], Rotary | None] = lambda layer: None,
    ):
        """calls: one a layer. known: weights [heads, q, k] of layers already computed, for the first q queries."""
        self._rotary = rotary
        self.queries, self.keys = list(queries), list(keys)
        self.layers, self.heads = len(calls), calls[0].shape[0]
        self._calls = calls
        self._known = dict(known or {})

    @classmethod
    def from_arrays(cls, weights: np.ndarray, queries: Sequence[Token], keys: Sequence[Token]) -> Attention:
        """Attention computed elsewhere: weights [layers, heads, query, key], float, rows that sum to 1."""
        weights = np.asarray(weights, dtype=np.float32)
        if weights.ndim != 4 or weights.shape[2:] != (len(queries), len(keys)):
            raise ValueError(
                f"The weights must be [layers, heads, {len(queries)} queries, {len(keys)} keys]; they are {list(weights.shape)}."
            )
        attention = cls.__new__(cls)
        attention.queries, attention.keys, attention._calls = list(queries), list(keys), None
        attention._rotary = lambda layer: None
        attention.layers, attention.heads = weights.shape[:2]
        attention._known = dict(enumerate(weights))
        return attention

    def __getitem__(self, layer: int) -> np.ndarray:
        """The weights of a layer: float32 [heads, query, key], each row sums to 1."""
        layer = range(self.layers)[layer]
        known = self._known.get(layer)
        rows = 0 if known is None else known.shape[1]
        if rows < len(self.queries):
            weights = self._calls[layer].weights(rows).cpu().numpy()
            if rows:
                weights = np.concatenate([np.pad(known, ((0, 0), (0, 0), (0, len(self.keys) - known.shape[2]))), weights], axis=1)
            weights.flags.writeable = False
            self._known.pop(layer, None)
            while self._known and sum(one.nbytes for one in list(self._known.values())) + weights.nbytes > KEPT and self._calls:
                self._known.pop(next(iter(self._known)), None)
            known = self._known[layer] = weights
        return known

    def scores(self, layer: int) -> np.ndarray:
        """q·k after scaling, before mask and softmax: float32 [heads, query, key]."""
        return _array(self._call(layer).scores())

    def rotary(self, layer: int) -> Rotary | None:
        """How rotary positions turned the queries and keys of a layer; None where they did not, or not as is known."""
        return self._rotary(range(self.layers)[layer])

    def formula(self, layer: int) -> str:
        """What a row of weights is, in this model: "softmax(q·kᵀ/√d)", or what it does in its place."""
        call = self._calls[layer] if self._calls else None
        if call is None or call.query is None:
            return "softmax of its scores"
        usual = abs(call.scale * call.query.shape[-1] ** 0.5 - 1) < 1e-4
        score = "q·kᵀ/√d" if usual else "q·kᵀ" if call.scale == 1 else f"{call.scale:.3g} q·kᵀ"
        if call.softcap is not None:
            score = f"c·tanh({score}/c), c = {call.softcap:g}"
        if call.bias is not None:
            score += " + position bias"
        return f"softmax({score}{', and a sink' if call.sinks is not None else ''})"

    def q(self, layer: int) -> np.ndarray:
        """Queries after positions were applied: float32 [heads, position, d_head]."""
        return _array(self._call(layer).query)

    def k(self, layer: int) -> np.ndarray:
        """Keys after positions were applied, one a query head: float32 [heads, position, d_head]."""
        return _array(self._call(layer).expanded("key"))

    def v(self, layer: int) -> np.ndarray:
        """Values, one a query head: float32 [heads, position, d_head]."""
        return _array(self._call(layer).expanded("value"))

    def _call(self, layer: int) -> Call:
        if self._calls is None:
            raise ValueError("These weights were computed elsewhere: queries, keys, values and scores are not known.")
        call = self._calls[layer]
        if call.query is None:
            raise ValueError(
                "This model attends in its own way: its weights can be had, its queries, keys, values and scores cannot."
            )
        return call

    @property
    def bytes(self) -> int:
        """What this holds in memory, weights that were already computed included."""
        held = {
            one.untyped_storage().data_ptr(): one.untyped_storage().nbytes()
            for call in self._calls or ()
            for one in call.tensors()
        }
        return sum(held.values()) + sum(one.nbytes for one in self._known.values())


@dataclass(frozen=True)
class Trace:
    """One text, read once.

    tokens: what the model read, special tokens included; text: what was typed; cut: characters at its left that did not fit.
    target: what the decoder of an encoder-decoder read, its start token first.
    attention: {"self": Attention}, or {"encoder": …, "decoder": …, "cross": …}.
    hidden: {"self": float32 [layers + 1, position, d_model]} (or "encoder" and "decoder"): after the embedding, then after each
    block, before the final norm.
    """

    text: str
    tokens: list[Token]
    attention: dict[str, Attention]
    hidden: dict[str, np.ndarray]
    cut: int = 0
    unembed: Callable[[np.ndarray], np.ndarray] | None = field(default=None, repr=False)
    target: list[Token] = field(default_factory=list)

    @property
    def read(self) -> list[Token]:
        """The tokens that `logits` has a row for: those of the target where there is one, else all."""
        return self.target or self.tokens

    @property
    def bytes(self) -> int:
        """What this holds in memory."""
        return sum(one.bytes for one in self.attention.values()) + sum(one.nbytes for one in self.hidden.values())

    @cached_property
    def logits(self) -> np.ndarray | None:
        """Scores of the token after each position: float32 [position, vocabulary]; None without a language-model head."""
        return self.unembed(self._last_hidden) if self.unembed else None

    def logits_at(self, position: int | slice | list[int]) -> np.ndarray | None:
        """One row of `logits`, or some, computed by themselves: float32 [vocabulary] or [positions, vocabulary]."""
        return self.unembed(self._last_hidden[position]) if self.unembed else None

    @property
    def _last_hidden(self) -> np.ndarray:
        return self.hidden["self" if "self" in self.hidden else "decoder"][-1]


def _array(tensor) -> np.ndarray:
    return tensor.float().cpu().numpy()
