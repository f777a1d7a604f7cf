"""What is peculiar to single architectures: opened from a folder and held to transformers' eager forward, or refused in words."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as T

import models
from analysis import logit_lens
from benchmarks import tiny
from benchmarks.architectures import HALF, LONG, SHORT, compare
from models import edits
from models.attention.recorded_call import Call
from models.editing.batches import answers
from models.errors import ModelError
from models.huggingface.classes import candidates
from models.huggingface.trial import part_of
from tests.grids import grid
from tests.models.networks import tokenizer

HYBRIDS = {
    "granitemoehybrid": {"layer_types": ["linear_attention", "full_attention", "linear_attention"], "num_hidden_layers": 3},
    "lfm2": {"layer_types": ["conv", "full_attention", "conv"], "full_attn_idxs": [1], "num_hidden_layers": 3},
    "jamba": {"attn_layer_offset": 0},
    "minimax": {},
    "bamba": {"attn_layer_indices": [0, 2]},
    "nemotron_h": {},  # ends with a feed-forward layer, which mixes nothing
}


def save(folder: Path, kind: str, **choices) -> Path:
    small = tiny.config(kind, **choices)
    choice = candidates(small, None, kind)[0]
    tiny.network(choice.cls, part_of(small, choice)).save_pretrained(folder)
    small.save_pretrained(folder)
    tokenizer("encoder-decoder" if small.is_encoder_decoder else "encoder").save_pretrained(folder)
    return folder


def reference(model, folder: Path):
    built = type(model.network).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    built.config.use_cache = False  # FSMT masks nothing where it remembers
    return built


@pytest.fixture(scope="module", params=grid(HYBRIDS, ["lfm2", "minimax", "nemotron_h"]))
def hybrid(request, tmp_path_factory):
    folder = save(tmp_path_factory.mktemp("hybrid"), request.param, **HYBRIDS[request.param])
    model = models.load(str(folder), device="cpu")
    return model, reference(model, folder)


def test_a_hybrid_that_ends_without_attention_agrees_with_eager(hybrid):
    """Attention, hidden states from the embedding on, all logits and single rows; a short text and a long one."""
    compare(*hybrid, (SHORT, LONG, HALF))


def test_the_lens_of_its_last_layer_is_its_prediction(hybrid):
    model, network = hybrid
    trace = model.trace(SHORT)
    last = logit_lens(model, trace, top=1).query("layer == layer.max()")
    with torch.inference_mode():
        expected = network(torch.tensor([[token.id for token in trace.tokens]])).logits[0].argmax(-1)
    assert last["id"].tolist() == expected.tolist()
    assert model.predict(SHORT, top=1)[0].id == expected[-1]


def test_it_is_edited_as_any_other_model(hybrid):
    """A patch with itself changes nothing, and many edits at once are the loop."""
    model, _ = hybrid
    plain = model.trace(SHORT)
    own = [edits.Stream(1, i, value=row) for i, row in enumerate(plain.hidden["self"][1])]
    assert np.array_equal(model.trace(SHORT, edits=own).hidden["self"], plain.hidden["self"])
    each = [[edits.Head(layer, 1)] for layer in range(model.info.layers)] + [[edits.Skip(model.info.layers - 1)]]
    expected = np.stack([model.trace(SHORT, edits=some).logits_at(-1) for some in each])
    assert answers(model, plain, each) == pytest.approx(expected, abs=1e-5 * float(np.abs(expected).max()))


def test_its_gradients_are_those_of_eager_attention(hybrid):
    """Through what follows the last attention too."""
    model, network = hybrid
    trace = model.trace(SHORT)
    token = int(trace.logits_at(1).argmax())
    gradients = model.gradients(trace, 1, token)["self"]
    embedded = network.get_input_embeddings()(torch.tensor([[token.id for token in trace.tokens]])).detach().requires_grad_()
    out = network(inputs_embeds=embedded, output_attentions=True)
    count = len(trace.tokens)
    weights = [weights for weights in out.attentions if weights is not None and weights.shape[-2:] == (count, count)]
    expected = torch.autograd.grad(out.logits[0, 1, token], weights)
    assert gradients.layers == len(expected)
    for layer, slopes in enumerate(expected):
        looks = weights[layer][0].detach().numpy() > 0
        np.testing.assert_allclose(gradients[layer][looks], slopes[0].numpy()[looks], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize(
    ("kind", "choices"),
    [
        ("lfm2", {"layer_types": ["conv", "full_attention"] * 2, "full_attn_idxs": [1, 3]}),  # begins without attention
        ("deberta-v2", {"conv_kernel_size": 3, "conv_act": "gelu", "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
        ("doge", {}),  # its mask hangs on what was read
        ("openai-gpt", {}),
        ("gemma3_text", {"use_bidirectional_attention": True}),
        ("deepseek_v32", {}),  # looks at chosen keys only
        ("big_bird", {}),
        ("fsmt", {}),  # its stream is [position, batch, d_model]
        ("qwen3_5", {}),  # its config is that of a model that also sees
    ],
)
def test_agrees_with_eager(kind, choices, tmp_path):
    model = models.load(str(save(tmp_path, kind, **choices)), device="cpu")
    compare(model, reference(model, tmp_path), (SHORT, LONG, HALF))


def test_bigbird_reads_a_text_the_same_whatever_it_read_before(tmp_path):
    """Blocks of 4: up to 44 tokens are read with full attention; more are not taken in, because they would be read sparsely."""
    model = models.load(str(save(tmp_path, "big_bird")), device="cpu")
    assert model.info.context == 44 and any("44 tokens" in note for note in model.info.notes)
    before = model.trace(LONG)
    model.trace(SHORT)
    again = models.load(str(tmp_path), device="cpu").trace(LONG)
    assert len(again.tokens) == 44
    np.testing.assert_allclose(before.hidden["self"], again.hidden["self"], atol=1e-5)


def test_a_gemma_that_sees_both_ways_is_an_encoder_without_a_head(tmp_path):
    model = models.load(str(save(tmp_path, "gemma3_text", use_bidirectional_attention=True)), device="cpu")
    assert (model.info.kind, model.info.predicts) == ("encoder", False)
    assert np.triu(model.trace(SHORT).attention["self"][0][0], 1).max() > 0


def test_a_decoder_that_sees_both_ways_does_not_predict():
    """By what it does, where the config does not say so."""
    small = tiny.config("bert-generation")
    network = tiny.network(T.BertGenerationDecoder, small)
    from models.huggingface.model import HuggingFaceModel

    model = HuggingFaceModel(network, tokenizer("encoder"), "decoder", True, "both ways")
    assert (model.info.kind, model.info.predicts, model.trace(SHORT).logits) == ("encoder", False, None)
    assert any("both ways" in note for note in model.info.notes)


@pytest.mark.parametrize(
    ("kind", "choices", "sentence"),
    [
        ("gemma3n_text", {"vocab_size_per_layer_input": 2100}, "more from layer to layer than one vector a token"),
        ("funnel", {}, "joins tokens"),
        ("mamba", {}, "state"),
        ("fnet", {}, "no attention"),
        ("canine", {}, "no table"),
        ("diffllama", {}, "attends more than once"),
    ],
)
def test_what_cannot_be_shown_is_said(kind, choices, sentence, tmp_path):
    save(tmp_path, kind, **choices)
    with pytest.raises(ModelError, match=sentence) as caught:
        models.load(str(tmp_path), device="cpu")
    assert "Choose" in str(caught.value) and str(caught.value).isprintable()


def test_infinities_in_a_config_are_numbers(tmp_path):
    save(tmp_path, "bamba")
    assert "__float__" in (tmp_path / "config.json").read_text()
    assert models.load(str(tmp_path), device="cpu").network.config.time_step_limit[1] == float("inf")


@cache
def halves() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return tuple((3 * torch.randn(4, 50, 64, generator=generator)).bfloat16() for _ in range(2))


def test_scores_of_sixteen_bit_models_are_multiplied_in_float32():
    """Held to float64: the queries and keys are what is rounded, their product is not."""
    query, key = halves()
    weights = Call(query, key, key, causal=True, scale=64**-0.5).weights()
    scores = (query.double() @ key.double().transpose(-1, -2)) * 64**-0.5
    scores = scores.masked_fill(~torch.ones(50, 50, dtype=torch.bool).tril(), float("-inf"))
    np.testing.assert_allclose(weights, scores.softmax(-1), atol=1e-5)
