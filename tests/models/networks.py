"""Tiny networks of every architecture, with fixed seeds, and a tokenizer for them."""

from __future__ import annotations

import torch
import transformers as T
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

VOCABULARY = 300
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
TEXTS = ["The cat sat on the mat, and the dog sat on the cat.", "Once upon a time there was a little girl in the garden."]

SIZE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GROUPED = SIZE | {"num_key_value_heads": 2, "head_dim": 16}
GPT = {"vocab_size": VOCABULARY, "n_embd": 64, "n_layer": 3, "n_head": 4, "bos_token_id": 1, "eos_token_id": 2}
BOTH = {"vocab_size": VOCABULARY, "pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 0}
BART = BOTH | {
    "d_model": 64,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": 2,
}
DEEPSEEK = {
    "num_key_value_heads": 4,
    "moe_intermediate_size": 32,
    "n_routed_experts": 4,
    "n_group": 2,
    "topk_group": 1,
    "num_experts_per_tok": 2,
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 12,
    "first_k_dense_replace": 1,
}
DEBERTA = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "max_relative_positions": 32}

# name: kind, class, config class, choices
NETWORKS = {
    "GPT-2": ("decoder", "GPT2LMHeadModel", "GPT2Config", GPT),
    "Llama, grouped-query": ("decoder", "LlamaForCausalLM", "LlamaConfig", GROUPED),
    "Mistral, sliding window": ("decoder", "MistralForCausalLM", "MistralConfig", GROUPED | {"sliding_window": 8}),
    "Qwen2": ("decoder", "Qwen2ForCausalLM", "Qwen2Config", SIZE | {"num_key_value_heads": 2}),
    "Qwen3": ("decoder", "Qwen3ForCausalLM", "Qwen3Config", GROUPED),
    "Gemma": ("decoder", "GemmaForCausalLM", "GemmaConfig", GROUPED),
    "Gemma 2, soft-capped": (
        "decoder",
        "Gemma2ForCausalLM",
        "Gemma2Config",
        GROUPED
        | {"attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0, "sliding_window": 8, "query_pre_attn_scalar": 16},
    ),
    "Gemma 3": ("decoder", "Gemma3ForCausalLM", "Gemma3TextConfig", GROUPED | {"sliding_window": 8}),
    "GPT-OSS, sinks": (
        "decoder",
        "GptOssForCausalLM",
        "GptOssConfig",
        GROUPED | {"num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 8},
    ),
    "Mixtral": ("decoder", "MixtralForCausalLM", "MixtralConfig", GROUPED | {"num_local_experts": 2}),
    "GPT-NeoX": ("decoder", "GPTNeoXForCausalLM", "GPTNeoXConfig", SIZE),
    "Phi": ("decoder", "PhiForCausalLM", "PhiConfig", SIZE),
    "OPT": (
        "decoder",
        "OPTForCausalLM",
        "OPTConfig",
        SIZE | {"ffn_dim": 128, "word_embed_proj_dim": 32},  # the logits come through a projection
    ),
    "DeepSeek-V3": ("decoder", "DeepseekV3ForCausalLM", "DeepseekV3Config", SIZE | DEEPSEEK),
    "BLOOM": ("decoder", "BloomForCausalLM", "BloomConfig", SIZE | {"n_layer": 3, "n_head": 4}),
    "GPT-J": ("decoder", "GPTJForCausalLM", "GPTJConfig", GPT | {"rotary_dim": 8}),
    "Falcon": ("decoder", "FalconForCausalLM", "FalconConfig", SIZE),
    "MPT": ("decoder", "MptForCausalLM", "MptConfig", {"vocab_size": VOCABULARY, "d_model": 64, "n_layers": 3, "n_heads": 4}),
    "GPT-Neo": (
        "decoder",
        "GPTNeoForCausalLM",
        "GPTNeoConfig",
        {
            "vocab_size": VOCABULARY,
            "hidden_size": 64,
            "num_layers": 4,
            "num_heads": 4,
            "attention_types": [[["global", "local"], 2]],
            "window_size": 8,
        },
    ),
    "XGLM": (
        "decoder",
        "XGLMForCausalLM",
        "XGLMConfig",
        {"vocab_size": VOCABULARY, "d_model": 64, "num_layers": 3, "attention_heads": 4, "ffn_dim": 128},
    ),
    "BERT": ("encoder", "BertForMaskedLM", "BertConfig", SIZE),
    "BERT without a head": ("encoder", "BertModel", "BertConfig", SIZE),
    "RoBERTa": ("encoder", "RobertaForMaskedLM", "RobertaConfig", SIZE | {"type_vocab_size": 1}),
    "DistilBERT": (
        "encoder",
        "DistilBertForMaskedLM",
        "DistilBertConfig",
        {"vocab_size": VOCABULARY, "dim": 64, "n_layers": 3, "n_heads": 4, "hidden_dim": 128, "pad_token_id": 0},
    ),
    "ELECTRA": ("encoder", "ElectraForMaskedLM", "ElectraConfig", SIZE | {"embedding_size": 32}),
    "ALBERT": ("encoder", "AlbertForMaskedLM", "AlbertConfig", SIZE | {"embedding_size": 32}),
    "ModernBERT": ("encoder", "ModernBertForMaskedLM", "ModernBertConfig", SIZE | {"local_attention": 8}),
    "MPNet": ("encoder", "MPNetForMaskedLM", "MPNetConfig", SIZE),
    "DeBERTa-v2": ("encoder", "DebertaV2ForMaskedLM", "DebertaV2Config", SIZE | DEBERTA),
    "XLNet": (
        "encoder",
        "XLNetModel",
        "XLNetConfig",
        {"vocab_size": VOCABULARY, "d_model": 64, "n_layer": 3, "n_head": 4, "d_inner": 128},
    ),
    "T5": (
        "encoder-decoder",
        "T5ForConditionalGeneration",
        "T5Config",
        BOTH | {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 4},
    ),
    "BART": ("encoder-decoder", "BartForConditionalGeneration", "BartConfig", BART),
    "Marian": ("encoder-decoder", "MarianMTModel", "MarianConfig", BART | {"decoder_start_token_id": 0}),
}


def network(name: str, attention: str = "eager") -> T.PreTrainedModel:
    """A tiny network; the same weights at each call."""
    _, architecture, config, choices = NETWORKS[name]
    torch.manual_seed(0)
    built = getattr(T, architecture)._from_config(getattr(T, config)(**choices), attn_implementation=attention)
    with torch.no_grad():
        for parameter in built.parameters():  # fresh weights are so small that every head is nearly even
            if parameter.dim() > 1 and parameter.std() < 0.05:
                parameter.mul_(4)
    return built.eval().requires_grad_(False)


def tokenizer(kind: str) -> T.PreTrainedTokenizerBase:
    """A byte-level BPE of 300 tokens; for an encoder with a start, an end and pairs, for an encoder-decoder with an end."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer, bpe.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        TEXTS, trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False)
    )
    if kind == "encoder":
        bpe.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 1), ("</s>", 2)]
        )
    if kind == "encoder-decoder":
        bpe.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    names = {"pad_token": "<pad>", "unk_token": "<unk>", "eos_token": "</s>", "bos_token": "<s>"}
    if kind == "encoder":
        names |= {"mask_token": "<mask>", "cls_token": "<s>", "sep_token": "</s>"}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return T.PreTrainedTokenizerFast(tokenizer_object=bpe, model_input_names=inputs, **names)
