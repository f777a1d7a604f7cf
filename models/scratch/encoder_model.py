"""The from-scratch encoder as a LanguageModel: it predicts the token at each mask, or the label of a text."""

from __future__ import annotations

import torch

from models.attention.recorder import recording
from models.reading.prefix import Stamp
from models.scratch.model import ScratchModel, stream_of
from models.scratch.transformer import Encoder
from models.tokens import Token
from models.trace import Attention, Trace


class EncoderModel(ScratchModel):
    """An encoder of our own with its tokenizer. Every position sees all, so a changed text is read again."""

    network: Encoder

    def trace_tokens(self, text: str, tokens: list[Token], cut: int, target: str, stamp: Stamp | None) -> Trace:
        with torch.inference_mode(), recording() as record:
            self.network.hidden(self.batch_ids([tokens]))
        attention = Attention(tokens, tokens, record.calls, rotary=self.rotary)
        hidden = stream_of(record.hidden["self"])  # [layers + 1, position, d_model]
        words, labels = (None, self.unembed) if self.info.labels else (self.unembed, None)
        return Trace(text, tokens, {"self": attention}, {"self": hidden}, cut, words, label=labels)
