"""What heads are by their weights: an induction head reads the previous-token head by its keys, and random heads read nobody."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
import transformers

from analysis.composition import WAYS, head_weights, random_composition, share
from models import load
from models.huggingface.model import HuggingFaceModel
from models.scratch.decoder_model import DecoderModel
from models.scratch.transformer import TransformerConfig, build
from tests.analysis.planted import letters, planted
from tests.models.edited import model
from tests.models.networks import GROUPED, NETWORKS, network, tokenizer
from tests.models.ours import scramble

PREVIOUS, DUPLICATE, INDUCTION = 0, 1, 2


def test_the_planted_induction_head_composes_with_the_previous_token_head_by_its_keys_alone():
    scores = head_weights(planted())
    ways = {way: scores.composition[i, INDUCTION] for i, way in enumerate(WAYS)}
    assert ways["keys"][PREVIOUS] + scores.random == pytest.approx(257**-0.5, rel=1e-4), "each of 257 tokens, as it is"
    assert ways["keys"][DUPLICATE] + scores.random == pytest.approx(0, abs=1e-6)
    for way in ("queries", "values"):
        assert ways[way][PREVIOUS] + scores.random == pytest.approx(0, abs=1e-6)
    assert np.isnan(scores.composition[:, PREVIOUS]).all(), "nothing comes before the first layer"
    assert scores.table["copying"][INDUCTION] == pytest.approx(1), "it says again what it finds"
    assert scores.table["matching"][DUPLICATE] > 0.99, "it looks for the token that it reads"


def test_shares_are_those_of_the_whole_matrices():
    generator = np.random.default_rng(0)
    value, reads = generator.normal(size=(2, 24, 4))
    output, target = generator.normal(size=(2, 4, 24))
    full = np.linalg.norm(value @ output @ reads @ target)
    sizes = np.linalg.norm(value @ output) * np.linalg.norm(reads @ target)
    assert share(value, output, reads, target) == pytest.approx(full / sizes)
    assert random_composition(256, 32) == pytest.approx(256**-0.5, rel=0.05)


@pytest.mark.thorough
def test_weights_of_the_writer_say_what_numpy_says_and_random_ones_nothing():
    writer = load("writer")
    scores = head_weights(writer)
    value, output = writer.value_weights("self", 1)[2], writer.output_weights("self", 1)[2]
    spectrum = np.linalg.svd((value @ output).astype(np.float64), compute_uv=False)
    assert scores.table["ov_rank"][10] == pytest.approx(np.sum(spectrum**2) / spectrum[0] ** 2, rel=1e-4)
    reads = writer.query_weights("self", 3)[5] @ writer.key_weights("self", 3)[5].T
    expected = np.linalg.norm(value @ output @ reads) / np.linalg.norm(value @ output) / np.linalg.norm(reads)
    assert scores.composition[0, 29, 10] == pytest.approx(expected - scores.random, abs=1e-5)
    random = head_weights(writer.with_random_weights(3))
    assert np.nanmax(scores.composition) > 5 * np.nanmax(np.abs(random.composition))
    assert np.nanmax(scores.table["copying"]) > scores.table["copying_null"][0]


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_stacks_of_a_translator_compose_and_cross_attention_says_why_not(kind):
    scores = head_weights(load("translator"), kind)
    assert len(scores.table) == 12 and np.isfinite(scores.composition[:, -1, 0]).all() and scores.table["copying"].isna().all()
    with pytest.raises(ValueError, match="Cross-attention reads another stream"):
        head_weights(load("translator"), "cross")


def its_own(name: str, layer: int) -> list[np.ndarray]:
    """W_Q, W_K, W_V and W_O of a layer, taken out of the network by the names of its parts: [heads, d_model, d_head], or for W_O
    [heads, d_head, d_model]."""
    network_ = model(name).network
    if name == "GPT-2":
        attention = network_.transformer.h[layer].attn
        maps, out = attention.c_attn.weight.split(64, dim=1), attention.c_proj.weight
    elif name == "BERT":
        attention = network_.bert.encoder.layer[layer].attention
        maps = [getattr(attention.self, part).weight.T for part in ("query", "key", "value")]
        out = attention.output.dense.weight.T
    else:
        attention = network_.model.layers[layer].self_attn
        maps = [getattr(attention, f"{part}_proj").weight.T for part in "qkv"]
        out = attention.o_proj.weight.T
    split = [weight.numpy().reshape(64, -1, 16).swapaxes(0, 1) for weight in maps]
    return [*(matrix.repeat(4 // len(matrix), 0) for matrix in split), out.numpy().reshape(4, 16, 64)]


@pytest.mark.parametrize("name", ["GPT-2", "Llama, grouped-query", "BERT"])
def test_matrices_of_a_network_of_the_hub_are_found_and_what_follows_from_them_is_what_numpy_says(name):
    net = model(name)
    scores, layers = head_weights(net), [its_own(name, layer) for layer in range(3)]
    for layer, expected in enumerate(layers):
        for part, matrix in zip(("query", "key", "value", "output"), expected, strict=True):
            np.testing.assert_array_equal(getattr(net, f"{part}_weights")("self", layer), matrix)
    (_, _, value, output), (query, key, *_) = layers[0], layers[2]
    writes, reads = (value[1] @ output[1]).astype(float), (query[3] @ key[3].T).astype(float)
    share_of = np.linalg.norm(writes @ reads) / np.linalg.norm(writes) / np.linalg.norm(reads)
    assert scores.composition[0, 11, 1] == pytest.approx(share_of - scores.random, abs=1e-6)
    table = net.embedding().astype(float)
    values = np.linalg.eigvals(table @ query[3] @ key[3].T @ table.T)
    assert scores.table["matching"][11] == pytest.approx(values.sum().real / np.abs(values).sum(), abs=1e-3)
    if name == "BERT":
        assert scores.table["copying"].isna().all(), "its head has two matrices"
    else:
        values = np.linalg.eigvals(table @ writes @ net.network.lm_head.weight.numpy().T.astype(float))
        assert scores.table["copying"][1] == pytest.approx(values.sum().real / np.abs(values).sum(), abs=1e-3)


@cache
def with_biases(name: str) -> HuggingFaceModel:
    """A tiny network whose norms of queries and keys have gains that are not all alike."""
    kind, network_ = NETWORKS[name][0], network(name)
    generator = torch.Generator().manual_seed(1)
    for part, weight in network_.named_parameters():
        if part.endswith(("q_norm.weight", "k_norm.weight")):
            weight.copy_(weight + 0.5 * torch.rand(weight.shape, generator=generator))
    return HuggingFaceModel(network_, tokenizer(kind), kind, name=name)


def attention_of(net: HuggingFaceModel, layer: int) -> torch.nn.Module:
    base = net.network.base_model
    return getattr(base, "decoder", base).layers[layer].self_attn


def factors(net: HuggingFaceModel, layer: int) -> tuple[float | torch.Tensor, float | torch.Tensor]:
    """By what the queries and the keys of a layer are multiplied after their matrices, as the network's own parts say it."""
    name, attention = net.info.name, attention_of(net, layer)
    if name == "OPT":
        return attention.scaling, 1.0
    if name == "GPT-OSS, sinks":
        return (net.network.model.rotary_emb.attention_scaling,) * 2
    return tuple((name == "Gemma 3") + norm.weight for norm in (attention.q_norm, attention.k_norm))


@pytest.mark.parametrize("name", ["Qwen3", "Gemma 3", "GPT-OSS, sinks", "OPT"])
def test_what_stands_between_a_matrix_and_its_heads_belongs_to_it_where_it_is_the_same_at_every_token(name):
    """Gains of norms that were learned, the root of d_head, and what turns are multiplied by; each against the network's parts,
    and against what the heads are given: at the first position, which is not turned, it points where the matrix says."""
    net = with_biases(name)
    scores, came = head_weights(net), []
    assert scores.normed == (name in ("Qwen3", "Gemma 3")) and np.isfinite(scores.table["qk_rank"]).all()
    for layer in range(net.info.layers):
        attention = attention_of(net, layer)
        handle = attention.q_proj.register_forward_pre_hook(lambda module, args: came.append(args[0][0, 0].double().numpy()))
        trace = net.trace("The cat", remember=False)
        handle.remove()
        for part, factor in zip(("query", "key"), factors(net, layer), strict=True):
            linear = getattr(attention, f"{part[0]}_proj")
            by_head = linear.weight.T.unflatten(1, (-1, 16)).transpose(0, 1)
            expected = (by_head * factor).numpy().repeat(4 // len(by_head), 0)
            np.testing.assert_allclose(getattr(net, f"{part}_weights")("self", layer), expected, rtol=1e-4, atol=1e-6)
            recorded = (trace.attention["self"].q if part == "query" else trace.attention["self"].k)(layer)[:, 0]
            bias = 0 if linear.bias is None else (linear.bias.view(-1, 16) * factor).numpy().repeat(4 // len(by_head), 0)
            points = np.einsum("m,hmd->hd", came[-1], expected) + bias
            if scores.normed:
                points *= (np.linalg.norm(recorded, axis=-1) / np.linalg.norm(points, axis=-1))[:, None]
            np.testing.assert_allclose(recorded, points, atol=1e-4)


@pytest.mark.parametrize("name", ["DeepSeek-V3", "BLOOM"])
def test_matrices_that_are_not_all_that_makes_a_query_are_not_given_for_it(name):
    """The first makes each by two matrices with a norm between, the second attends in its own way."""
    with pytest.raises(ValueError, match="could not be found"):
        head_weights(with_biases(name))


def test_a_norm_that_takes_the_mean_away_is_not_left_to_the_matrix():
    """Cohere's layer norm of queries: what it gives points elsewhere than the matrix does."""
    choices = GROUPED | {"use_qk_norm": True}
    torch.manual_seed(0)
    cohere = transformers.CohereForCausalLM(transformers.CohereConfig(**choices)).eval()
    with pytest.raises(ValueError, match="each query of this model could not be found"):
        head_weights(HuggingFaceModel(cohere, tokenizer("decoder"), "decoder"))


@pytest.mark.parametrize("score", ["dot", "multiplicative"])
def test_matrices_of_our_own_models_hold_all_that_makes_a_query_and_a_key_point_where_it_does(score):
    """Against what heads are given at the first position, which rotary positions do not turn: gains of norms belong to it."""
    torch.manual_seed(0)
    network_ = build(
        TransformerConfig(vocabulary=290, d_model=64, layers=2, heads=4, kv_heads=2, d_ff=64, score=score, qk_norm=True)
    )
    scramble(network_)
    net, came = DecoderModel(network_, letters(), "ours", ""), []
    for layer, block in enumerate(network_.blocks):
        handle = block.attention.register_forward_pre_hook(lambda module, args: came.append(args[0][0, 0].double().numpy()))
        attention = net.trace("The cat", remember=False).attention["self"]
        handle.remove()
        for recorded, weights in ((attention.q(layer), net.query_weights), (attention.k(layer), net.key_weights)):
            points = np.einsum("m,hmd->hd", came[-1], weights("self", layer))
            points *= (np.linalg.norm(recorded[:, 0], axis=-1) / np.linalg.norm(points, axis=-1))[:, None]
            np.testing.assert_allclose(recorded[:, 0], points, atol=1e-4)


@pytest.mark.thorough
def test_ranks_and_matches_of_the_writer_are_those_of_its_normed_queries_and_keys():
    """Without the gains of its norms they would be others: 11.1 in the place of 4.9, on average."""
    writer, ranks = load("writer"), head_weights(load("writer")).table["qk_rank"].to_numpy().reshape(6, 8)
    bare = []
    for layer, block in enumerate(writer.network.blocks):
        attention = block.attention
        query, key = (
            (norm.weight[:, None] * linear.weight.view(8, 32, 256)).detach().double().numpy()
            for norm, linear in ((attention.query_norm, attention.query), (attention.key_norm, attention.key))
        )
        spectrum = np.linalg.svd(query.transpose(0, 2, 1) @ key, compute_uv=False)
        np.testing.assert_allclose(ranks[layer], (spectrum**2).sum(-1) / spectrum[:, 0] ** 2, rtol=1e-3)
        bare.append(np.linalg.svd(attention.query.weight.view(8, 32, 256).mT @ attention.key.weight.view(8, 32, 256)).S)
    print(
        "QK rank with the gains",
        ranks.mean().round(1),
        "without",
        np.mean([(s**2).sum(-1) / s[:, 0] ** 2 for s in bare]).round(1),
    )
    assert all((abs(ranks[layer] - (s**2).sum(-1) / s[:, 0] ** 2) > 0.1).any() for layer, s in enumerate(bare))


def test_heads_whose_scores_are_no_products_have_no_such_matrices():
    torch.manual_seed(0)
    network_ = build(TransformerConfig(vocabulary=290, d_model=64, layers=2, heads=4, d_ff=64, score="additive", qk_norm=False))
    with pytest.raises(ValueError, match="does not multiply queries with keys"):
        head_weights(DecoderModel(network_, letters(), "ours", ""))
