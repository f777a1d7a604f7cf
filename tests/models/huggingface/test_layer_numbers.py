"""Where layers without attention stand among the others, a page says which layer of the network each is."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import transformers

import models
from benchmarks import tiny
from models.huggingface.model import HuggingFaceModel
from tests.models.networks import tokenizer
from tests.pages.opening import open_link, said
from ui.memory import loaded

HYBRIDS = {"lfm2": "Lfm2ForCausalLM", "jamba": "JambaForCausalLM", "granitemoehybrid": "GraniteMoeHybridForCausalLM"}


@cache
def hybrid(family: str) -> HuggingFaceModel:
    network = tiny.network(getattr(transformers, HYBRIDS[family]), tiny.config(family))
    return HuggingFaceModel(network, tokenizer("decoder"), "decoder", name=family)


@pytest.mark.parametrize("family", HYBRIDS)
def test_each_layer_is_the_one_of_the_network_that_its_attention_stands_in(family):
    made = hybrid(family)
    assert made.info.layers == 2 and made.info.layer_numbers == (1, 3)
    assert [made.info.number_of(layer) for layer in range(2)] == [1, 3]
    assert any("L0 to L1 are the layers 1, 3" in note for note in made.info.notes)
    came: list[np.ndarray] = []
    block = made.network.base_model.layers[3]
    handle = block.register_forward_hook(lambda module, args, out: came.append((out[0] if isinstance(out, tuple) else out)[0]))
    trace = made.trace("The cat sat", remember=False)
    handle.remove()
    np.testing.assert_allclose(trace.hidden["self"][2], came[-1].float().numpy(), atol=1e-5)


def test_a_model_of_one_kind_of_layer_has_the_same_numbers():
    info = models.load("writer").info
    assert info.layer_numbers == () and info.number_of(3) is None


def test_a_page_says_which_layer_of_the_network_is_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))
    hybrid("lfm2").network.save_pretrained(tmp_path)
    hybrid("lfm2").vocabulary.tokenizer.save_pretrained(tmp_path)
    loaded.model(str(tmp_path))
    app = open_link("heads", f"model={tmp_path}&level=expert&text=The+cat+sat&layer=L1&head=H0")
    told = said(app)
    assert "L1 is layer 3 of the network" in told and "L1 H0 (layer 3 of the network)" in told
