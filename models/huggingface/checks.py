"""Checks a network before it is used, with a few forward passes over made-up tokens."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from models.errors import ModelError
from models.huggingface.attention import NAME, SoftmaxTap
from models.huggingface.layout import CHOOSE, Layout
from models.huggingface.passes import Answer, Inputs
from models.recorder import Call, recording

HALF = 0.4  # of a probe, read first where the rest is read on from it


@dataclass
class Checks:
    """tap: the number of heads where the softmax is listened to, as in `SoftmaxTap`."""

    network: PreTrainedModel
    layout: Layout
    tap: int | None

    @property
    def close(self) -> float:
        """How far apart two ways of computing the same may be, as a share of the largest number."""
        return 1e-3 if self.network.dtype == torch.float32 else 5e-2

    @torch.inference_mode()
    def looks_ahead(self, probe: Inputs) -> bool:
        """Return whether the first position depends on later tokens."""
        ids = probe["input_ids"]
        other = torch.cat([ids[:, :1], ids[:, 1:] + 1], dim=1)
        with recording() as one:
            self.network(input_ids=ids, use_cache=False)
        with recording() as two:
            self.network(input_ids=other, use_cache=False)
        return apart(one.hidden["self"][-1][0], two.hidden["self"][-1][0]) > self.close

    @torch.inference_mode()
    def agrees(self, probe: Inputs) -> tuple[Tensor, Tensor | None]:
        """Read a probe and hold it to what transformers says of it: its hidden states, and attention and logits of an eager pass.

        Returns the stream after the last block [position, d_model] and the logits [position, vocabulary], None without a head.
        Errors: ModelError when they do not agree.
        """
        title, pairs = type(self.network).__name__, "decoder_input_ids" in probe
        with recording() as record, SoftmaxTap(self.tap) if self.tap else nullcontext():
            ours = self.network(**probe, output_hidden_states=True, return_dict=True)
        calls = self.layout.split(record)
        for stack, noted in record.hidden.items():
            read = (probe["decoder_input_ids"] if stack == "decoder" else probe["input_ids"]).shape[1]
            if any(stream.dim() != 2 or len(stream) != read for stream in noted):
                raise ModelError(
                    f"{title} hands on more from layer to layer than one vector a token, "
                    f"and what comes of that cannot be shown as one stream. {CHOOSE}"
                )
            states = getattr(ours, f"{stack}_hidden_states" if pairs else "hidden_states", None) or ()
            if len(states) == len(noted):  # the last one of transformers is after the final norm
                for state, stream in zip(states[:-1], noted[:-1], strict=True):
                    if state.numel() != stream.numel() or apart(stream, state.reshape(stream.shape)) > self.close:
                        raise ModelError(
                            f"What {title} hands on from layer to layer could not be followed: it is not what transformers gives "
                            f"as its hidden states. {CHOOSE}"
                        )
        if self.network.dtype == torch.float32:  # in 16 bits the two ways of computing attention differ by more than mistakes do
            self._check_attention(calls, ours, self._eagerly(probe))
        logits = getattr(ours, "logits", None)
        stack = "decoder" if pairs else "self"
        return self.layout.hidden(record, stack)[-1], None if logits is None else logits[0]

    def _check_attention(self, calls: dict[str, list[Call]], ours: Answer, its: Answer) -> None:
        title = type(self.network).__name__
        for kind, found in calls.items():
            told = getattr(its, "attentions" if kind == "self" else f"{kind}_attentions", None) or ()
            told = [one for one in told if isinstance(one, Tensor) and one.shape[1:] == found[0].shape]  # MiniMax tells of others
            for call, weights in zip(found, told, strict=True) if len(told) == len(found) else ():
                shown = call.weights()
                if call.sinks is not None:  # some tell the weights before the sink has taken its share, some after
                    shown, weights = (one / one.sum(-1, keepdim=True).clamp_min(1e-9) for one in (shown, weights))
                if shown.shape != weights[0].shape or apart(shown, weights[0]) > self.close:
                    raise ModelError(
                        f"What {title} looks at could not be followed: its weights of attention are not those that "
                        f"transformers gives. {CHOOSE}"
                    )
        if getattr(ours, "logits", None) is not None and apart(ours.logits, its.logits) > self.close:
            raise ModelError(
                f"{title} answers otherwise when Headlight looks on than when transformers runs it alone, "
                f"so nothing would be true that is shown of it. {CHOOSE}"
            )

    def _eagerly(self, probe: Inputs) -> Answer:
        """transformers' own answer, with attention as it is written out there."""
        if not self.tap:
            self.network.set_attn_implementation("eager")
        try:
            return self.network(**probe, output_attentions=True, return_dict=True)
        finally:
            if not self.tap:
                self.network.set_attn_implementation(NAME)

    @torch.inference_mode()
    def rereads(self, probe: Inputs) -> bool:
        """Return whether reading on from cached keys and values gives the same numbers as reading again."""
        base, ids = self.network.base_model, probe["input_ids"]
        config = self.network.config.get_text_config(decoder=True)
        ropes = getattr(config, "rope_parameters", None) or {}  # of all layers, or by their kind
        if {one.get("rope_type") for one in (ropes, *ropes.values()) if isinstance(one, dict)} & {"dynamic", "longrope"}:
            return False
        half = int(HALF * ids.shape[1])
        with recording() as reread:
            base(input_ids=ids, use_cache=False)
        # A mask of numbers hangs on what was read (Doge), so that a part of it is no part of the whole.
        if any(call.bias is not None or (call.mask is not None and call.mask.dtype != torch.bool) for call in reread.calls):
            return False
        try:
            with recording() as early:
                own = base(input_ids=ids[:, :half], use_cache=True).past_key_values
            if not all(type(one) in (DynamicLayer, DynamicSlidingWindowLayer) for one in own.layers):
                return False  # it remembers more than keys and values
            with recording() as late:
                base(
                    input_ids=ids[:, half:],
                    attention_mask=torch.ones_like(ids),
                    past_key_values=cache(early.calls),
                    use_cache=True,
                )
        except Exception:  # a cache of another form, as models with state-space layers have
            return False
        return apart(late.hidden["self"][-1], reread.hidden["self"][-1][half:]) <= self.close


def apart(a: Tensor, b: Tensor) -> float:
    """The largest difference, as a share of the largest number; infinite where one is none."""
    a, b = a.float(), b.float()
    found = float((a - b).abs().max() / b.abs().max().clamp_min(1e-6))
    return found if found == found else float("inf")


def cache(calls: Sequence[Call]) -> DynamicCache:
    """What transformers reads on from: the keys and values of calls, layer by layer."""
    made = DynamicCache()
    for i, call in enumerate(calls):
        key, value = call.keys_and_values
        made.update(key[None], value[None], i)
    return made
