"""Tiny networks of whatever architecture: a configuration of transformers with every size made small."""

from __future__ import annotations

import re

import torch
from transformers import CONFIG_MAPPING, PreTrainedConfig, PreTrainedModel

VOCABULARY, LAYERS, WIDTH, HEADS, D_HEAD, POSITIONS = 300, 4, 64, 4, 16, 512

# The sizes of a configuration by their names; the first that fits counts.
SIZES = (
    (r"^(bos|cls)_token_id$", 1),
    (r"^(eos|sep)_token_id$", 2),
    (r"^(pad_token_id|decoder_start_token_id|forced_\w+_token_id)$", 0),
    (r"token_id$", 3),
    (r"^(type_vocab_size|task_type_vocab_size)$", 2),
    (r"vocab(_size)?$|^vocab_size|^n_words$", VOCABULARY),
    (r"layers?_(period|offset|interval)|_n_layers$|^n_layers_per", None),
    (r"sliding_window$|sliding_window_size|attention_window_size|keep_window|^local_attention$|^window_size$", 8),
    (r"chunk_size$|chunk_length|index_topk$|index_block_size", 16),
    (r"index_topk_blocks", 2),
    (r"^(num_|n_)?(hidden_|encoder_|decoder_)?layers?$|^num_\w+_layers$", LAYERS),
    (r"(key_value|kv)_heads$|^num_query_groups$", 2),
    (r"heads?$", HEADS),
    (r"qk_rope_head_dim|index_head_dim|^rotary_dim$", 8),
    (r"qk_nope_head_dim", 8),
    (r"qk_head_dim", 16),
    (r"head_?dim$|^d_kv$|^kv_channels$|^dim_head$|^d_head$|attention_head_size", D_HEAD),
    (r"lora_rank$|_rank$", 16),
    (r"^(experts_per_tok|num_experts_per_tok(en)?|moe_k|moe_topk|topk_group)$", 2),
    (r"experts$|num_expert", 4),
    (r"^n_group$|expert_group$", 2),
    (r"position_embeddings$|^n_positions$|^n_ctx$|max_seq_len|source_positions|^model_max_length$", POSITIONS),
    (r"intermediate_size|ffn_dim|^d_ff$|^d_inner$|dim_ff$|^dff$|ffn_hidden_size|feed_forward|^hidden_dim$|pooler_hidden", 128),
    (r"hidden_size|^d_model$|^n_embd$|^dim$|emb(edding)?_(dim|size)$|lru_width|embed_dim$|_size_global$", WIDTH),
)

ASIDE = {"transformers_version", "layers_block_type"}
# What the names do not tell.
MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_state": 16}
MIXTURE = {"n_shared_experts": 1, "n_routed_experts": 4, "num_experts_per_tok": 2}
OWN: dict[str, dict] = {
    "bamba": MAMBA | {"attn_layer_indices": [1, 3]},
    "big_bird": {"block_size": 4},
    "bigbird_pegasus": {"block_size": 4},
    "cohere_compass_text": {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 1e4}}},
    "bailing_hybrid": {"num_experts": 8, "num_expert_group": 2, "topk_group": 1, "num_experts_per_token": 2},
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 1e4, "clip_qkv": 8.0},
        "ffn_config": {"ffn_hidden_size": 128, "moe_num_experts": 4, "moe_top_k": 2, "hidden_size": WIDTH},
    },
    "deepseek_v2": MIXTURE,
    "dots1": MIXTURE,
    "dots3_note": {"adapter_in_dim": WIDTH},
    "dots3_note_text": {"head_dim": 16, "num_key_value_heads": HEADS},
    "esm": {"vocab_size": VOCABULARY, "position_embedding_type": "rotary", "mask_token_id": 4, "pad_token_id": 0},
    "esmc": {"num_key_value_heads": HEADS, "vocab_size": VOCABULARY},
    "falcon_h1": MAMBA | {"mamba_d_ssm": 128},
    "gemma3n_text": {"num_kv_shared_layers": 0},
    "gemma4_unified_text": {"num_kv_shared_layers": 0},
    "granitemoehybrid": MAMBA | {"layer_types": ["linear_attention", "full_attention"] * 2},
    "hrm_text": {"num_hidden_layers": 2, "num_layers_per_stack": None},
    "hunyuan_v1_dense": {"head_dim": D_HEAD},
    "hunyuan_v1_moe": {"head_dim": D_HEAD},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "lfm2": {"layer_types": ["conv", "full_attention"] * 2, "full_attn_idxs": [1, 3]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 2},
    "lilt": {"hidden_size": 96},
    "longcat_flash": {"expert_ffn_hidden_size": 32, "zero_expert_num": 2},
    "longformer": {"attention_window": [8] * LAYERS},
    "led": {"attention_window": 8},
    "mamba2": {"num_heads": 8, "head_dim": 16},
    "ministral": {"head_dim": D_HEAD},
    "mobilebert": {"intra_bottleneck_size": 32, "true_hidden_size": 32},
    "nemotron_h": {"n_groups": 2},
    "nemotron": {"num_key_value_heads": 2},
    "qwen4_exp_text": {
        "indexer_n_heads": 4,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 16,
        "indexer_budget": 16,
        "indexer_compress_ratio": 2,
    },
    "reformer": {"axial_pos_embds": False, "num_buckets": 8},
    "xmod": {"default_language": "en_XX"},
    "zamba": {"attention_hidden_size": 128, "attention_head_dim": 32, "layers_block_type": ["linear_attention", "hybrid"] * 2},
    "zamba2": {
        "mamba_headdim": 32,
        "attention_hidden_size": 128,
        "attention_head_dim": 32,
        "layers_block_type": ["linear_attention", "hybrid"] * 2,
        "hybrid_layer_ids": [1, 3],
    },
    "xlnet": {"d_head": 16},
}


# The same again in another order, where it is what a layer does that tells: name: type, settings.
AGAIN: dict[str, tuple[str, dict]] = {
    "bamba, ends without attention": ("bamba", {"attn_layer_indices": [0, 2]}),
    "granitemoehybrid, ends without attention": ("granitemoehybrid", {"layer_types": ["full_attention", "linear_attention"] * 2}),
    "jamba, ends without attention": ("jamba", {"attn_layer_offset": 0}),
    "lfm2, ends without attention": ("lfm2", {"layer_types": ["full_attention", "conv"] * 2, "full_attn_idxs": [0, 2]}),
    "lfm2_moe, ends without attention": ("lfm2_moe", {"layer_types": ["full_attention", "conv"] * 2}),
    "zamba, ends without attention": ("zamba", {"layers_block_type": ["hybrid", "linear_attention"] * 2}),
    "zamba2, ends without attention": (
        "zamba2",
        {"layers_block_type": ["hybrid", "linear_attention"] * 2, "hybrid_layer_ids": [0, 2]},
    ),
    "nemotron_h, ends with attention": (
        "nemotron_h",
        {"layers_block_type": ["linear_attention", "mlp", "moe", "full_attention"]},
    ),
    "nemotron_h, ends with a state space": ("nemotron_h", {"layers_block_type": ["full_attention", "mlp", "linear_attention"]}),
    "recurrent_gemma, ends with attention": ("recurrent_gemma", {"num_hidden_layers": 3}),
    "deberta-v2, relative, with a convolution": (
        "deberta-v2",
        {"conv_kernel_size": 3, "conv_act": "gelu", "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    ),
    "deberta, relative": ("deberta", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "bart, decoder alone": ("bart", {"is_encoder_decoder": False, "is_decoder": True}),
    "gemma3_text, sees both ways": ("gemma3_text", {"use_bidirectional_attention": True}),
    "big_bird, blocks of 64": ("big_bird", {"block_size": 64}),
    "doge, window of 2048": ("doge", {"keep_window_size": 2048}),
    "mpt, plain": ("mpt", {"attn_config": {"alibi": False}}),
    "falcon, ALiBi": ("falcon", {"alibi": True, "new_decoder_architecture": False}),
    "opt, post-norm": ("opt", {"do_layer_norm_before": False, "word_embed_proj_dim": 32}),
    "t5, gated": ("t5", {"feed_forward_proj": "gated-gelu"}),
}


def kinds() -> list[str]:
    """The types of every configuration that the installed transformers knows."""
    return list(CONFIG_MAPPING.keys())


def config(kind: str, turned: bool = False, **choices) -> PreTrainedConfig:
    """A small configuration of a type. turned: what is listed layer by layer comes in the other order."""
    cls = CONFIG_MAPPING[kind]
    standard = cls().to_dict()
    return cls.from_dict(_small(standard, turned) | choices)


def network(cls: type[PreTrainedModel], small: PreTrainedConfig) -> PreTrainedModel:
    """A network with fixed random weights, large enough that heads look somewhere."""
    torch.manual_seed(0)
    built = cls._from_config(small, attn_implementation="eager").float().eval()
    with torch.no_grad():
        for weight in built.parameters():
            if weight.dim() > 1 and 0 < float(weight.std()) < 0.05:
                weight.mul_(4)
            if weight.numel() and not float(weight.abs().max()) < 1e4:  # made empty, and never set
                weight.normal_(0, 0.05)
    return built


def _small(settings: dict, turned: bool) -> dict:
    layers = next((settings[key] for key in ("num_hidden_layers", "n_layer", "num_layers") if settings.get(key)), None)
    sized = {key: _sized(key, value, layers, turned) for key, value in settings.items() if key not in ASIDE}
    if settings.get("kv_lora_rank"):  # latent attention: every head has its own keys
        sized |= {"num_key_value_heads": HEADS, "qk_rope_head_dim": 8, "head_dim": 8}
    return sized | OWN.get(settings.get("model_type"), {})


def _sized(key: str, value, layers: int | None, turned: bool):
    if isinstance(value, dict):
        return {} if key == "per_layer_config" else _small(value, turned)
    if isinstance(value, list) and len(value) == layers and not isinstance(value[0], list):
        return _pattern([_sized(key, item, None, turned) for item in value], turned)
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    for name, size in SIZES:
        if re.search(name, key):
            return value if size is None else min(value, size) if value >= 0 else value
    return value


def _pattern(values: list, turned: bool) -> list:
    """What differs among the layers, each in its turn."""
    distinct = list(dict.fromkeys(values))
    distinct = distinct[::-1] if turned else distinct
    return [distinct[layer % len(distinct)] for layer in range(LAYERS)]
