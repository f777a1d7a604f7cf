"""The counted cost of one more token, against formulas written by hand."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers.modeling_outputs import BaseModelOutput

from analysis.cost import costs, kernels
from analysis.step_cost import step_cost
from models.scratch.config import TransformerConfig
from tests.models.generation.test_generate import TEXT, hub, ours


def by_formula(config: TransformerConfig, length: int) -> tuple[int, int, int]:
    """Of `analysis.cost`: all that is linear in the text; what a pair of tokens costs; the way to the vocabulary of one token."""
    parts = costs(config, length)
    scores = sum(cost.flops.value for cost in parts if cost.part == "self-attention: scores")
    head = sum(cost.flops.value for cost in parts if cost.part == "unembedding")
    return sum(cost.flops.value for cost in parts) - scores - head, scores // length**2, head // length


@pytest.mark.parametrize("choices", [{}, {"kv_heads": 2, "bias": True}, {"positions": "alibi"}, {"experts": 3}], ids=str)
def test_a_step_of_ours_costs_what_the_formulas_say(choices):
    model = ours("decoder", **choices)
    cost, length = step_cost(model, TEXT), 20
    linear, pair, head = by_formula(model.network.config, length)
    assert cost.with_cache(length) == linear // length + pair * length + head
    assert cost.without_cache(length) == linear + pair * length**2 + head


@pytest.mark.parametrize("name", ["GPT-2", "Llama, grouped-query", "Qwen3", "Gemma 2, soft-capped", "Falcon", "BLOOM"])
def test_a_step_of_a_hub_model_passes_each_weight_once_and_each_key_twice(name):
    """2 operations for each number of every matrix, and 4 d_head for each key in every head."""
    model, cost = hub(name), step_cost(hub(name), TEXT)
    network = model.network
    table, last = network.get_input_embeddings().weight, network.get_output_embeddings().weight
    tables = {id(table), *(id(table) for key, table in network.named_parameters() if "wpe" in key)}
    matrices = sum(
        parameter.numel() for parameter in network.parameters() if parameter.dim() == 2 and id(parameter) not in tables
    )
    matrices += last.numel() if last is table else 0
    head_size = model.output_weights("self", 0).shape[1] if model.info.queries else 16
    assert cost.token == 2 * matrices
    assert cost.key == cost.pair == 4 * model.info.layers * model.info.heads * head_size
    assert cost.without_cache(30) == cost.pair * 900 + 30 * 2 * (matrices - last.numel()) + 2 * last.numel()


@pytest.mark.parametrize("words", [1, 4, 9])
def test_a_step_of_a_translator_costs_what_the_formulas_say_for_the_source_that_is_read(words):
    """Of `analysis.cost`, for a source of m tokens: all of both stacks, and of the unembedding one token."""
    model, length = ours("encoder-decoder"), 7
    text = " ".join(["cat"] * words)
    cost, config, source = step_cost(model, text), model.network.config, len(model.tokenize(text))
    parts = costs(config, source, length)
    flops = {(part.part, part.stack): part.flops.value for part in parts}
    head = flops["unembedding", "decoder"]
    assert cost.without_cache(length) == sum(flops.values()) - head + head // length
    d, layers = config.d_model, config.layers
    token = flops["self-attention: q, k, v, output", "decoder"] // length  # of one token, whose scores meet n keys
    token += flops["feed-forward", "decoder"] // length + head // length
    token += 4 * layers * d * d + 4 * layers * d * source  # the query and the output of cross-attention, and its scores
    assert cost.with_cache(length) == token + 4 * layers * d * length


@pytest.mark.parametrize("name", ["T5", "BART"])
def test_a_step_of_a_hub_translator_is_what_torch_counts_with_that_source(name):
    model = hub(name)
    text = "the cat sat on the mat and the dog sat on the cat"
    network, cost, source = model.network, step_cost(model, text), torch.tensor([[token.id for token in model.tokenize(text)]])
    target = torch.tensor([[model.texts.start, *range(3, 12)]])
    with torch.inference_mode():
        with FlopCounterMode(display=False, custom_mapping=kernels()) as full:
            network(input_ids=source, decoder_input_ids=target, use_cache=False)
        past = network(input_ids=source, decoder_input_ids=target[:, :-1], use_cache=True)
        memory = BaseModelOutput(last_hidden_state=past.encoder_last_hidden_state)
        with FlopCounterMode(display=False, custom_mapping=kernels()) as step:
            network(
                encoder_outputs=memory, decoder_input_ids=target[:, -1:], past_key_values=past.past_key_values, use_cache=True
            )
    assert (full.get_total_flops(), step.get_total_flops()) == (
        cost.without_cache(target.shape[1]),
        cost.with_cache(target.shape[1]),
    )


@pytest.mark.parametrize("opened", [lambda: ours("encoder-decoder"), lambda: hub("T5"), lambda: hub("Mixtral")])
def test_keeping_keys_is_never_dearer(opened):
    cost = step_cost(opened(), TEXT)
    assert all(0 < cost.with_cache(length) <= cost.without_cache(length) for length in (1, 2, 10, 1000))
    assert cost.without_cache(2000) / cost.with_cache(2000) > 100
