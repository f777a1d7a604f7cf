"""The from-scratch transformer against torch.nn, transformers and its own cache."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from models.attention.kernel import attend, softmax_attention
from models.scratch.positions import rotary_turns, rotate
from models.scratch.transformer import Cache, Decoder, TransformerConfig
from tests.models.conftest import random_decoder


def test_attention_equals_torch_nn():
    torch.manual_seed(0)
    reference = nn.MultiheadAttention(32, 4, bias=False, batch_first=True)
    x = torch.randn(2, 9, 32)
    query, key, value = (part.unflatten(-1, (4, 8)).transpose(1, 2) for part in (x @ reference.in_proj_weight.T).chunk(3, -1))
    ours = attend(query, key, value).flatten(-2) @ reference.out_proj.weight.T
    mask = torch.ones(9, 9, dtype=torch.bool).triu(1)
    theirs, _ = reference(x, x, x, attn_mask=mask)
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-5)


def test_grouped_query_attention_shares_keys():
    torch.manual_seed(0)
    query, key, value = torch.randn(1, 6, 5, 8), torch.randn(1, 2, 5, 8), torch.randn(1, 2, 5, 8)
    shared = attend(query, key, value)
    repeated = attend(query, key.repeat_interleave(3, 1), value.repeat_interleave(3, 1))
    torch.testing.assert_close(shared, repeated)


def test_written_out_softmax_equals_the_kernel():
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 4, 7, 8)
    mask = torch.ones(7, 7, dtype=torch.bool).tril()
    torch.testing.assert_close(
        softmax_attention(query, key, value, mask).transpose(1, 2), attend(query, key, value), atol=1e-6, rtol=1e-5
    )


def test_rotary_scores_depend_on_distance_alone():
    torch.manual_seed(0)
    q, k = torch.randn(2, 1, 1, 1, 16)
    turns = rotary_turns(16, 40)
    turned_q, turned_k = rotate(q.expand(1, 1, 40, 16), turns)[0, 0], rotate(k.expand(1, 1, 40, 16), turns)[0, 0]
    scores = turned_q @ turned_k.T
    for distance in (0, 1, 7, 30):
        along = torch.diagonal(scores, -distance)
        torch.testing.assert_close(along, along[:1].expand_as(along), atol=1e-4, rtol=1e-4)


def test_whole_model_equals_transformers_llama():
    """Same weights in, same numbers out."""
    from transformers import LlamaConfig, LlamaForCausalLM

    ours = random_decoder(qk_norm=False)
    c = ours.config
    theirs = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=c.vocabulary,
            hidden_size=c.d_model,
            intermediate_size=c.d_ff,
            num_hidden_layers=c.layers,
            num_attention_heads=c.heads,
            max_position_embeddings=c.context,
            rms_norm_eps=torch.finfo(torch.float32).eps,
            tie_word_embeddings=True,
        )
    ).eval()
    names = {
        "attention.query": "self_attn.q_proj",
        "attention.key": "self_attn.k_proj",
        "attention.value": "self_attn.v_proj",
        "attention.output": "self_attn.o_proj",
        "feedforward.gate": "mlp.gate_proj",
        "feedforward.up": "mlp.up_proj",
        "feedforward.down": "mlp.down_proj",
        "attention_norm": "input_layernorm",
        "feedforward_norm": "post_attention_layernorm",
    }
    weights = {
        "model.embed_tokens.weight": ours.embedding.weight,
        "lm_head.weight": ours.embedding.weight,
        "model.norm.weight": ours.final_norm.weight,
    }
    for layer, block in enumerate(ours.blocks):
        for mine, its in names.items():
            weights[f"model.layers.{layer}.{its}.weight"] = block.get_submodule(mine).weight
    theirs.load_state_dict(weights)
    ids = torch.randint(0, c.vocabulary, (2, 20))
    with torch.inference_mode():
        torch.testing.assert_close(ours(ids), theirs(ids).logits, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("positions", ["rotary", "learned"])
@pytest.mark.parametrize("feedforward", ["swiglu", "gelu"])
def test_cache_equals_reading_again(positions, feedforward):
    decoder = random_decoder(positions=positions, feedforward=feedforward)
    ids = torch.randint(0, 300, (2, 30))
    cache = Cache()
    with torch.inference_mode():
        parts = [decoder(ids[:, :12], cache), decoder(ids[:, 12:13], cache), decoder(ids[:, 13:], cache)]
        torch.testing.assert_close(torch.cat(parts, 1), decoder(ids), atol=1e-4, rtol=1e-4)
    assert cache.length == 30


def test_starts_as_the_identity():
    decoder = Decoder(TransformerConfig(vocabulary=50, d_model=16, heads=2, d_ff=8, layers=2))
    ids = torch.arange(10)[None]
    torch.testing.assert_close(decoder.hidden(ids), decoder.embedding(ids))


@pytest.mark.parametrize(
    "wrong", [{"heads": 3}, {"layers": 0}, {"positions": "sundial"}, {"feedforward": "none"}, {"d_model": -8}]
)
def test_a_config_that_cannot_be_says_why(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TransformerConfig(**wrong)


def test_too_long_an_input_says_so():
    with pytest.raises(ValueError, match="65 tokens do not fit in a context of 64"):
        random_decoder()(torch.zeros(1, 65, dtype=torch.long))
