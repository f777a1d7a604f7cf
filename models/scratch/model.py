"""What the from-scratch transformers of all three kinds have in common as a LanguageModel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from models.gradients import Gradients, gradients
from models.language_model import LanguageModel, ModelInfo
from models.prefix import Recent
from models.recorder import recording
from models.rotary import Rotary
from models.scratch.corpus import END, MASK, START
from models.scratch.transformer import Decoder, Encoder, EncoderDecoder, MultiHeadAttention, Stack
from models.tokens import ByteLevelTokens, Token
from models.trace import Trace


class ScratchModel(LanguageModel):
    """A transformer of our own with its tokenizer. Safe to share between threads."""

    def __init__(self, network: Decoder | Encoder | EncoderDecoder, tokenizer: Tokenizer, name: str, source: str):
        self.network = network.eval().requires_grad_(False)
        self.vocabulary = ByteLevelTokens(tokenizer, START, END, MASK)
        config = network.config
        both = config.kind == "encoder-decoder"
        self.info = ModelInfo(
            name=name,
            kind=config.kind,
            layers=config.layers,
            heads=config.heads,
            kv_heads=config.key_heads,
            d_model=config.d_model,
            vocabulary=config.vocabulary,
            context=config.context,
            parameters=sum(p.numel() for p in network.parameters()),
            source=source,
            decoder_layers=config.layers if both else 0,
            decoder_heads=config.heads if both else 0,
            mask=MASK if config.kind == "encoder" else "",
        )
        self._recent = Recent()

    def tokenize(self, text: str) -> list[Token]:
        return self.vocabulary.tokens(text)

    def token_text(self, id: int) -> str:
        return self.vocabulary.text(id)[0]

    def is_special(self, id: int) -> bool:
        return id in self.vocabulary.special

    def trace(self, text: str, target: str = "", edits: Sequence = ()) -> Trace:
        if target and self.info.kind != "encoder-decoder":
            raise ValueError(f"{self.info.name} reads one text at a time. Leave the second one empty.")
        if edits:
            raise ValueError(f"{self.info.name} cannot be edited yet.")
        tokens, cut = self._fitting(self.tokenize(text))
        return self._trace(text, tokens, cut, target)

    def gradients(self, trace: Trace, position: int, token: int) -> dict[str, Gradients]:
        if not -len(trace.read) <= position < len(trace.read):
            raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
        with torch.enable_grad(), recording(outs=True) as record:
            stream = self._stream(ids([trace.tokens]), ids([trace.target]))
            logits = self.network.unembed(stream[0, position])
            return gradients(logits[token], self._by_kind(record.calls), self._by_kind(record.outs))

    def logits_of(self, texts: Sequence[Sequence[Token]], position: int = -1, target: Sequence[Token] = ()) -> np.ndarray:
        with torch.inference_mode():
            stream = self._stream(ids(texts), ids([target] * len(texts)))
            return self.network.unembed(stream[:, position]).numpy()

    def output_weights(self, kind: str, layer: int) -> np.ndarray:
        output = self._attention(kind, layer).output.weight  # [d_model, heads · d_head]
        return output.T.unflatten(0, (self.info.heads, -1)).float().numpy()  # [heads, d_head, d_model]

    def embedding(self, ids: Sequence[int] | slice = slice(None)) -> np.ndarray:
        return self._stack.embedding.weight[ids].numpy()

    # What differs between the kinds

    @abstractmethod
    def _trace(self, text: str, tokens: list[Token], cut: int, target: str) -> Trace:
        """Read tokens that fit."""

    @property
    def _stack(self) -> Stack:
        """The stack that reads the text."""
        return self.network

    def _stream(self, read: Tensor, said: Tensor) -> Tensor:
        """The residual stream that predictions are made of, after the last block: [batch, position, d_model]."""
        return self.network.hidden(read)

    def _by_kind(self, recorded: list) -> dict[str, list]:
        """What was recorded, in order, by kind of attention and layer."""
        return {"self": recorded}

    def _attention(self, kind: str, layer: int) -> MultiHeadAttention:
        return self.network.blocks[layer].attention

    # What they share

    def _fitting(self, tokens: list[Token]) -> tuple[list[Token], int]:
        """What fits in the context, the start token kept; and how many characters at the left do not."""
        too_many = len(tokens) - self.room
        if too_many <= 0:
            return tokens, 0
        front = int(tokens[0].id == self.vocabulary.start)
        left = tokens[front + too_many :]
        return tokens[:front] + left, left[0].start

    def _rotary(self, layer: int) -> Rotary | None:
        if self._stack.config.positions != "rotary":
            return None
        cos, sin = self._stack.positions.turns[:, 1].double().numpy()  # of one step
        return Rotary(np.arctan2(sin, cos))

    def _unembed(self, hidden: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return self.network.unembed(torch.from_numpy(hidden)).numpy()


def ids(texts: Sequence[Sequence[Token]]) -> Tensor:
    """The ids of texts that are equally long: int64 [text, position]."""
    return torch.tensor([[token.id for token in text] for text in texts], dtype=torch.long)
