"""The from-scratch encoder-decoder as a LanguageModel: it translates a text, token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from models.attention.recorder import recording
from models.generation.beams import Answer, beam
from models.language_model import check_text
from models.reading.prefix import Encoded, Recent, Stamp
from models.scratch.model import ScratchModel, stream_of
from models.scratch.transformer import Block, EncoderDecoder, MultiHeadAttention, Stack
from models.tokens import Token
from models.trace import Attention, Trace


class EncoderDecoderModel(ScratchModel):
    """An encoder and a decoder of our own with a shared tokenizer. The encoder's results are remembered."""

    network: EncoderDecoder
    recent: Recent[Encoded]

    @property
    def end(self) -> int:
        """The token that ends a text."""
        assert self.vocabulary.end is not None, "the tokenizer of a translator has one"
        return self.vocabulary.end

    def tokenize(self, text: str) -> list[Token]:
        """Return the tokens of the text, then the end token."""
        check_text(text)
        return [*self.vocabulary.body(text), self.vocabulary.sign(self.end, len(text))]

    def translate(self, text: str, width: int = 4) -> list[Answer]:
        """Translate a text by beam search of this width; return the answers, the best first, with their texts."""
        memory = self.encoded(self.fitting(self.last_tokens(text, self.tokenize))[0], self.recent.now()).out

        def following(beginnings: Sequence[tuple[int, ...]]) -> np.ndarray:
            with torch.inference_mode():
                stream = self.network.hidden(
                    torch.tensor(beginnings, device=memory.device), memory.expand(len(beginnings), -1, -1)
                )
                return self.network.unembed(stream[:, -1]).float().cpu().numpy()

        translations = beam(following, self.vocabulary.start, self.end, width, self.room - 1)
        return [replace(answer, text=self.text_of(answer)) for answer in translations]

    def text_of(self, answer: Answer) -> str:
        return self.spell(answer.ids)

    def trace_tokens(self, text: str, tokens: list[Token], cut: int, target: str, stamp: Stamp | None) -> Trace:
        known = self.encoded(tokens, stamp)
        read, _ = self.fitting(self.last_tokens(target, self.vocabulary.tokens))
        with torch.inference_mode(), recording() as record:
            self.network.hidden(self.batch_ids([read]), known.out)
        attention = {
            "encoder": known.attention.between(tokens, tokens),
            "decoder": Attention(read, read, record.calls[::2], rotary=self.rotary),
            "cross": Attention(read, tokens, record.calls[1::2], chooses=True),
        }
        hidden = {"encoder": known.hidden, "decoder": stream_of(record.hidden["decoder"])}
        return Trace(text, tokens, attention, hidden, cut, self.unembed, read)

    def encoded(self, tokens: Sequence[Token], stamp: Stamp | None) -> Encoded:
        read = tuple(token.id for token in tokens)
        known = self.recent.get(stamp, read)
        if known is None:
            with torch.inference_mode(), recording() as record:
                out = self.network.encode(self.batch_ids([tokens]))
            hidden = stream_of(record.hidden["encoder"])  # [layers + 1, position, d_model]
            known = Encoded(Attention(tokens, tokens, record.calls, rotary=self.rotary), hidden, out)
            self.recent.keep(stamp, read, known)
        return known

    @property
    def stack(self) -> Stack:
        return self.network.encoder

    def _stream(self, source: Tensor, target: Tensor) -> Tensor:
        return self.network.hidden(target, self.network.encode(source))

    def _by_kind(self, calls: list) -> dict[str, list]:
        layers = self.info.layers
        return {"encoder": calls[:layers], "decoder": calls[layers::2], "cross": calls[layers + 1 :: 2]}

    def _attention(self, kind: str, layer: int) -> MultiHeadAttention:
        stack = self.network.encoder if kind == "encoder" else self.network.decoder
        block = stack.blocks[layer]
        assert isinstance(block, Block), "a stack is made of blocks"
        return block.cross if kind == "cross" else block.attention
