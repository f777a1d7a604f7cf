"""Where layers without attention stand among the others, a page says which layer of the network each is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import transformers

import models
from benchmarks import tiny
from models.huggingface.model import HuggingFaceModel
from pages.change import changes
from pages.heads import standins
from tests.models.networks import tokenizer
from tests.pages.opening import open_link, said
from ui.look import Look
from ui.memory import loaded
from ui.picture.caption import size

HYBRIDS = {
    "lfm2": "Lfm2ForCausalLM", "jamba": "JambaForCausalLM", "granitemoehybrid": "GraniteMoeHybridForCausalLM",
    "zamba": "ZambaForCausalLM", "zamba2": "Zamba2ForCausalLM",
}  # fmt: skip


@cache
def hybrid(family: str) -> HuggingFaceModel:
    network = tiny.network(getattr(transformers, HYBRIDS[family]), tiny.config(family))
    return HuggingFaceModel(network, tokenizer("decoder"), "decoder", name=family)


@pytest.mark.parametrize("family", HYBRIDS)
def test_each_layer_is_the_one_of_the_network_that_its_attention_stands_in(family):
    model = hybrid(family)
    assert model.info.layers == 2 and model.info.layer_numbers == (1, 3)
    assert [model.info.number_of(layer) for layer in range(2)] == [1, 3]
    assert model.info.numbering == "L0 and L1 are layers 1 and 3 of the network (counted from 0)."
    streams: list[np.ndarray] = []
    block = model.network.base_model.layers[3]
    handle = block.register_forward_hook(lambda module, args, out: streams.append((out[0] if isinstance(out, tuple) else out)[0]))
    trace = model.trace("The cat sat", remember=False)
    handle.remove()
    np.testing.assert_allclose(trace.hidden["self"][2], streams[-1].float().numpy(), atol=1e-5)


def test_a_model_of_one_kind_of_layer_has_the_same_numbers():
    info = models.load("writer").info
    assert info.layer_numbers == () and info.number_of(3) is None and info.numbering == ""


def test_one_layer_and_many_are_named_in_a_sentence():
    info = models.load("writer").info
    named = [replace(info, layer_numbers=numbers).numbering for numbers in ((2,), (0, 3, 6))]
    assert named == [
        "L0 is layer 2 of the network (counted from 0).", "L0 to L2 are layers 0, 3 and 6 of the network (counted from 0).",
    ]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))
    hybrid("lfm2").network.save_pretrained(tmp_path)
    hybrid("lfm2").vocabulary.tokenizer.save_pretrained(tmp_path)
    loaded.model(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("page", "level"), [("type", "beginner"), ("layers", "intermediate"), ("change", "expert")])
def test_each_page_says_above_its_boards_which_layers_of_the_network_they_name(folder, page, level):
    app = open_link(page, f"model={folder}&level={level}&text=The+cat+sat")
    beside = [caption.value for caption in app.sidebar.caption]
    above = [caption.value for caption in app.caption if caption.value not in beside]
    assert hybrid("lfm2").info.numbering in above


def test_sentences_and_captions_name_the_layer_of_the_network(folder):
    model = loaded.model(str(folder))
    trace = model.trace("The cat sat")
    look = Look(model, trace, "self", level="expert", picked=(1, 0))
    assert standins.name_of(look, look.attention.heads + 1) == "L1 H1 (layer 3 of the network)"
    assert changes.name(look, "h1.0", "head", "feed-forward") == "L1 H0 (layer 3 of the network): off"
    assert "L0 and L1 are layers 1 and 3 of the network" in size(model.info)


def test_a_page_says_which_layer_of_the_network_is_shown(folder):
    app = open_link("heads", f"model={folder}&level=expert&text=The+cat+sat&layer=L1&head=H0")
    words = said(app)
    assert "L1 is layer 3 of the network" in words and "L1 H0 (layer 3 of the network)" in words
