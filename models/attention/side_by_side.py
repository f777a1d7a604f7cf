"""One pass over several texts: their new tokens stand side by side in the matrices, and each attends to its own text alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from models.attention.recorded_call import Call

Ids = tuple[int, ...]


class Part(NamedTuple):
    """The new tokens of a text, at least one, and the calls of the positions before them, one a layer; () at the front."""

    ids: Ids
    calls: Sequence[Call] = ()

    @property
    def start(self) -> int:
        """The position of the first new token."""
        return self.calls[0].keys_and_values[0].shape[1] if self.calls else 0


class ReadPart(NamedTuple):
    """The result of reading a part. calls: one a layer for its new positions, with the keys and values of earlier positions too.

    stream: float32 [layers + 1, new position, d_model].
    """

    calls: list[Call]
    stream: np.ndarray


class NotSideBySide(Exception):
    """The network attends in a way that depends on more than the keys and values of a text."""


class SideBySide:
    """The texts of one pass, as a batch of one text in which their new tokens follow each other. calls: those of each text."""

    def __init__(self, parts: Sequence[Part]):
        self.parts = parts
        self.sizes = [len(part.ids) for part in parts]
        self.calls: list[list[Call]] = [[] for _ in parts]

    @property
    def ids(self) -> list[int]:
        return list(chain.from_iterable(part.ids for part in self.parts))

    @property
    def places(self) -> list[int]:
        """The position of each token in its own text."""
        return list(chain.from_iterable(range(part.start, part.start + len(part.ids)) for part in self.parts))

    def check(self, plain: bool) -> None:
        """Check that nothing but the causal order hides or favours keys. Errors: NotSideBySide."""
        if not plain:
            raise NotSideBySide("its scores or masks are not those of each text alone")

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        compute: Callable[[Tensor, Tensor, Tensor], Tensor],
        causal: bool | None = None,
        **fields: Any,
    ) -> Tensor:
        """Compute the attention of each text over its own keys and values, and record it as if the text were read alone.

        query [1, heads, all new positions, d_head], key and value [1, kv_heads, all new positions, d_head]. compute: causal
        attention of the last positions of one text. causal, fields: as in `Call`; causal None: causal if there are several
        queries.
        Returns [1, all new positions, heads, d_head].
        """
        outs = []
        pieces = zip(*(tensor.split(self.sizes, 2) for tensor in (query, key, value)), strict=True)
        for part, calls, (q, k, v) in zip(self.parts, self.calls, pieces, strict=True):
            if part.calls:
                old_key, old_value = part.calls[len(calls)].keys_and_values
                k, v = torch.cat([old_key[None], k], 2), torch.cat([old_value[None], v], 2)
            else:  # a copy: a piece would hold the tensor of all texts in memory
                q, k, v = q.clone(), k.clone(), v.clone()
            out = compute(q, k, v)
            calls.append(Call(q[0], k[0], v[0], None, q.shape[2] > 1 if causal is None else causal, out=out[0], **fields))
            outs.append(out)
        return torch.cat(outs, 1)

    def streams(self, stream: np.ndarray) -> list[np.ndarray]:
        """Split the stream of all texts [layers + 1, all new positions, d_model]: return a copy of each text's part."""
        pieces = np.split(stream, np.cumsum(self.sizes)[:-1], axis=1)
        return [np.ascontiguousarray(piece) for piece in pieces]
