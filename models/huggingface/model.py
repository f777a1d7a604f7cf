"""A network of transformers with its tokenizer, as a LanguageModel: text in, Trace out."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn
from transformers import DynamicCache, PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import BaseModelOutput

from models.errors import ModelError
from models.gradients import Gradients, gradients
from models.huggingface import layout
from models.huggingface.attention import NAME, SoftmaxTap
from models.huggingface.outputs import Outputs
from models.huggingface.text import TextTokens
from models.huggingface.turns import turns
from models.language_model import LanguageModel, ModelInfo
from models.prefix import Encoded, Recent, first, joined
from models.recorder import Call, Record, recording
from models.rotary import Rotary
from models.tokens import Token
from models.trace import Attention, Trace

ROWS = 2**23  # numbers of logits that are made at once


class HuggingFaceModel(LanguageModel):
    """Any text model of transformers. Safe to share between threads.

    kind: "decoder" | "encoder" | "encoder-decoder"; predicts: whether it has a language-model head.
    Errors: ModelError when its attention or its layers cannot be followed.
    """

    def __init__(
        self,
        network: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        kind: str,
        predicts: bool = True,
        name: str = "model",
        source: str = "",
        notes: Sequence[str] = (),
    ):
        self.network = network.eval().requires_grad_(False)
        self.vocabulary = TextTokens(tokenizer)
        self.kind, self.predicts = kind, predicts
        self.config = network.config.get_text_config(decoder=kind != "encoder")
        self.start = _start(network.config, tokenizer)
        self.mask = self.vocabulary.mask if kind == "encoder" else ""
        self.bytes = sum(one.numel() * one.element_size() for one in network.parameters())
        self._recent = Recent()
        self._tap: int | None = None
        if not all(bool(torch.isfinite(one.sum(dtype=torch.float32))) for one in network.parameters() if one.is_floating_point()):
            raise ModelError("Some of its weights are not numbers (NaN or infinite), so nothing it says can be trusted.")
        try:
            self._ready()
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(
                f"Headlight cannot follow what happens inside {type(network).__name__}. Choose a model of another architecture."
            ) from error
        self.info = self._facts(name, source, notes)

    def tokenize(self, text: str) -> list[Token]:
        return self._tokens(text)

    def token_text(self, id: int) -> str:
        return self.vocabulary.text(id)[0]

    def is_special(self, id: int) -> bool:
        return id in self.vocabulary.special

    def trace(self, text: str, target: str = "", edits: Sequence = ()) -> Trace:
        """Read a text. target: what an encoder-decoder has said so far; for an encoder that takes pairs, the second text."""
        if edits:
            raise ValueError(f"{self.info.name} cannot be edited yet.")
        if self.kind == "encoder-decoder":
            return self._read_both(text, target)
        if target and not (self.kind == "encoder" and self.vocabulary.pairs):
            raise ValueError(f"{self.info.name} reads one text at a time. Leave the second one empty.")
        tokens, cut = self._fitting(self._tokens(text, target), text)
        ids = tuple(token.id for token in tokens)
        if self.kind == "encoder":
            calls, hidden = self._encode(tokens)
            known: dict[int, np.ndarray] = {}
        else:
            calls, hidden, known = self._decode(ids)
        attention = {"self": Attention(tokens, tokens, calls, known, self._rotary)}
        trace = Trace(text, tokens, attention, {"self": hidden}, cut, self._unembed if self.predicts else None)
        if self._reusable:
            self._recent.keep(ids, trace)
        return trace

    def gradients(self, trace: Trace, position: int, token: int) -> dict[str, Gradients]:
        self._must_predict()
        if not -len(trace.read) <= position < len(trace.read):
            raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
        inputs = self._inputs([trace.tokens], [[token.id for token in trace.target]])
        network = self.network if trace.target else self.network.base_model
        with torch.enable_grad():
            record, _ = self._pass(network, recording(outs=True), **inputs)
            stream = record.hidden["decoder" if trace.target else "self"][-1]
            logits = self._logits(stream[position : position + 1].to(self.network.dtype))[0]
            return gradients(logits[token], self._layout.split(record), self._layout.split(record, of=record.outs))

    def logits_of(self, texts: Sequence[Sequence[Token]], position: int = -1, target: Sequence[Token] = ()) -> np.ndarray:
        self._must_predict()
        said = [token.id for token in target]
        last = self._keeps and not said and position == -1  # logits are large: no others are made then
        made = 1 if last else len(said or texts[0])
        at_once, found = max(1, ROWS // (made * self.vocabulary.size)), []
        for start in range(0, len(texts), at_once):
            part = texts[start : start + at_once]
            inputs = self._inputs(part, [said] * len(part)) | ({"logits_to_keep": 1} if last else {})
            with torch.inference_mode():
                out = self.network(**inputs, attention_mask=torch.ones_like(inputs["input_ids"]), return_dict=True)
            found.append(out.logits[:, position].float().cpu().numpy())
        return np.concatenate(found)

    def output_weights(self, kind: str, layer: int) -> np.ndarray:
        return self._outputs.weights(kind, layer, self._layout.heads[kind])

    def embedding(self, ids: Sequence[int] | slice = slice(None)) -> np.ndarray:
        return self.network.get_input_embeddings().weight[ids].float().cpu().numpy()

    def _rotary(self, layer: int) -> Rotary | None:
        return self._turns[layer]

    @cached_property
    def _turns(self) -> list[Rotary | None]:
        word = next((token.id for token in self._tokens("the") if not token.special), 0)
        return turns(
            self.network, lambda count: self._run(self.network.base_model, input_ids=self._ids([word] * count))[0]["self"]
        )

    def _must_predict(self) -> None:
        if not self.predicts:
            raise ValueError(f"{self.info.name} has no language-model head, so it makes no predictions.")

    # What is read

    def _tokens(self, text: str, second: str = "") -> list[Token]:
        tokens = self.vocabulary.tokens(text, second or None)
        if self.kind == "decoder":
            while len(tokens) > 1 and tokens[-1].special and tokens[-1].start == tokens[-1].end:
                tokens = tokens[:-1]  # an end that nobody typed: what comes after it is not what comes next
        return tokens or [self._special(self.start)]

    def _said(self, target: str) -> list[Token]:
        """What the decoder is given: its start token, then the target, without what ends it.

        A model that names no start (mBART) is started by the language that its tokenizer puts at the end.
        """
        said = self.vocabulary.target(target or "a")  # the letter shows what stands around a text
        body = [i for i, token in enumerate(said) if not token.special or token.start < token.end]
        if not body and target:
            return self._said("")  # nothing but spaces
        first, end = (body[0], body[-1] + 1) if body else (0, 0)
        named = self.network.config.decoder_start_token_id is not None
        start = self.start if named or end == len(said) else said[-1].id
        said = said[:end] if target else said[:first]
        return said if [token.id for token in said[:1]] == [start] else [self._special(start), *said]

    def _special(self, id: int) -> Token:
        return Token(id, self.vocabulary.text(id)[0], 0, 0, special=True)

    def _fitting(self, tokens: list[Token], text: str) -> tuple[list[Token], int]:
        """What fits in the context: tokens are left out after the special ones at the beginning. And how many characters were."""
        room = self.room
        if room is None or len(tokens) <= room:
            return tokens, 0
        front = next((i for i, token in enumerate(tokens) if not (token.special and token.start == token.end)), 0)
        front = min(front, room - 1)
        tokens = [*tokens[:front], *tokens[front + len(tokens) - room :]]
        left = tokens[front]
        return tokens, left.start if left.segment == 0 else len(text)

    # How it is read

    def _encode(self, tokens: list[Token]) -> tuple[list[Call], np.ndarray]:
        calls, hidden, _ = self._run(self.network.base_model, **self._inputs([tokens], []))
        return calls["self"], hidden["self"]

    def _decode(self, ids: tuple[int, ...]) -> tuple[list[Call], np.ndarray, dict[int, np.ndarray]]:
        """Run the tokens that no remembered trace begins with, and join them to what it knows."""
        before, shared = self._recent.longest_shared(ids) if self._reusable else (None, 0)
        if not shared:
            calls, hidden, _ = self._run(self.network.base_model, input_ids=self._ids(ids), use_cache=False)
            return calls["self"], hidden["self"], {}
        attention = before.attention["self"]
        calls, hidden = first(attention._calls, shared), before.hidden["self"][:, :shared]
        known = {layer: weights[:, :shared, :shared] for layer, weights in list(attention._known.items())}
        if shared < len(ids):
            new, stream, _ = self._run(
                self.network.base_model,
                input_ids=self._ids(ids[shared:]),
                past_key_values=_cache(calls),
                use_cache=True,
                past=shared,
            )
            calls, hidden = joined(calls, new["self"]), np.concatenate([hidden, stream["self"]], axis=1)
        return calls, hidden, known

    def _read_both(self, text: str, target: str) -> Trace:
        tokens, cut = self._fitting(self.vocabulary.tokens(text) or [self._special(self.start)], text)
        said = self._said(target)
        said, _ = self._fitting(said, target)
        ids = tuple(token.id for token in tokens)
        known = self._recent.get(ids)
        given = {"encoder_outputs": BaseModelOutput(last_hidden_state=known.out)} if known else {}
        calls, hidden, out = self._run(
            self.network,
            input_ids=self._ids(ids),
            decoder_input_ids=self._ids([token.id for token in said]),
            use_cache=False,
            **given,
        )
        if known is None:
            known = Encoded(Attention(tokens, tokens, calls["encoder"]), hidden["encoder"], out.encoder_last_hidden_state)
            self._recent.keep(ids, known)
        attention = {
            "encoder": known.attention,
            "decoder": Attention(said, said, calls["decoder"]),
            "cross": Attention(said, tokens, calls["cross"]),
        }
        hidden = {"encoder": known.hidden, "decoder": hidden["decoder"]}
        return Trace(text, tokens, attention, hidden, cut, self._unembed if self.predicts else None, said)

    def _run(self, network: nn.Module, past: int = 0, **inputs):
        """One forward pass: the calls by kind, the stream of each stack [layers + 1, position, d_model], and what came out.

        Errors: ValueError for a token that the network has no vector for.
        """
        with torch.inference_mode():
            record, out = self._pass(network, recording(), past, **inputs)
        encoded = "encoder_outputs" in inputs
        calls = self._layout.split(record, without="encoder" if encoded else None)
        hidden = {stack: torch.stack(xs).float().cpu().numpy() for stack, xs in record.hidden.items()}
        return calls, hidden, out

    def _pass(self, network: nn.Module, recorder: AbstractContextManager[Record], past: int = 0, **inputs):
        """One forward pass in the mode of the caller: what was recorded, and what came out."""
        for ids in (one for name, one in inputs.items() if name.endswith("input_ids")):
            if self._rows and int(ids.max()) >= self._rows:
                shown = self.token_text(int(ids.max()))
                raise ValueError(f"{self.info.name} has no vector for “{shown}”, which its tokenizer knows. Leave it out.")
        inputs["attention_mask"] = torch.ones(
            1, past + inputs["input_ids"].shape[1], dtype=torch.long, device=self.network.device
        )
        tap = SoftmaxTap(self._tap) if self._tap else nullcontext()
        with recorder as record, tap:
            return record, network(**inputs, return_dict=True)

    def _inputs(self, texts: Sequence[Sequence[Token]], said: Sequence[Sequence[int]]) -> dict[str, Tensor | bool]:
        """What the network is given of texts, and of what its decoder has said to each, all equally long."""
        inputs = {"input_ids": torch.tensor([[token.id for token in text] for text in texts], device=self.network.device)}
        if self._segments:
            inputs["token_type_ids"] = torch.tensor(
                [[token.segment for token in text] for text in texts], device=self.network.device
            )
        if any(said):
            inputs["decoder_input_ids"] = torch.tensor(said, device=self.network.device)
        return inputs if self.kind == "encoder" else inputs | {"use_cache": False}

    def _ids(self, ids: Sequence[int]) -> Tensor:
        return torch.tensor([ids], device=self.network.device)

    def _unembed(self, hidden: np.ndarray) -> np.ndarray:
        """The model's own way from the stream after the last block [..., d_model] to logits [..., vocabulary]."""
        rows = torch.from_numpy(np.ascontiguousarray(hidden)).reshape(-1, hidden.shape[-1])
        rows = rows.to(self.network.device, self.network.dtype)
        at_once = max(1, min(ROWS // self.vocabulary.size, self._positions or len(rows)))
        with torch.inference_mode():
            found = [self._logits(part).float().cpu().numpy() for part in rows.split(at_once)]
        return np.concatenate(found).reshape(*hidden.shape[:-1], -1)

    def _logits(self, rows: Tensor) -> Tensor:
        """Rows of the stream after the last block [row, d_model] as logits [row, vocabulary]."""
        inputs = {"input_ids": self._ids([0] * len(rows)), "attention_mask": self._ids([1] * len(rows)), "use_cache": False}
        if self.kind == "encoder":
            del inputs["use_cache"]
        if self.kind == "encoder-decoder":
            inputs["decoder_input_ids"] = inputs.pop("input_ids")
            inputs["attention_mask"] = self._ids([1])
            inputs["encoder_outputs"] = BaseModelOutput(last_hidden_state=rows.new_zeros(1, 1, rows.shape[-1]))
        with layout.skipping(rows[None]):
            return self.network(**inputs, return_dict=True).logits[0]

    # What is found out once

    def _ready(self) -> None:
        """Find the layout, through the attention interface or else by listening to the softmax, and check what rests on it."""
        pairs = self.kind == "encoder-decoder"
        probe = {"input_ids": self._ids(range(3, 3 + layout.SOURCE))}
        if pairs:
            probe["decoder_input_ids"] = self._ids(range(3, 3 + layout.TARGET))
        self._segments = self.kind == "encoder" and getattr(self.config, "type_vocab_size", 0) > 1
        self._positions = _positions(self.network)
        embedding = self.network.get_input_embeddings()
        self._rows = getattr(embedding, "num_embeddings", None)

        def run():
            with torch.inference_mode():
                return self.network(**probe, return_dict=True)

        _attend_by(self.network, NAME)
        with recording() as record:
            run()
        if not record.calls:
            _attend_by(self.network, "eager")
            self._tap = getattr(self.config, "num_attention_heads", None)
        tap = SoftmaxTap(self._tap) if self._tap else nullcontext()
        with tap:
            self._layout = layout.find(self.network, run, pairs)
        layout.Stream(self._layout).install()
        self._outputs = Outputs(self._layout)
        with recording() as record, tap, self._outputs.watching(self.network, record):
            out = run()
        self._keeps = "logits_to_keep" in inspect.signature(self.network.forward).parameters
        self._reusable = self.kind == "decoder" and not self._tap and self._rereads(record.calls)
        if self.predicts:
            stream = record.hidden["decoder" if pairs else "self"][-1].float().cpu().numpy()
            ours, its = self._unembed(stream), out.logits[0].float().cpu().numpy()
            if not np.allclose(ours, its, rtol=1e-2, atol=1e-3 + 1e-2 * float(np.abs(its).max())):
                raise ModelError(
                    f"The predictions of {type(self.network).__name__} do not follow from its last layer alone, "
                    "so Headlight cannot show them truly. Try another model."
                )

    def _rereads(self, calls: list[Call]) -> bool:
        """Whether going on from remembered keys and values gives what reading anew gives."""
        if any(call.bias is not None for call in calls) or _rope(self.config) in ("dynamic", "longrope"):
            return False
        half, whole = self._ids(range(3, 6)), self._ids(range(3, 10))
        with torch.inference_mode():
            try:
                with recording() as early:
                    self.network.base_model(input_ids=half, use_cache=False)
                with recording() as late:
                    self.network.base_model(
                        input_ids=whole[:, 3:],
                        attention_mask=torch.ones_like(whole),
                        past_key_values=_cache(early.calls),
                        use_cache=True,
                    )
            except Exception:  # a cache of another form, as models with state-space layers have
                return False
            with recording() as anew:
                self.network.base_model(input_ids=whole, use_cache=False)
        ours, its = late.hidden["self"][-1].float(), anew.hidden["self"][-1][3:].float()
        return torch.allclose(ours, its, rtol=1e-2, atol=1e-3 * float(its.abs().max()))

    def _facts(self, name: str, source: str, notes: Sequence[str]) -> ModelInfo:
        config, stacks = self.config, self._layout.blocks
        notes = list(notes)
        heads = next(self._layout.heads[kind] for kind in ("self", "encoder") if kind in self._layout.heads)
        if self._tap:
            notes.append(
                f"{type(self.network).__name__} computes attention in its own way: "
                "its weights can be seen, its queries, keys and values cannot."
            )
        if self._layout.others:
            notes.append(f"{self._layout.others} of its layers have no attention; those that have are numbered from 0.")
        first_stack = stacks.get("encoder") or stacks["self"]
        return ModelInfo(
            name=name,
            kind=self.kind,
            layers=len(first_stack),
            heads=heads,
            kv_heads=getattr(config, "num_key_value_heads", None) or heads,
            d_model=config.hidden_size,
            vocabulary=self.vocabulary.size,
            context=self._context(),
            parameters=sum(one.numel() for one in self.network.parameters()),
            source=source,
            decoder_layers=len(stacks.get("decoder", ())),
            decoder_heads=self._layout.heads.get("decoder", 0),
            predicts=self.predicts,
            queries=not self._tap,
            pairs=self.kind == "encoder" and self.vocabulary.pairs,
            mask=self.mask,
            notes=tuple(notes),
        )

    def _context(self) -> int | None:
        """The longest input in tokens: what the positions allow, or what the tokenizer names; None when neither does."""
        named = getattr(self.vocabulary.tokenizer, "model_max_length", None)
        limits = [
            self._positions,
            getattr(self.config, "max_position_embeddings", None),
            named if named and named < 10**6 else None,
        ]
        limits = [limit for limit in limits if limit and limit > 0]
        return min(limits) if limits else None


def _attend_by(network: PreTrainedModel, implementation: str) -> None:
    try:
        network.set_attn_implementation(implementation)
    except (ValueError, ImportError):
        network.set_attn_implementation("eager")


def _cache(calls: list[Call]) -> DynamicCache:
    cache = DynamicCache()
    for i, call in enumerate(calls):
        cache.update(call.key[None], call.value[None], i)
    return cache


def _start(config, tokenizer: PreTrainedTokenizerBase) -> int:
    """The token that stands before the first one: the decoder's start, or the beginning or end of text."""
    choices = (
        getattr(config, "decoder_start_token_id", None),
        tokenizer.bos_token_id,
        tokenizer.eos_token_id,
        tokenizer.pad_token_id,
    )
    return next((id for id in choices if id is not None), 0)


def _rope(config) -> str:
    return (getattr(config, "rope_parameters", None) or {}).get("rope_type", "default")


def _positions(network: nn.Module) -> int | None:
    """How many positions the learned position tables hold; RoBERTa's begin after the padding index. None without a table."""
    found = []
    for name, module in network.named_modules():
        if isinstance(module, nn.Embedding) and name.rpartition(".")[2] in ("position_embeddings", "embed_positions", "wpe"):
            padding = -1 if module.padding_idx is None else module.padding_idx
            found.append(module.num_embeddings - padding - 1 - getattr(module, "offset", 0))
    return min(found, default=None)
