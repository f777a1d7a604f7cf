"""What a network of transformers is given in a forward pass, and what it gives; which of it there is depends on the network."""

from __future__ import annotations

from typing import Protocol, TypedDict

from torch import Tensor
from transformers import Cache
from transformers.modeling_outputs import BaseModelOutput


class Inputs(TypedDict, total=False):
    """Ids are int64 [batch, position]; encoder_outputs: what the encoder made of the source, where that is known already."""

    input_ids: Tensor
    decoder_input_ids: Tensor
    token_type_ids: Tensor
    attention_mask: Tensor
    encoder_outputs: BaseModelOutput
    past_key_values: Cache | None
    use_cache: bool
    logits_to_keep: int


class Answer(Protocol):
    """Streams are [batch, position, d_model]; logits [batch, position, vocabulary]."""

    logits: Tensor
    last_hidden_state: Tensor
    encoder_last_hidden_state: Tensor
    past_key_values: Cache | None

    def __contains__(self, name: str) -> bool: ...
