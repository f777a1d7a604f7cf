"""From ids to the choice by the formulas of the stages alone: no number is taken from the model but its weights."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
import torch
import transformers

from analysis import inside
from models.huggingface.model import HuggingFaceModel
from tests.analysis import test_inside_models as seen
from tests.analysis.walking import walk
from tests.models.networks import SIZE, tokenizer

PROMISED = (
    *seen.OWN,
    "GPT-2",
    "Llama, grouped-query",
    "Qwen3",
    "Gemma 2, soft-capped",
    "Mixtral",
    "Falcon",
    "BERT",
    "ModernBERT",
    "T5",
    "BART",
)
LONGER = "The cat sat on the mat, and the dog looked at the cat and sat on the mat."
Known = dict[tuple[str, int | None, str], np.ndarray]  # by stack, layer and name


def ways(model, trace) -> Iterator[inside.Way]:
    """Yield the way through every layer of every stack."""
    for stack in trace.hidden:
        for layer in range(trace.attention[stack].layers):
            yield inside.follow(model, trace, layer, 0, stack)


def calculated_stages(way: inside.Way) -> list[inside.Stage]:
    """Return a way's stages, those after the blocks only for the last block."""
    end = way.stages.index(way.stage("output", way.layer)) + 1
    return list(way.stages if way.layer == len(way.trace.hidden[way.stack]) - 2 else way.stages[:end])


def forget(way: inside.Way, known: Known) -> None:
    """Replace every recorded number by the formulas' own, in order, also those from other layers."""
    for stage in calculated_stages(way):
        assert stage.missing is None, f"{stage.name}: {stage.missing}"
        vars(stage).pop("values", None)
        for source in () if stage.rule is None else stage.rule.inputs:
            if not any(source is stage for stage in way.stages):
                source.recorded = known[source.stack, source.layer, source.name]
        if stage.rule is not None:
            stage.recorded = None
            stage.recorded = stage.rows(None)
        known[stage.stack, stage.layer, stage.name] = stage.recorded


@pytest.mark.parametrize("name", PROMISED)
def test_the_formulas_alone_lead_from_the_ids_to_the_prediction(name):
    model, trace, values_of = seen.model(name), seen.trace(name), {}
    for way in ways(model, trace):
        forget(way, values_of)
        attention, hidden = trace.attention[way.stack], trace.hidden[way.stack]
        np.testing.assert_allclose(way.stage("stream").values, hidden[way.layer], atol=1e-4)
        np.testing.assert_allclose(way.stage("output").values, hidden[way.layer + 1], atol=1e-4)
        np.testing.assert_allclose(way.stage("weights").values, attention[way.layer], atol=1e-4)
    np.testing.assert_allclose([stage for stage in way.stages if "logits" in stage.name][-1].values, trace.logits, atol=1e-4)
    places = model.places(trace)
    expected = model.predict(seen.text(name), "Le chat" if "decoder" in trace.hidden else "", top=1)
    assert way.stages[-1].name == "choice" and places
    assert [way.stages[-1].values[place] for place in places] == [prediction.id for prediction in expected]
    for place, prediction in zip(places, expected, strict=True):
        assert way.stage("probabilities").values[place, prediction.id] == pytest.approx(prediction.probability, abs=1e-4)


@pytest.mark.parametrize("name", PROMISED)
def test_every_stage_serves_the_prediction_and_only_ids_and_tables_come_from_nothing(name):
    inputs_of: dict[tuple, list[tuple]] = {}
    for way in ways(seen.model(name), seen.trace(name)):
        for stage in calculated_stages(way):
            inputs = [(source.stack, source.layer, source.name) for source in (stage.rule.inputs if stage.rule else ())]
            inputs_of.setdefault((stage.stack, stage.layer, stage.name), inputs)
    ahead = [(way.stack, None, "choice")]
    for key in ahead:  # the list grows while it is walked
        ahead += [source for source in inputs_of[key] if source not in ahead]
    idle = {key[2] for key in set(inputs_of) - set(ahead)}
    assert idle <= {"experts"}, "who takes a token is told by the shares already"
    assert {key[2] for key, inputs in inputs_of.items() if not inputs} <= {"ids", "positions", "positions 2", "segments"}


@pytest.mark.parametrize("name", PROMISED)
def test_queries_keys_and_values_are_those_that_the_model_recorded(name):
    for way in ways(seen.model(name), seen.trace(name)):
        for kind, prefix in ((way.stack, ""), ("cross", "cross ")) if way.stack == "decoder" else ((way.stack, ""),):
            if not seen.model(name).info.queries:
                continue
            attention, products = way.trace.attention[kind], way.stage(f"{prefix}products").rule
            values = way.stage(f"{prefix}mixed values").rule.inputs[1]
            calculated = *products.inputs, values
            expected = attention.q(way.layer), attention.k(way.layer), attention.v(way.layer)
            for stage, recorded in zip(calculated, expected, strict=True):
                rows = np.repeat(stage.rows(None), len(recorded) // len(stage.rows(None)), axis=0)  # heads of queries share them
                np.testing.assert_allclose(rows, recorded, atol=1e-4, err_msg=stage.name)


@pytest.mark.parametrize("name", [name for name in PROMISED if name not in seen.OWN])
def test_a_text_that_reaches_beyond_every_window_is_followed_too(name):
    model = seen.model(name)
    text = LONGER.replace("looked", "<mask>") if model.info.kind == "encoder" else LONGER
    trace = model.trace(text, LONGER if model.info.kind == "encoder-decoder" else "")
    assert len(trace.read) > 20
    for way in ways(model, trace):
        for stage in way.stages[1:]:
            assert stage.missing is None, f"{stage.name}: {stage.missing}"
            np.testing.assert_allclose(stage.calculated(), stage.values, atol=1e-4, err_msg=stage.name)
        walk(way, Random(way.layer))


def test_the_experts_that_take_a_token_are_those_with_the_highest_scores():
    for way in ways(seen.model("Mixtral"), seen.trace("Mixtral")):
        experts, scores = way.stage("experts").values, way.stage("router").values
        np.testing.assert_array_equal(experts, np.argsort(-scores, axis=-1)[:, : experts.shape[1]])


@pytest.mark.parametrize(
    ("cls", "config", "choices"),
    [
        ("CTRLLMHeadModel", "CTRLConfig", {"vocab_size": 300, "n_embd": 64, "n_layer": 2, "n_head": 4, "dff": 128}),
        ("GPTNeoXJapaneseForCausalLM", "GPTNeoXJapaneseConfig", SIZE),
    ],
)
def test_what_a_model_stores_and_adds_as_it_is_has_its_stage(cls, config, choices):
    torch.manual_seed(0)
    network = getattr(transformers, cls)._from_config(getattr(transformers, config)(**choices), attn_implementation="eager")
    for parameter in network.parameters():
        parameter.data = parameter.data + 0.1 * torch.randn_like(parameter)
    model = HuggingFaceModel(network.eval().requires_grad_(False), tokenizer("decoder"), "decoder", True, cls)
    for way in ways(model, model.trace(LONGER)):
        for stage in way.stages[1:]:
            np.testing.assert_allclose(stage.calculated(), stage.values, atol=1e-4, err_msg=stage.name)
        walk(way, Random(way.layer))
