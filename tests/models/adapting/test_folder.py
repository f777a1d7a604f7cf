"""Folders of adapters: as peft writes and reads them, at any strength, and refused where they do not fit or may harm."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import peft
import pytest
import torch
import transformers as T
from safetensors.torch import load_file, save_file

import models
from models.adapting.folder import open_adapter
from models.adapting.recipe import Recipe
from models.adapting.teaching import Teaching
from models.errors import ModelError
from models.huggingface.attention_function import NAME
from tests.models.networks import SIZE, tokenizer

TEXT = "The cat sat on the mat.\nThe dog sat in the garden."
GPT = {"vocab_size": SIZE["vocab_size"], "n_embd": 32, "n_layer": 2, "n_head": 4, "bos_token_id": 1, "eos_token_id": 2}


@pytest.fixture(scope="module", params=["Llama", "GPT-2"])
def base(request, tmp_path_factory) -> Path:
    """The folder of a small model of transformers; the maps of GPT-2 are transposed."""
    folder = tmp_path_factory.mktemp("bases") / request.param
    torch.manual_seed(0)
    sizes = SIZE | {"hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 48}
    network = T.LlamaForCausalLM(T.LlamaConfig(**sizes)) if request.param == "Llama" else T.GPT2LMHeadModel(T.GPT2Config(**GPT))
    network.save_pretrained(folder)
    tokenizer("decoder").save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(base):
    return models.load(str(base))


@pytest.fixture(scope="module", params=["lora", "ia3"])
def adapter(request, model, tmp_path_factory) -> Path:
    """The folder of an adapter for it, after two steps."""
    teaching = Teaching(model, TEXT, Recipe(method=request.param, place="both", rank=2, steps=2, rate=1e-2))
    teaching.advance(5)
    folder = tmp_path_factory.mktemp("adapters") / request.param
    teaching.write(folder)
    return folder


def logits(model, text: str = "The cat sat") -> np.ndarray:
    return model.trace(text, remember=False).logits


def test_peft_itself_opens_it_and_answers_the_same(base, adapter, model):
    theirs = peft.PeftModel.from_pretrained(T.AutoModelForCausalLM.from_pretrained(base), str(adapter)).eval()
    ids = torch.tensor([[token.id for token in model.tokenize("The cat sat")]])
    with torch.inference_mode():
        expected = theirs(input_ids=ids).logits[0].numpy()
    opened = open_adapter(model, adapter)
    np.testing.assert_allclose(logits(opened), expected, atol=1e-5)
    assert np.abs(logits(opened) - logits(model)).max() > 1e-3
    assert {file.name for file in adapter.iterdir()} == {"adapter_config.json", "adapter_model.safetensors"}


def test_its_attention_is_that_of_the_merged_network(base, adapter, model):
    opened = open_adapter(model, adapter)
    merged = peft.PeftModel.from_pretrained(T.AutoModelForCausalLM.from_pretrained(base), str(adapter)).merge_and_unload()
    merged.set_attn_implementation("eager")
    trace = opened.trace("The cat sat on the mat")
    ids = torch.tensor([[token.id for token in trace.tokens]])
    with torch.inference_mode():
        eager = merged.eval()(input_ids=ids, output_attentions=True).attentions
    for layer, weights in enumerate(eager):
        np.testing.assert_allclose(trace.attention["self"][layer], weights[0].numpy(), atol=1e-5)
    assert opened.network.config._attn_implementation == NAME


def test_nothing_asks_the_hub(model, tmp_path, monkeypatch):
    def ask(*_, **__):
        raise AssertionError("it asked the Hub")

    monkeypatch.setattr("peft.utils.save_and_load.check_file_exists_on_hf_hub", ask)
    teaching = Teaching(model, TEXT, Recipe(rank=1))
    teaching.write(tmp_path / "mine")
    open_adapter(model, tmp_path / "mine")


def test_the_name_says_the_strength(adapter, model):
    none, all_of_it = (open_adapter(model, adapter, strength) for strength in (0.0, 1.0))
    half = models.load(f"{adapter} at 50 %")
    np.testing.assert_allclose(logits(none), logits(model), atol=1e-5)
    own = dict(model.network.named_parameters())
    whole = dict(all_of_it.network.named_parameters())
    for name, weight in half.network.named_parameters():
        torch.testing.assert_close(weight, (own[name] + whole[name]) / 2)
    assert half.info.name == f"{adapter} at 50 %" and "adapter" in half.info.source
    assert models.load_tokenizer(str(adapter)).text(5) == model.vocabulary.text(5)


# What is refused


@pytest.fixture(scope="module")
def writers(tmp_path_factory) -> Path:
    """An adapter of the writer that has learned nothing."""
    teaching = Teaching(models.load("writer"), TEXT, Recipe(rank=1))
    folder = tmp_path_factory.mktemp("writers") / "mine"
    teaching.write(folder)
    return folder


@pytest.fixture
def changed(writers, tmp_path) -> Path:
    return Path(shutil.copytree(writers, tmp_path / "mine"))


def say(folder: Path, **values: object) -> Path:
    file = folder / "adapter_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))
    return folder


def refusal(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        models.load(str(folder))
    message = str(caught.value)
    assert message.isprintable() and len(message) < 400 and "Traceback" not in message
    return message


def test_the_writer_is_named_in_its_adapter_and_opens_with_it(writers):
    np.testing.assert_allclose(logits(models.load(str(writers))), logits(models.load("writer")), atol=1e-5)


def test_an_adapter_of_another_model_is_refused(changed, model):
    with pytest.raises(ModelError, match=r"does not fit.*Open it with the model that it was made for"):
        open_adapter(model, changed)
    assert "does not fit" in refusal(say(changed, base_model_name_or_path="translator", target_modules=["nothing"]))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"peft_type": "PREFIX_TUNING"}, "PREFIX_TUNING.*become part of the weights"),
        ({"peft_type": None}, "become part of the weights"),
        ({"peft_type": {"a": 1}}, "become part of the weights"),
        ({"base_model_name_or_path": None}, "does not name the model"),
        ({"base_model_name_or_path": "no-such-model/anywhere"}, "."),
        ({"modules_to_save": ["embedding"]}, "modules_to_save"),
        ({"use_qalora": True}, "use_qalora"),
        ({"something_new": 3}, "something_new"),
        ({"target_modules": "(a+)+$"}, "not opened here"),
        ({"target_modules": ["(a+)+$"]}, "not opened here"),
        ({"rank_pattern": {"(a+)+$": 3}}, "not opened here"),
        ({"r": 10**9}, "not opened here"),
        ({"r": "8"}, "not opened here"),
        ({"r": 3}, "does not fit"),
        ({"target_modules": ["blocks.0.attention.query"]}, "does not fit"),
    ],
    ids=str,
)
def test_a_config_that_cannot_be_is_refused_in_a_sentence(changed, values, words):
    assert re.search(words, refusal(say(changed, **values)))


def test_a_base_that_is_an_adapter_itself_is_refused(changed):
    assert "another adapter" in refusal(say(changed, base_model_name_or_path=str(changed)))


def test_pickled_weights_are_not_opened(changed):
    (changed / "adapter_model.safetensors").rename(changed / "adapter_model.bin")
    assert "can run code" in refusal(changed)


def test_weights_that_are_no_numbers_or_no_file_are_refused(changed):
    file = changed / "adapter_model.safetensors"
    tensors = load_file(file)
    name = next(name for name in tensors if "lora_B" in name)
    save_file(tensors | {name: torch.full_like(tensors[name], float("nan"))}, file)
    assert "not numbers" in refusal(changed)
    save_file({key: tensor for key, tensor in tensors.items() if key != name}, file)
    assert "lacks" in refusal(changed)
    file.write_bytes(b"\x08\0\0\0\0\0\0\0nonsense")
    assert "cannot be read" in refusal(changed)
    (changed / "adapter_config.json").write_text("[")
    assert "not readable JSON" in refusal(changed)
