"""The inputs and the answer of a forward pass of transformers. Which of their fields exist depends on the network."""

from __future__ import annotations

from typing import Protocol, TypedDict

from torch import Tensor
from transformers import Cache
from transformers.modeling_outputs import BaseModelOutput


class Inputs(TypedDict, total=False):
    """The inputs of a forward pass. Ids are int64 [batch, position]; pixel_values: float [batch, channels, height, width], in the
    place of ids; encoder_outputs: the encoded source, if already computed. position_ids: where they are not counted from the
    first token, or from what is given of keys and values."""

    input_ids: Tensor
    pixel_values: Tensor
    decoder_input_ids: Tensor
    token_type_ids: Tensor
    position_ids: Tensor
    attention_mask: Tensor
    encoder_outputs: BaseModelOutput
    past_key_values: Cache | None
    use_cache: bool
    logits_to_keep: int


class Answer(Protocol):
    """The answer of a forward pass. Streams are [batch, position, d_model]; logits [batch, position, vocabulary]."""

    logits: Tensor
    last_hidden_state: Tensor
    encoder_last_hidden_state: Tensor
    past_key_values: Cache | None

    def __contains__(self, name: str) -> bool: ...
