"""The from-scratch decoder as a LanguageModel: text in, Trace out, reading again only what changed."""

from __future__ import annotations

import numpy as np
import torch

from models.prefix import Recent, Stamp, first, joined
from models.recorder import recording
from models.scratch.model import ScratchModel, stream_of
from models.scratch.reader import cached
from models.scratch.transformer import Decoder
from models.tokens import Token
from models.trace import Attention, Trace


class DecoderModel(ScratchModel):
    """A decoder of our own with its tokenizer. Safe to share between threads."""

    network: Decoder
    _recent: Recent[Trace]

    @property
    def decoder(self) -> Decoder:
        return self.network

    def _trace(self, text: str, tokens: list[Token], cut: int, target: str, stamp: Stamp | None) -> Trace:
        read = tuple(token.id for token in tokens)
        if same := self._recent.same(stamp, read, text, tokens):
            return same
        before, shared = self._recent.longest_shared(stamp, read)
        trace = self._continued(text, tokens, cut, before, shared)
        self._recent.keep(stamp, read, trace)
        return trace

    def _continued(self, text: str, tokens: list[Token], cut: int, before: Trace | None, shared: int) -> Trace:
        """Run the tokens after the first `shared`, and join them to what `before` knows of those."""
        calls = first(before.attention["self"]._calls, shared) if before else []
        hidden = before.hidden["self"][:, :shared] if before else None
        known = before.attention["self"].beginning(shared) if before else {}
        if hidden is None or shared < len(tokens):
            with torch.inference_mode(), recording() as record:
                self.network.hidden(self._ids([tokens[shared:]]), cached(calls))
            new = stream_of(record.hidden["self"])  # [layers + 1, new positions, d_model]
            hidden = new if hidden is None else np.concatenate([hidden, new], axis=1)
            calls = joined(calls, record.calls) if before else record.calls
        attention = Attention(tokens, tokens, calls, known, self._rotary)
        return Trace(text, tokens, {"self": attention}, {"self": hidden}, cut, self._unembed)
