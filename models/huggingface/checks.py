"""Checks of a network before its numbers are trusted: a few forward passes over made-up tokens."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from models.attention.recorded_call import Call
from models.attention.recorder import recording
from models.errors import ModelError
from models.huggingface.attention_function import NAME
from models.huggingface.layout import CHOOSE, Layout
from models.huggingface.passes import Answer, Inputs
from models.huggingface.softmax_tap import SoftmaxTap

HALF = 0.4  # of a probe, read first where the rest is read on from it


@dataclass
class Checks:
    """Checks of one network. tap: the number of heads where the softmax is tapped (see `SoftmaxTap`), else None."""

    network: PreTrainedModel
    layout: Layout
    tap: int | None

    @property
    def close(self) -> float:
        """The largest difference allowed between two ways of computing the same, as a share of the largest number."""
        return 1e-3 if self.network.dtype == torch.float32 else 5e-2

    @torch.inference_mode()
    def looks_ahead(self, probe: Inputs) -> bool:
        """Return whether the stream at the first position depends on later tokens."""
        ids = probe["input_ids"]
        changed_ids = torch.cat([ids[:, :1], ids[:, 1:] + 1], dim=1)
        with recording() as original:
            self.network(input_ids=ids, use_cache=False)
        with recording() as changed:
            self.network(input_ids=changed_ids, use_cache=False)
        return relative_difference(original.hidden["self"][-1][0], changed.hidden["self"][-1][0]) > self.close

    @torch.inference_mode()
    def check_probe(self, probe: Inputs) -> tuple[Tensor, Tensor | None]:
        """Read a probe and compare it with transformers: its hidden states, and attention and logits of an eager pass.

        Returns the stream after the last block [position, d_model] and the logits [position, vocabulary], None without a head.
        Errors: ModelError when they do not agree.
        """
        title, pairs = type(self.network).__name__, "decoder_input_ids" in probe
        with recording() as record, SoftmaxTap(self.tap) if self.tap else nullcontext():
            ours = self.network(**probe, output_hidden_states=True, return_dict=True)
        calls = self.layout.split(record)
        for stack, noted in record.hidden.items():
            length = (
                record.calls[0].shape[1]
                if "pixel_values" in probe
                else (probe["decoder_input_ids"] if stack == "decoder" else probe["input_ids"]).shape[1]
            )
            if any(stream.dim() != 2 or len(stream) != length for stream in noted):
                raise ModelError(
                    f"{title} hands on more from layer to layer than one vector a token, "
                    f"and what comes of that cannot be shown as one stream. {CHOOSE}"
                )
            states = getattr(ours, f"{stack}_hidden_states" if pairs else "hidden_states", None) or ()
            if len(states) == len(noted):  # the last one of transformers is after the final norm
                for state, stream in zip(states[:-1], noted[:-1], strict=True):
                    if state.numel() != stream.numel() or relative_difference(stream, state.reshape(stream.shape)) > self.close:
                        raise ModelError(
                            f"What {title} hands on from layer to layer could not be followed: it is not what transformers gives "
                            f"as its hidden states. {CHOOSE}"
                        )
        if self.network.dtype == torch.float32:  # in 16 bits the two ways of computing attention differ by more than mistakes do
            self._check_attention(calls, ours, self._run_eagerly(probe))
        logits = getattr(ours, "logits", None)
        stack = "decoder" if pairs else "self"
        return self.layout.hidden(record, stack)[-1], None if logits is None else logits[0]

    def _check_attention(self, calls: dict[str, list[Call]], ours: Answer, its: Answer) -> None:
        title = type(self.network).__name__
        for kind, recorded in calls.items():
            expected = getattr(its, "attentions" if kind == "self" else f"{kind}_attentions", None) or ()
            expected = [
                weights for weights in expected if isinstance(weights, Tensor) and weights.shape[1:] == recorded[0].shape
            ]  # MiniMax lists others too
            for call, weights in zip(recorded, expected, strict=True) if len(expected) == len(recorded) else ():
                call_weights = call.weights()
                if call.sinks is not None:  # some return the weights before the sink takes its share, some after
                    call_weights, weights = (
                        values / values.sum(-1, keepdim=True).clamp_min(1e-9) for values in (call_weights, weights)
                    )
                if call_weights.shape != weights[0].shape or relative_difference(call_weights, weights[0]) > self.close:
                    raise ModelError(
                        f"What {title} looks at could not be followed: its weights of attention are not those that "
                        f"transformers gives. {CHOOSE}"
                    )
        if getattr(ours, "logits", None) is not None and relative_difference(ours.logits, its.logits) > self.close:
            raise ModelError(
                f"{title} answers otherwise when Headlight looks on than when transformers runs it alone, "
                f"so nothing would be true that is shown of it. {CHOOSE}"
            )

    def _run_eagerly(self, probe: Inputs) -> Answer:
        """Return transformers' own answer, with its eager attention."""
        if not self.tap:
            self.network.set_attn_implementation("eager")
        try:
            return self.network(**probe, output_attentions=True, return_dict=True)
        finally:
            if not self.tap:
                self.network.set_attn_implementation(NAME)

    @torch.inference_mode()
    def can_read_on(self, probe: Inputs) -> bool:
        """Return whether reading on from recorded keys and values gives the same as reading everything again."""
        base, ids = self.network.base_model, probe["input_ids"]
        config = self.network.config.get_text_config(decoder=True)
        ropes = getattr(config, "rope_parameters", None) or {}  # of all layers, or by their kind
        if {rope.get("rope_type") for rope in (ropes, *ropes.values()) if isinstance(rope, dict)} & {"dynamic", "longrope"}:
            return False
        half = int(HALF * ids.shape[1])
        with recording() as reread:
            base(input_ids=ids, use_cache=False)
        # A mask of numbers depends on the text (Doge), so that of a part is no part of the whole one.
        if any(call.bias is not None or (call.mask is not None and call.mask.dtype != torch.bool) for call in reread.calls):
            return False
        try:
            with recording() as early:
                own = base(input_ids=ids[:, :half], use_cache=True).past_key_values
            if not all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in own.layers):
                return False  # it remembers more than keys and values
            with recording() as late:
                base(
                    input_ids=ids[:, half:],
                    attention_mask=torch.ones_like(ids),
                    past_key_values=cache_of(early.calls),
                    use_cache=True,
                )
        except Exception:  # a cache of another form, as models with state-space layers have
            return False
        return relative_difference(late.hidden["self"][-1], reread.hidden["self"][-1][half:]) <= self.close


def relative_difference(a: Tensor, b: Tensor) -> float:
    """Return the largest difference as a share of the largest number; infinite where one is not a number."""
    a, b = a.float(), b.float()
    difference = float((a - b).abs().max() / b.abs().max().clamp_min(1e-6))
    return difference if difference == difference else float("inf")


def cache_of(calls: Sequence[Call]) -> DynamicCache:
    """Return a cache of transformers with the keys and values of these calls, one call a layer."""
    dynamic_cache = DynamicCache()
    for i, call in enumerate(calls):
        key, value = call.keys_and_values
        dynamic_cache.update(key[None], value[None], i)
    return dynamic_cache
