"""Same weights in, same numbers out: our transformer against torch.nn and transformers."""

from __future__ import annotations

import pytest
import torch
import transformers as T
from torch import nn

from tests.models.ours import SMALL, VOCABULARY, scramble, small, texts

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
POST = {"norm": "layer", "positions": "none", "qk_norm": False, "bias": True}
LENGTHS = torch.tensor([12, 7])
HIDDEN = torch.arange(12) >= LENGTHS[:, None]  # [batch, key], True where there is padding
EPS = torch.finfo(torch.float32).eps  # of our RMSNorm


def copy_weights(ours: nn.Module, theirs: nn.Module, names: dict[str, str]) -> None:
    """Give `theirs` our weights. names: our modules, and theirs; several of ours, by commas, are one of theirs, stacked."""
    with torch.no_grad():
        for mine, its in names.items():
            modules, target = [ours.get_submodule(name) for name in mine.split(",")], theirs.get_submodule(its)
            weight = torch.cat([module.weight for module in modules])
            target.weight.copy_(weight.T if type(target).__name__ == "Conv1D" else weight)
            if getattr(target, "bias", None) is not None:
                target.bias.copy_(torch.cat([module.bias for module in modules]))


def in_layers(names: dict[str, str], theirs: str) -> dict[str, str]:
    """The names in a block, for each block; theirs: what their layers are called."""
    count = SMALL["layers"]
    by_layer = {
        number: {",".join(f"blocks.{number}.{name}" for name in key.split(",")): its for key, its in names.items()}
        for number in range(count)
    }
    return {key: f"{theirs}.{number}.{its}" for number in range(count) for key, its in by_layer[number].items()}


def torch_attention(ours: nn.Module, theirs: nn.MultiheadAttention) -> None:
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key.weight, ours.value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key.bias, ours.value.bias]))
        theirs.out_proj.weight.copy_(ours.output.weight)
        theirs.out_proj.bias.copy_(ours.output.bias)


def torch_layer(block: nn.Module, place: str, feedforward: str, cross: bool) -> nn.Module:
    """torch's layer with the weights of our block."""
    layer_class = nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer
    theirs = layer_class(16, 4, 20, 0.0, feedforward, batch_first=True, norm_first=place == "before")
    torch_attention(block.attention, theirs.self_attn)
    norms = {"attention_norm": "norm1", "feedforward_norm": "norm2"}
    if cross:
        torch_attention(block.cross, theirs.multihead_attn)
        norms = {"attention_norm": "norm1", "cross_norm": "norm2", "feedforward_norm": "norm3"}
    copy_weights(block, theirs, norms | {"feedforward.up": "linear1", "feedforward.down": "linear2"})
    return theirs


@pytest.mark.parametrize("future", [True, False])
@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["full", "padded"])
def test_attention_equals_torch_nn(future, lengths):
    ours = small(kind="encoder" if future else "decoder", **POST)
    attention, x = ours.blocks[0].attention, torch.randn(2, 12, 16)
    theirs = nn.MultiheadAttention(16, 4, batch_first=True)
    torch_attention(attention, theirs)
    late = None if future else torch.ones(12, 12, dtype=torch.bool).triu(1)
    hidden = None if lengths is None else HIDDEN
    expected, _ = theirs(x, x, x, attn_mask=late, key_padding_mask=hidden)
    output = attention(x, ours.reading(0, 12, None, lengths), 0)
    text = slice(None) if lengths is None else ~HIDDEN  # what is padding is nobody's business
    torch.testing.assert_close(output[text], expected[text], **CLOSE)


@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["full", "padded"])
def test_cross_attention_equals_torch_nn(lengths):
    ours = small(kind="encoder-decoder", **POST).decoder
    attention, x, memory = ours.blocks[0].cross, torch.randn(2, 5, 16), torch.randn(2, 12, 16)
    theirs = nn.MultiheadAttention(16, 4, batch_first=True)
    torch_attention(attention, theirs)
    expected, _ = theirs(x, memory, memory, key_padding_mask=None if lengths is None else HIDDEN)
    output = attention(x, ours.reading_source(memory, None, lengths), 0, memory)
    torch.testing.assert_close(output, expected, **CLOSE)


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("feedforward", ["relu", "gelu"])
def test_encoder_layer_equals_torch_nn(place, feedforward):
    ours = small(kind="encoder", norm_place=place, feedforward=feedforward, **POST)
    x = torch.randn(2, 12, 16)
    theirs = torch_layer(ours.blocks[0], place, feedforward, cross=False)
    output = ours.blocks[0](x, ours.reading(0, 12, None, LENGTHS), 0, None, None)
    expected = theirs(x, src_key_padding_mask=HIDDEN)
    torch.testing.assert_close(output[~HIDDEN], expected[~HIDDEN], **CLOSE)


@pytest.mark.parametrize("place", ["before", "after"])
def test_decoder_layer_equals_torch_nn_and_so_do_its_gradients(place):
    ours = small(kind="encoder-decoder", norm_place=place, feedforward="relu", **POST).decoder
    block = ours.blocks[0]
    x, memory = torch.randn(2, 9, 16, requires_grad=True), torch.randn(2, 12, 16, requires_grad=True)
    theirs = torch_layer(block, place, "relu", cross=True)
    output = block(x, ours.reading(0, 9, None, None), 0, memory, ours.reading_source(memory, None, LENGTHS))
    late = torch.ones(9, 9, dtype=torch.bool).triu(1)
    expected = theirs(x, memory, tgt_mask=late, memory_key_padding_mask=HIDDEN)
    torch.testing.assert_close(output, expected, **CLOSE)
    target = torch.randn_like(output)
    mine = torch.autograd.grad((output * target).sum(), [x, memory, block.feedforward.up.weight, block.attention.output.weight])
    its = torch.autograd.grad((expected * target).sum(), [x, memory, theirs.linear1.weight, theirs.self_attn.out_proj.weight])
    for gradient, other in zip(mine, its, strict=True):
        torch.testing.assert_close(gradient, other, atol=1e-4, rtol=1e-4)


def test_whole_model_equals_gpt2():
    ours = small(norm="layer", positions="learned", feedforward="gelu-tanh", qk_norm=False, bias=True)
    theirs = T.GPT2LMHeadModel(
        T.GPT2Config(
            vocab_size=VOCABULARY, n_positions=32, n_embd=16, n_layer=2, n_head=4, n_inner=20, bos_token_id=1, eos_token_id=2
        )
    ).eval()
    blocks = {
        "attention_norm": "ln_1",
        "attention.query,attention.key,attention.value": "attn.c_attn",
        "attention.output": "attn.c_proj",
        "feedforward_norm": "ln_2",
        "feedforward.up": "mlp.c_fc",
        "feedforward.down": "mlp.c_proj",
    }
    ends = {"embedding": "transformer.wte", "positions.embedding": "transformer.wpe", "final_norm": "transformer.ln_f"}
    with torch.no_grad():  # theirs lies on its side, so that three of ours stand beside each other
        copy_weights(ours, theirs, in_layers(blocks, "transformer.h") | ends)
        torch.testing.assert_close(ours(texts()), theirs(texts()).logits, **CLOSE)


LLAMA = {
    "attention_norm": "input_layernorm",
    "attention.query": "self_attn.q_proj",
    "attention.key": "self_attn.k_proj",
    "attention.value": "self_attn.v_proj",
    "attention.output": "self_attn.o_proj",
    "feedforward_norm": "post_attention_layernorm",
}
LLAMA_ENDS = {"embedding": "model.embed_tokens", "unembedding": "lm_head", "final_norm": "model.norm"}
LLAMA_SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 32,
    "rms_norm_eps": EPS,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


@pytest.mark.parametrize("kv_heads", [4, 2, 1])
def test_whole_model_equals_llama(kv_heads):
    """Multi-head, grouped-query and multi-query."""
    ours = small(kv_heads=kv_heads, qk_norm=False, tied=False)
    theirs = T.LlamaForCausalLM(T.LlamaConfig(**LLAMA_SIZES, num_key_value_heads=kv_heads)).eval()
    mlp = {"feedforward.gate": "mlp.gate_proj", "feedforward.up": "mlp.up_proj", "feedforward.down": "mlp.down_proj"}
    with torch.no_grad():
        copy_weights(ours, theirs, in_layers(LLAMA | mlp, "model.layers") | LLAMA_ENDS)
        torch.testing.assert_close(ours(texts()), theirs(texts()).logits, **CLOSE)


def test_whole_model_equals_mixtral():
    """A mixture of four experts, two for each token."""
    ours = small(kv_heads=2, qk_norm=False, tied=False, experts=4, experts_used=2)
    sizes = {"num_key_value_heads": 2, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None}
    theirs = T.MixtralForCausalLM(T.MixtralConfig(**LLAMA_SIZES | sizes, rope_theta=10_000.0)).eval()
    with torch.no_grad():
        copy_weights(ours, theirs, in_layers(LLAMA | {"feedforward.router": "mlp.gate"}, "model.layers") | LLAMA_ENDS)
        for block, layer in zip(ours.blocks, theirs.model.layers, strict=True):
            for number, expert in enumerate(block.feedforward.experts):
                layer.mlp.experts.gate_up_proj[number] = torch.cat([expert.gate.weight, expert.up.weight])
                layer.mlp.experts.down_proj[number] = expert.down.weight
        torch.testing.assert_close(ours(texts()), theirs(texts()).logits, **CLOSE)


def test_whole_model_equals_mpt():
    """ALiBi."""
    ours = small(norm="layer", positions="alibi", feedforward="gelu", qk_norm=False, d_ff=64)
    for name, parameter in ours.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)  # its norms have none
    theirs = T.MptForCausalLM(T.MptConfig(vocab_size=VOCABULARY, d_model=16, n_layers=2, n_heads=4, max_seq_len=32)).eval()
    blocks = {
        "attention_norm": "norm_1",
        "attention.query,attention.key,attention.value": "attn.Wqkv",
        "attention.output": "attn.out_proj",
        "feedforward_norm": "norm_2",
        "feedforward.up": "ffn.up_proj",
        "feedforward.down": "ffn.down_proj",
    }
    with torch.no_grad():
        copy_weights(
            ours,
            theirs,
            in_layers(blocks, "transformer.blocks") | {"embedding": "transformer.wte", "final_norm": "transformer.norm_f"},
        )
        torch.testing.assert_close(ours(texts()), theirs(texts()).logits, **CLOSE)


def test_whole_model_equals_bert():
    """A masked language model, padded."""
    ours = small(
        kind="encoder",
        norm="layer",
        norm_place="after",
        positions="learned",
        feedforward="gelu",
        qk_norm=False,
        bias=True,
        embedding_norm=True,
        head_transform=True,
    )
    theirs = T.BertForMaskedLM(
        T.BertConfig(
            vocab_size=VOCABULARY,
            hidden_size=16,
            intermediate_size=20,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=32,
            layer_norm_eps=1e-5,
            pad_token_id=0,
        )
    ).eval()
    blocks = {
        "attention.query": "attention.self.query",
        "attention.key": "attention.self.key",
        "attention.value": "attention.self.value",
        "attention.output": "attention.output.dense",
        "attention_norm": "attention.output.LayerNorm",
        "feedforward.up": "intermediate.dense",
        "feedforward.down": "output.dense",
        "feedforward_norm": "output.LayerNorm",
    }
    start = {
        "embedding": "bert.embeddings.word_embeddings",
        "positions.embedding": "bert.embeddings.position_embeddings",
        "embedding_norm": "bert.embeddings.LayerNorm",
    }
    end = {"transform.0": "cls.predictions.transform.dense", "transform.2": "cls.predictions.transform.LayerNorm"}
    with torch.no_grad():
        copy_weights(ours, theirs, start | in_layers(blocks, "bert.encoder.layer") | end)
        theirs.bert.embeddings.token_type_embeddings.weight.zero_()  # ours has no kinds of texts
        theirs.cls.predictions.decoder.bias.copy_(ours.unembedding_bias)
        theirs.cls.predictions.bias.copy_(ours.unembedding_bias)
        theirs.cls.predictions.decoder.weight.copy_(ours.embedding.weight)
        expected = theirs(texts(), attention_mask=(~HIDDEN).long()).logits
        torch.testing.assert_close(ours(texts(), lengths=LENGTHS)[~HIDDEN], expected[~HIDDEN], **CLOSE)


def test_whole_model_equals_t5():
    """An encoder-decoder whose scores are not scaled, with relative positions; the source padded.

    For transformers, `tie_word_embeddings` of a T5 says whether its logits are scaled down; its matrices are one in any case.
    """
    ours = small(kind="encoder-decoder", positions="relative", feedforward="relu", qk_norm=False, temperature=4**-0.5)
    theirs = T.T5ForConditionalGeneration(
        T.T5Config(
            vocab_size=VOCABULARY,
            d_model=16,
            d_kv=4,
            d_ff=20,
            num_layers=2,
            num_decoder_layers=2,
            num_heads=4,
            layer_norm_epsilon=EPS,
            tie_word_embeddings=False,
            pad_token_id=0,
            decoder_start_token_id=0,
            dropout_rate=0.0,
        )
    ).eval()

    def sublayer(ours: str, norm: str, number: int, theirs: str) -> dict[str, str]:
        parts = {"query": "q", "key": "k", "value": "v", "output": "o"}
        names = {f"{ours}.{mine}": f"layer.{number}.{theirs}.{its}" for mine, its in parts.items()}
        return names | {norm: f"layer.{number}.layer_norm"}

    def ending(number: int) -> dict[str, str]:
        parts = {"up": "wi", "down": "wo"}
        names = {f"feedforward.{mine}": f"layer.{number}.DenseReluDense.{its}" for mine, its in parts.items()}
        return names | {"feedforward_norm": f"layer.{number}.layer_norm"}

    first = sublayer("attention", "attention_norm", 0, "SelfAttention")
    ends = {"final_norm": "final_layer_norm", "positions.embedding": "block.0.layer.0.SelfAttention.relative_attention_bias"}
    cross = sublayer("cross", "cross_norm", 1, "EncDecAttention")
    with torch.no_grad():
        copy_weights(ours.encoder, theirs.encoder, in_layers(first | ending(1), "block") | ends)
        copy_weights(ours.decoder, theirs.decoder, in_layers(first | cross | ending(2), "block") | ends)
        for table in (theirs.shared, theirs.encoder.embed_tokens, theirs.decoder.embed_tokens, theirs.lm_head):
            table.weight.copy_(ours.encoder.embedding.weight)
        target = texts(length=9, seed=2)
        expected = theirs(texts(), attention_mask=(~HIDDEN).long(), decoder_input_ids=target).logits
        torch.testing.assert_close(ours(texts(), target, LENGTHS), expected, **CLOSE)


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_whole_stack_equals_torch_nn(kind):
    """Post-norm with sinusoids, as first published; the reading of a stack from its embedding on."""
    ours = small(kind=kind, norm_place="after", feedforward="relu", **POST | {"positions": "sinusoidal"})
    ids, late = texts(), torch.ones(12, 12, dtype=torch.bool).triu(1)
    x = ours.embedding(ids) + ours.positions.waves[:12]
    for block in ours.blocks:
        x = torch_layer(block, "after", "relu", cross=False)(x, src_mask=late if kind == "decoder" else None)
    torch.testing.assert_close(ours.hidden(ids), x, **CLOSE)


def test_a_norm_is_what_torch_says():
    x = torch.randn(3, 16)
    for name, norm_class in {"rms": nn.RMSNorm, "layer": nn.LayerNorm}.items():
        ours, theirs = small(norm=name).final_norm, norm_class(16)
        scramble(ours)
        theirs.load_state_dict(ours.state_dict())
        torch.testing.assert_close(ours(x), theirs(x))
