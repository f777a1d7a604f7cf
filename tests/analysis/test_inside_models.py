"""The way of a text through every kind of model: each stage follows from those before it, and the last is the prediction."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import models
from analysis import inside
from analysis.inside import steps
from analysis.inside.stored import StoredMatrix
from benchmarks import stages
from models.huggingface.model import HuggingFaceModel
from models.language_model import LanguageModel
from tests.analysis.walking import walk
from tests.grids import grid
from tests.models.networks import NETWORKS, network, tokenizer

OWN = ("writer", "filler", "translator")
STRANGE = {  # what is not taken apart, by the beginnings of its stages' names
    "XLNet": ("weights", "mixed values", "own step"),
}
WHOLE = [*OWN, *(name for name in NETWORKS if name not in STRANGE)]
TEXTS = {"filler": "The cat sat on the [MASK] and slept."}


@cache
def model(name: str) -> LanguageModel:
    if name in OWN:
        return models.load(name)
    kind = NETWORKS[name][0]
    return HuggingFaceModel(network(name), tokenizer(kind), kind, has_head(name), name)


def has_head(name: str) -> bool:
    """Return whether a model predicts, without building it: collecting tests must build nothing."""
    return name in OWN or NETWORKS[name][1] not in ("BertModel", "XLNetModel")


def text(name: str) -> str:
    with_mask = name not in OWN and NETWORKS[name][0] == "encoder"
    return "The cat <mask> on the mat." if with_mask else TEXTS.get(name, "The cat sat on the mat.")


@cache
def trace(name: str):
    target = "Le chat" if model(name).info.kind == "encoder-decoder" else ""
    return model(name).trace(text(name), target)


@cache
def way(name: str, stack: str, layer: int) -> inside.Way:
    return inside.follow(model(name), trace(name), layer, 0, stack)


def ways(name: str) -> list[inside.Way]:
    """Return the ways through the first layer and the last, of each stack."""
    return [way(name, stack, layer) for stack in trace(name).hidden for layer in (0, len(trace(name).hidden[stack]) - 2)]


@pytest.mark.parametrize("name", WHOLE)
def test_every_stage_is_calculated_from_those_before_it(name):
    for path in ways(name):
        for stage in path.stages[1:]:
            assert stage.missing is None, f"{stage.name}: {stage.missing}"
            np.testing.assert_allclose(stage.calculated(), stage.values, atol=1e-4, err_msg=stage.name)


@pytest.mark.parametrize("name", list(NETWORKS) + list(OWN))
def test_what_is_shown_is_what_the_model_recorded(name):
    for path in ways(name):
        attention, hidden = path.trace.attention[path.stack], path.trace.hidden[path.stack]
        np.testing.assert_allclose(path.stage("stream").values, hidden[path.layer], atol=1e-4)
        np.testing.assert_allclose(path.stage("output").values, hidden[path.layer + 1], atol=1e-4)
        np.testing.assert_allclose(path.stage("weights").values, attention[path.layer], atol=1e-5)
        if path.stack == "decoder":
            cross_weights = path.trace.attention["cross"][path.layer]
            np.testing.assert_allclose(path.stage("cross weights").values, cross_weights, atol=1e-5)
        if path.model.info.queries and name not in STRANGE:
            stage = next(stage for stage in path.stages if stage.name == "weights").rule.inputs[0]
            is_visible = np.isfinite(stage.values)
            np.testing.assert_allclose(stage.values[is_visible], attention.scores(path.layer)[is_visible], atol=1e-4)


@pytest.mark.parametrize("name", [name for name in (*NETWORKS, *OWN) if has_head(name)])
def test_the_last_stage_is_the_prediction(name):
    path = ways(name)[-1]
    logits = [stage for stage in path.stages if "logits" in stage.name][-1]
    np.testing.assert_allclose(logits.values, path.trace.logits, atol=1e-4)
    places = path.model.places(path.trace)
    expected = path.model.predict(text(name), "Le chat" if path.stack == "decoder" else "", top=1)
    assert [path.stages[-1].values[place] for place in places] == [prediction.id for prediction in expected]
    for place, prediction in zip(places, expected, strict=True):
        assert path.stage("probabilities").values[place, prediction.id] == pytest.approx(prediction.probability, abs=1e-5)


@pytest.mark.parametrize("name", grid(WHOLE, [*WHOLE][:3]))
@settings(max_examples=6)
@given(random=st.randoms(use_true_random=True))
def test_terms_sum_to_any_number_and_lead_back_to_the_text(name, random):
    walk(random.choice(ways(name)), random)


@pytest.mark.parametrize("name", STRANGE)
def test_what_cannot_be_taken_apart_says_so_and_shows_the_models_own_numbers(name):
    missing = [stage for path in ways(name) for stage in path.stages if stage.missing]
    assert missing
    for stage in missing:
        assert stage.name.startswith(STRANGE[name]) and "own" in stage.missing and stage.values.size
        with pytest.raises(ValueError, match="own"):
            stage.calculated()


@pytest.mark.parametrize(
    "name",
    [
        "openai-gpt",
        "deberta, relative",
        "esm",
        "nanochat",
        "laguna",
        "opt, post-norm",
        "olmo2",
        "phi3",
        "stablelm",
        "cohere",
        "mbart",
    ],
)
def test_other_families_are_taken_apart_too(name):
    """Distances of tokens, a mask that multiplies, an activation that is written out, turns before norms, gates of heads …"""
    assert stages.examine(name) == (stages.WHOLE, "")


def test_what_stands_between_two_blocks_is_told():
    verdict, missing = stages.examine("deberta-v2, relative, with a convolution")
    assert verdict == stages.MISSING and missing.count("self ") == 1 and missing.startswith("self stream: Between these blocks")


def test_a_model_without_a_head_ends_where_it_ends():
    assert ways("BERT without a head")[0].stages[-1].name == "blocks"


def test_the_stages_are_those_that_each_model_has():
    def names(name: str, stack: str = "self") -> list[str]:
        return [stage.name for stage in way(name, stack, 0).stages]

    assert {"positions", "embedding sum"} <= set(names("GPT-2")) and "turned queries" not in names("GPT-2")
    assert "turned queries" in names("Llama, grouped-query") and "positions" not in names("Llama, grouped-query")
    assert {"query norm", "key norm"} <= set(names("Qwen3"))
    assert {"attention norm after", "capped scores", "capped logits"} <= set(names("Gemma 2, soft-capped"))
    assert {"router", "router shares", "experts", "expert answers"} <= set(names("Mixtral"))
    assert "attention stream" not in names("Falcon")  # attention and feed-forward stand side by side
    assert {"segments", "embedding norm", "attention stream norm", "transform", "transform norm"} <= set(names("BERT"))
    assert {"latent", "latent norm 2", "content keys", "turned position keys"} <= set(names("DeepSeek-V3"))
    assert {"distance scores", "distance scores 2", "summed scores"} <= set(names("DeBERTa-v2"))
    assert "attention norm" not in names("ModernBERT") and {"gate", "up"} <= set(names("ModernBERT"))
    assert "biased scores" in names("T5", "encoder") and "cross biased scores" not in names("T5", "decoder")
    assert {"cross queries", "cross weights", "cross attention stream norm"} <= set(names("BART", "decoder"))
    assert names("T5", "encoder")[-1] == "memory"


@pytest.mark.parametrize("name", ["Llama, grouped-query", "GPT-2", "Mixtral"])
def test_weights_in_16_bits_stay_so_and_every_stage_follows_as_closely_as_they_allow(name):
    kind = NETWORKS[name][0]
    half = HuggingFaceModel(network(name).to(torch.bfloat16), tokenizer(kind), kind, True, name)
    path = inside.follow(half, half.trace("The cat sat on the mat."), 1)
    assert isinstance(path.stage("logits").rule.weight, StoredMatrix)
    for stage in path.stages[1:]:
        assert stage.missing is None, f"{stage.name}: {stage.missing}"
        np.testing.assert_allclose(stage.calculated(), stage.values, atol=8e-2, rtol=2e-2, err_msg=stage.name)
    cell = path.explain("logits", (2, 7))
    assert sum(term.product for term in cell.terms) == pytest.approx(cell.value, abs=5e-2)
    assert inside.neurons(path, 2, top=2, elsewhere=False).neurons[0].towards


def test_a_step_that_nobody_thought_of_takes_no_other_with_it(monkeypatch):
    """Whatever goes wrong while a step is read, it is shown with the model's own numbers, and so is all that follows."""
    monkeypatch.setattr(steps, "norm", lambda *_: 1 / 0)
    path = inside.follow(model("GPT-2"), trace("GPT-2"), 0)
    assert {stage.name for stage in path.stages if stage.missing} >= {"own step", "own step 2"}
    np.testing.assert_allclose(path.stage("output").values, trace("GPT-2").hidden["self"][1], atol=1e-4)
