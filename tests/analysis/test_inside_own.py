"""The way of a text through every kind of transformer of our own, with random weights."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest

from analysis import inside
from models.scratch.decoder_model import DecoderModel
from models.scratch.encoder_decoder_model import EncoderDecoderModel
from models.scratch.encoder_model import EncoderModel
from models.scratch.positions import POSITIONS
from models.scratch.signs import END, MASK, START
from models.training.corpus import train_tokenizer
from tests.analysis.walking import walk
from tests.grids import grid
from tests.models.ours import small

TEXT, TARGET = "the cat sat on the mat and", "the dog"
KINDS = {"decoder": DecoderModel, "encoder": EncoderModel, "encoder-decoder": EncoderDecoderModel}
VARIANTS = [
    *({"positions": scheme} for scheme in POSITIONS),
    *({"feedforward": activation} for activation in ("relu", "gelu", "gelu-tanh")),
    {"norm": "layer"},
    {"norm_place": "after"},
    {"norm_place": "after", "norm": "layer", "embedding_scale": True, "bias": True},
    {"experts": 4},
    {"experts": 3, "experts_used": 1, "feedforward": "relu", "bias": True},
    {"pattern": "window"},
    {"pattern": "bigbird"},
    {"kv_heads": 1},
    {"qk_norm": False},
    {"tied": False},
    {"temperature": 2.0},
    {"kind": "encoder", "head_transform": True, "embedding_norm": True},
    {"kind": "encoder", "positions": "alibi"},
    {"kind": "encoder-decoder", "norm_place": "after", "positions": "sinusoidal"},
    {"kind": "encoder-decoder", "experts": 2, "positions": "relative"},
]
STRANGE = {  # what is not taken apart
    "additive": ({"score": "additive"}, "weights"),
    "multiplicative": ({"score": "multiplicative"}, "turned queries"),
    "performer": ({"computed": "performer"}, "weights"),
    "linformer": ({"computed": "linformer", "kind": "encoder"}, "weights"),
}


@cache
def words():
    return train_tokenizer(["the cat sat on the mat and the dog sat on the cat"] * 3, 300, (START, END, MASK))


def ways(choices: dict) -> list[inside.Way]:
    """Through each layer of each stack."""
    network = small(**{"vocabulary": words().get_vocab_size()} | choices)
    kind = choices.get("kind", "decoder")
    model = KINDS[kind](network, words(), "small", "test")
    trace = model.trace(TEXT, TARGET if kind == "encoder-decoder" else "")
    return [inside.follow(model, trace, layer, stack=stack) for stack in trace.hidden for layer in (0, 1)]


@pytest.mark.parametrize("choices", grid(VARIANTS, VARIANTS[::3]), ids=str)
def test_every_stage_is_calculated_from_those_before_it(choices):
    for way in ways(choices):
        for stage in way.stages[1:]:
            assert stage.missing is None, f"{stage.name}: {stage.missing}"
            np.testing.assert_allclose(stage.calculated(), stage.values, atol=1e-4, err_msg=stage.name)
        np.testing.assert_allclose(way.stage("output").values, way.trace.hidden[way.stack][way.layer + 1], atol=1e-4)
        np.testing.assert_allclose(way.stage("weights").values, way.trace.attention[way.stack][way.layer], atol=1e-5)
        if way.stack != "encoder":
            logits = [stage for stage in way.stages if "logits" in stage.name][-1]
            np.testing.assert_allclose(logits.values, way.trace.logits, atol=1e-4)
        for seed in range(4):
            walk(way, Random(seed))


@pytest.mark.parametrize("name", STRANGE)
def test_attention_that_is_none_of_queries_and_keys_says_so(name):
    choices, missing = STRANGE[name]
    for way in ways(choices):
        assert [stage.name for stage in way.stages if stage.missing] == [missing]
        np.testing.assert_allclose(way.stage("weights").values, way.trace.attention["self"][way.layer], atol=1e-5)
        assert way.explain("weights", (0, 1, 1), way.layer).terms == () or missing != "weights"
