"""Rotary positions: the angles found by watching models are those that they use."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.huggingface.model import HuggingFaceModel
from tests.models.networks import NETWORKS, TEXTS, network, tokenizer

TURNING = [
    "Llama, grouped-query",
    "Mistral, sliding window",
    "Qwen2",
    "Qwen3",
    "Gemma",
    "Gemma 2, soft-capped",
    "Gemma 3",
    "GPT-OSS, sinks",
    "Mixtral",
    "GPT-NeoX",
    "Phi",
    "DeepSeek-V3",
    "ModernBERT",
]


def build_model(name: str) -> HuggingFaceModel:
    kind = NETWORKS[name][0]
    return HuggingFaceModel(network(name), tokenizer(kind), kind)


@pytest.mark.parametrize("name", TURNING)
def test_turned_back_a_token_asks_the_same_wherever_it_stands(name):
    """The first layer reads only embeddings: turned back, its queries and keys are those of the token at position 0."""
    model = build_model(name)
    attention = model.trace(TEXTS[0]).attention["self"]
    rotary, places = attention.rotary(0), np.arange(len(attention.queries))
    assert rotary is not None
    alone = [
        model.followed.run(model.followed.base, input_ids=torch.tensor([[token.id]]))[0]["self"][0] for token in attention.queries
    ]
    firsts = ([call.query for call in alone], [call.expanded("key") for call in alone])
    for rotated, first in zip((attention.q(0), attention.k(0)), firsts, strict=True):
        back = np.stack([rotary.undone(head, places) for head in rotated])
        np.testing.assert_allclose(back, torch.cat(first, dim=1).numpy(), atol=1e-4)
        assert np.abs(back - rotated).max() > 1e-3, "and turning had changed them"


def test_in_deeper_layers_it_is_what_the_projection_gave():
    model = build_model("Llama, grouped-query")
    before = []
    hooks = [
        layer.self_attn.q_proj.register_forward_hook(lambda _, __, out: before.append(out))
        for layer in model.network.model.layers
    ]
    attention = model.trace(TEXTS[1]).attention["self"]
    for hook in hooks:
        hook.remove()
    for layer, out in enumerate(before[: attention.layers]):
        plain = out[0].unflatten(-1, (attention.heads, -1)).transpose(0, 1).numpy()  # [heads, position, d_head]
        for head, rotated in enumerate(attention.q(layer)):
            np.testing.assert_allclose(attention.rotary(layer).undone(rotated, np.arange(len(rotated))), plain[head], atol=1e-5)


@pytest.mark.parametrize("name", ["GPT-2", "OPT", "BERT", "RoBERTa", "BLOOM"])
def test_a_model_with_other_positions_turns_nothing(name):
    attention = build_model(name).trace(TEXTS[0]).attention["self"]
    assert [attention.rotary(layer) for layer in range(attention.layers)] == [None] * attention.layers


def test_angles_that_depend_on_the_length_are_not_guessed():
    unscaled = network("Llama, grouped-query")
    unscaled.config.rope_parameters = dict(unscaled.config.rope_parameters) | {"rope_type": "dynamic", "factor": 2.0}
    attention = HuggingFaceModel(unscaled, tokenizer("decoder"), "decoder").trace(TEXTS[0]).attention["self"]
    assert attention.rotary(0) is None
