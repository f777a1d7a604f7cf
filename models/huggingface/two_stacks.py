"""Classifiers of two stacks (BART, T5): the decoder reads the text too, shifted by one, and the label is read at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import PreTrainedModel

from models.huggingface.passes import Answer


class PositionClassifier:
    """A classifier that computes its scores at every position of its decoder; its own answer is one of them."""

    def forward(self: Any, **inputs: Any) -> Answer:
        out = self.base_model(**inputs)
        out.logits = self.classification_head(out.last_hidden_state)
        return out


def score_each_position(network: PreTrainedModel) -> None:
    """Make a network a `PositionClassifier`. Its class is changed, and no attribute, so that copies of it do the same."""
    if not isinstance(network, PositionClassifier) and hasattr(network, "classification_head"):
        network.__class__ = type(type(network).__name__, (PositionClassifier, type(network)), {})


def decoder_inputs(network: PreTrainedModel, ids: Sequence[int]) -> list[int]:
    """Return what the decoder reads of a text: the start token, then all but the last token."""
    return [network.config.decoder_start_token_id, *ids[:-1]]


def label_position(network: PreTrainedModel, ids: Sequence[int]) -> int:
    """Return where the label is read: at the last end token, without one at the last token."""
    ends = [i for i, id in enumerate(ids) if id == network.config.eos_token_id]
    return ends[-1] if ends else len(ids) - 1


@torch.inference_mode()
def matches_transformers(network: PreTrainedModel, ids: Sequence[int], close: float) -> bool:
    """Return whether the scores at the end of a text are those of transformers."""
    if not isinstance(network, PositionClassifier) or network.config.decoder_start_token_id is None:
        return False
    text = [*ids, network.config.eos_token_id]
    input_ids = torch.tensor([text], device=network.device)
    original: Any = super(PositionClassifier, network)
    expected = original.forward(input_ids=input_ids, attention_mask=torch.ones_like(input_ids), use_cache=False).logits[0].float()
    decoder_ids = torch.tensor([decoder_inputs(network, text)], device=network.device)
    ours = (
        network(input_ids=input_ids, decoder_input_ids=decoder_ids, use_cache=False)
        .logits[0, label_position(network, text)]
        .float()
    )
    return bool((ours - expected).abs().max() <= close * expected.abs().max().clamp_min(1e-6))
