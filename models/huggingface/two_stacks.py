"""Classifiers of two stacks (BART, T5): the decoder reads the text too, a place later, and the label is read at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import PreTrainedModel

from models.huggingface.passes import Answer


class EachPosition:
    """A classifier that gives its scores at every position of its decoder, of which its own answer is one."""

    def forward(self: Any, **inputs: Any) -> Answer:
        out = self.base_model(**inputs)
        out.logits = self.classification_head(out.last_hidden_state)
        return out


def at_each_position(network: PreTrainedModel) -> None:
    """Make it answer so. The class is changed, and no attribute, so that copies of the network answer in the same way."""
    if not isinstance(network, EachPosition) and hasattr(network, "classification_head"):
        network.__class__ = type(type(network).__name__, (EachPosition, type(network)), {})


def read_by_decoder(network: PreTrainedModel, ids: Sequence[int]) -> list[int]:
    """What the decoder is given of a text: its start, then all but the last token."""
    return [network.config.decoder_start_token_id, *ids[:-1]]


def end_of(network: PreTrainedModel, ids: Sequence[int]) -> int:
    """Where the label is read: at the last sign of an end, without one at the last token."""
    ends = [i for i, id in enumerate(ids) if id == network.config.eos_token_id]
    return ends[-1] if ends else len(ids) - 1


@torch.inference_mode()
def agrees(network: PreTrainedModel, ids: Sequence[int], close: float) -> bool:
    """Whether the scores at the end of a text are those that transformers gives it."""
    if not isinstance(network, EachPosition) or network.config.decoder_start_token_id is None:
        return False
    text = [*ids, network.config.eos_token_id]
    given = torch.tensor([text], device=network.device)
    original: Any = super(EachPosition, network)
    its = original.forward(input_ids=given, attention_mask=torch.ones_like(given), use_cache=False).logits[0].float()
    said = torch.tensor([read_by_decoder(network, text)], device=network.device)
    ours = network(input_ids=given, decoder_input_ids=said, use_cache=False).logits[0, end_of(network, text)].float()
    return bool((ours - its).abs().max() <= close * its.abs().max().clamp_min(1e-6))
