"""The from-scratch decoder as a LanguageModel: text in, Trace out, reading again only what changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from models.gradients import Gradients, gradients
from models.language_model import LanguageModel, ModelInfo
from models.prefix import Recent, first, joined
from models.recorder import recording
from models.rotary import Rotary
from models.scratch.corpus import START
from models.scratch.transformer import Cache, Decoder, TransformerConfig
from models.tokens import ByteLevelTokens, Token
from models.trace import Attention, Trace


class DecoderModel(LanguageModel):
    """A decoder of our own with its tokenizer. Safe to share between threads."""

    def __init__(self, decoder: Decoder, tokenizer: Tokenizer, name: str, source: str):
        self.decoder = decoder.eval().requires_grad_(False)
        self.vocabulary = ByteLevelTokens(tokenizer, START)
        config = decoder.config
        self.info = ModelInfo(
            name=name,
            kind="decoder",
            layers=config.layers,
            heads=config.heads,
            kv_heads=config.key_heads,
            d_model=config.d_model,
            vocabulary=config.vocabulary,
            context=config.context,
            parameters=sum(p.numel() for p in decoder.parameters()),
            source=source,
        )
        self._recent = Recent()

    @classmethod
    def from_folder(cls, folder: Path) -> DecoderModel:
        """Read config.json, model.safetensors and tokenizer.json; weights are computed with in float32."""
        config = TransformerConfig(**json.loads((folder / "config.json").read_text()))
        with torch.device("meta"):
            decoder = Decoder(config)
        decoder.to_empty(device="cpu")
        decoder.load_state_dict({name: weight.float() for name, weight in load_file(folder / "model.safetensors").items()})
        decoder.reset()
        return cls(decoder, Tokenizer.from_file(str(folder / "tokenizer.json")), folder.name, "Headlight")

    def tokenize(self, text: str) -> list[Token]:
        return self.vocabulary.tokens(text)

    def token_text(self, id: int) -> str:
        return self.vocabulary.text(id)[0]

    def is_special(self, id: int) -> bool:
        return id == self.vocabulary.start

    def trace(self, text: str, target: str = "", edits: Sequence = ()) -> Trace:
        if target:
            raise ValueError(f"{self.info.name} is a decoder: it has no second text. Leave the target empty.")
        if edits:
            raise ValueError(f"{self.info.name} cannot be edited yet.")
        tokens = self.tokenize(text)
        too_many = max(0, len(tokens) - self.room)
        if too_many:
            tokens = [tokens[0], *tokens[1 + too_many :]]
        cut = tokens[1].start if too_many else 0
        ids = tuple(token.id for token in tokens)
        before, shared = self._recent.longest_shared(ids)
        trace = self._read(text, tokens, cut, before, shared)
        self._recent.keep(ids, trace)
        return trace

    def gradients(self, trace: Trace, position: int, token: int) -> dict[str, Gradients]:
        ids = torch.tensor([[one.id for one in trace.tokens]])
        position = range(len(trace.tokens))[position]
        with torch.enable_grad(), recording(outs=True) as record:
            logits = self.decoder.unembed(self.decoder.hidden(ids)[0, position])
            return gradients(logits[token], {"self": record.calls}, {"self": record.outs})

    def logits_of(self, texts: Sequence[Sequence[Token]], position: int = -1, target: Sequence[Token] = ()) -> np.ndarray:
        ids = torch.tensor([[token.id for token in text] for text in texts])
        with torch.inference_mode():
            return self.decoder.unembed(self.decoder.hidden(ids)[:, position]).numpy()

    def output_weights(self, kind: str, layer: int) -> np.ndarray:
        output = self.decoder.blocks[layer].attention.output.weight  # [d_model, heads · d_head]
        return output.T.unflatten(0, (self.info.heads, -1)).float().numpy()  # [heads, d_head, d_model]

    def embedding(self, ids: Sequence[int] | slice = slice(None)) -> np.ndarray:
        return self.decoder.embedding.weight[ids].numpy()

    def _rotary(self, layer: int) -> Rotary | None:
        if self.decoder.config.positions != "rotary":
            return None
        cos, sin = self.decoder.positions.turns[:, 1].double().numpy()  # of one step
        return Rotary(np.arctan2(sin, cos))

    def _read(self, text: str, tokens: list[Token], cut: int, before: Trace | None, shared: int) -> Trace:
        """Run the tokens after the first `shared`, and join them to what `before` knows of those."""
        calls = first(before.attention["self"]._calls, shared) if shared else []
        hidden = before.hidden["self"][:, :shared] if shared else None
        if shared < len(tokens):
            ids = torch.tensor([[token.id for token in tokens[shared:]]])
            cache = Cache([(call.key[None], call.value[None]) for call in calls])
            with torch.inference_mode(), recording() as record:
                self.decoder.hidden(ids, cache)
            new = torch.stack(record.hidden["self"]).numpy()  # [layers + 1, new positions, d_model]
            hidden = np.concatenate([hidden, new], axis=1) if shared else new
            calls = joined(calls, record.calls) if shared else record.calls
        known = {layer: w[:, :shared, :shared] for layer, w in before.attention["self"]._known.items()} if shared else {}
        attention = Attention(tokens, tokens, calls, known, self._rotary)
        return Trace(text, tokens, {"self": attention}, {"self": hidden}, cut, self._unembed)

    def _unembed(self, hidden: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return self.decoder.unembed(torch.from_numpy(hidden)).numpy()
