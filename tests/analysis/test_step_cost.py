"""What one token more costs, by counting, against formulas written by hand and against what is kept."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers.modeling_outputs import BaseModelOutput

from analysis.cost import costs, kernels
from analysis.step_cost import step_cost
from models.scratch.config import TransformerConfig
from tests.models.test_generate import TEXT, hub, ours


def by_formula(config: TransformerConfig, length: int) -> tuple[int, int, int]:
    """Of `analysis.cost`: all that is linear in the text; what a pair of tokens costs; the way to the vocabulary of one token."""
    parts = costs(config, length)
    scores = sum(one.flops.value for one in parts if one.part == "self-attention: scores")
    head = sum(one.flops.value for one in parts if one.part == "unembedding")
    return sum(one.flops.value for one in parts) - scores - head, scores // length**2, head // length


@pytest.mark.parametrize("choices", [{}, {"kv_heads": 2, "bias": True}, {"positions": "alibi"}, {"experts": 3}], ids=str)
def test_a_step_of_ours_costs_what_the_formulas_say(choices):
    model = ours("decoder", **choices)
    found, length = step_cost(model, TEXT), 20
    linear, pair, head = by_formula(model.network.config, length)
    assert found.kept(length) == linear // length + pair * length + head
    assert found.unkept(length) == linear + pair * length**2 + head


@pytest.mark.parametrize("name", ["GPT-2", "Llama, grouped-query", "Qwen3", "Gemma 2, soft-capped", "Falcon", "BLOOM"])
def test_a_step_of_a_hub_model_passes_each_weight_once_and_each_key_twice(name):
    """2 operations for each number of every matrix, and 4 d_head for each key in every head."""
    model, found = hub(name), step_cost(hub(name), TEXT)
    network = model.network
    table, last = network.get_input_embeddings().weight, network.get_output_embeddings().weight
    tables = {id(table), *(id(one) for key, one in network.named_parameters() if "wpe" in key)}
    matrices = sum(one.numel() for one in network.parameters() if one.dim() == 2 and id(one) not in tables)
    matrices += last.numel() if last is table else 0
    head_size = model._outputs.weights("self", 0).shape[1] if model.info.queries else 16
    assert found.token == 2 * matrices
    assert found.key == found.pair == 4 * model.info.layers * model.info.heads * head_size
    assert found.unkept(30) == found.pair * 900 + 30 * 2 * (matrices - last.numel()) + 2 * last.numel()


@pytest.mark.parametrize("words", [1, 4, 9])
def test_a_step_of_a_translator_costs_what_the_formulas_say_for_the_source_that_is_read(words):
    """Of `analysis.cost`, for a source of m tokens: all of both stacks, and of the unembedding one token."""
    model, length = ours("encoder-decoder"), 7
    text = " ".join(["cat"] * words)
    found, config, source = step_cost(model, text), model.network.config, len(model.tokenize(text))
    parts = costs(config, source, length)
    whole = {(one.part, one.stack): one.flops.value for one in parts}
    head = whole["unembedding", "decoder"]
    assert found.unkept(length) == sum(whole.values()) - head + head // length
    d, layers = config.d_model, config.layers
    token = whole["self-attention: q, k, v, output", "decoder"] // length  # of one token, whose scores meet n keys
    token += whole["feed-forward", "decoder"] // length + head // length
    token += 4 * layers * d * d + 4 * layers * d * source  # the query and the output of cross-attention, and its scores
    assert found.kept(length) == token + 4 * layers * d * length


@pytest.mark.parametrize("name", ["T5", "BART"])
def test_a_step_of_a_hub_translator_is_what_torch_counts_with_that_source(name):
    model = hub(name)
    text = "the cat sat on the mat and the dog sat on the cat"
    network, found, source = model.network, step_cost(model, text), torch.tensor([[one.id for one in model.tokenize(text)]])
    said = torch.tensor([[model.start, *range(3, 12)]])
    with torch.inference_mode():
        with FlopCounterMode(display=False, custom_mapping=kernels()) as whole:
            network(input_ids=source, decoder_input_ids=said, use_cache=False)
        past = network(input_ids=source, decoder_input_ids=said[:, :-1], use_cache=True)
        memory = BaseModelOutput(last_hidden_state=past.encoder_last_hidden_state)
        with FlopCounterMode(display=False, custom_mapping=kernels()) as step:
            network(encoder_outputs=memory, decoder_input_ids=said[:, -1:], past_key_values=past.past_key_values, use_cache=True)
    assert (whole.get_total_flops(), step.get_total_flops()) == (found.unkept(said.shape[1]), found.kept(said.shape[1]))


@pytest.mark.parametrize("opened", [lambda: ours("encoder-decoder"), lambda: hub("T5"), lambda: hub("Mixtral")])
def test_keeping_keys_is_never_dearer(opened):
    found = step_cost(opened(), TEXT)
    assert all(0 < found.kept(length) <= found.unkept(length) for length in (1, 2, 10, 1000))
    assert found.unkept(2000) / found.kept(2000) > 100
