"""The from-scratch encoder-decoder as a LanguageModel: it says a text again, token by token, in another language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from models.decoding import Answer, beam
from models.language_model import check_text
from models.prefix import Encoded, Recent, Stamp
from models.recorder import recording
from models.scratch.model import ScratchModel, stream_of
from models.scratch.transformer import Block, EncoderDecoder, MultiHeadAttention, Stack
from models.tokens import Token
from models.trace import Attention, Trace


class EncoderDecoderModel(ScratchModel):
    """An encoder and a decoder of our own with the tokenizer that they share. What the encoder made of a text is remembered."""

    network: EncoderDecoder
    _recent: Recent[Encoded]

    @property
    def end(self) -> int:
        """The token that ends a text."""
        assert self.vocabulary.end is not None, "the tokenizer of a translator has one"
        return self.vocabulary.end

    def tokenize(self, text: str) -> list[Token]:
        """The text's tokens, then the end."""
        check_text(text)
        return [*self.vocabulary.body(text), self.vocabulary.sign(self.end, len(text))]

    def translate(self, text: str, width: int = 4) -> list[Answer]:
        """The answers to a text that beam search of this width finds, the best first, with their texts."""
        memory = self._encoded(self._fitting(self._ending(text, self.tokenize))[0], self._recent.now()).out

        def following(said: Sequence[tuple[int, ...]]) -> np.ndarray:
            with torch.inference_mode():
                stream = self.network.hidden(torch.tensor(said, device=memory.device), memory.expand(len(said), -1, -1))
                return self.network.unembed(stream[:, -1]).float().cpu().numpy()

        found = beam(following, self.vocabulary.start, self.end, width, self.room - 1)
        return [replace(one, text=self.text_of(one)) for one in found]

    def text_of(self, said: Answer) -> str:
        return self.spell(said.ids)

    def _trace(self, text: str, tokens: list[Token], cut: int, target: str, stamp: Stamp | None) -> Trace:
        known = self._encoded(tokens, stamp)
        said, _ = self._fitting(self._ending(target, self.vocabulary.tokens))
        with torch.inference_mode(), recording() as record:
            self.network.hidden(self._ids([said]), known.out)
        attention = {
            "encoder": known.attention.between(tokens, tokens),
            "decoder": Attention(said, said, record.calls[::2], rotary=self._rotary),
            "cross": Attention(said, tokens, record.calls[1::2], chooses=True),
        }
        hidden = {"encoder": known.hidden, "decoder": stream_of(record.hidden["decoder"])}
        return Trace(text, tokens, attention, hidden, cut, self._unembed, said)

    def _encoded(self, tokens: Sequence[Token], stamp: Stamp | None) -> Encoded:
        read = tuple(token.id for token in tokens)
        known = self._recent.get(stamp, read)
        if known is None:
            with torch.inference_mode(), recording() as record:
                out = self.network.encode(self._ids([tokens]))
            hidden = stream_of(record.hidden["encoder"])  # [layers + 1, position, d_model]
            known = Encoded(Attention(tokens, tokens, record.calls, rotary=self._rotary), hidden, out)
            self._recent.keep(stamp, read, known)
        return known

    @property
    def _stack(self) -> Stack:
        return self.network.encoder

    def _stream(self, read: Tensor, said: Tensor) -> Tensor:
        return self.network.hidden(said, self.network.encode(read))

    def _by_kind(self, recorded: list) -> dict[str, list]:
        layers = self.info.layers
        return {"encoder": recorded[:layers], "decoder": recorded[layers::2], "cross": recorded[layers + 1 :: 2]}

    def _attention(self, kind: str, layer: int) -> MultiHeadAttention:
        stack = self.network.encoder if kind == "encoder" else self.network.decoder
        block = stack.blocks[layer]
        assert isinstance(block, Block), "a stack is made of blocks"
        return block.cross if kind == "cross" else block.attention
