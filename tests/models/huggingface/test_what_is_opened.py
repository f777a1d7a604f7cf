"""What a name, a folder or a page of the Hub stands for is opened, and what it holds besides is said in a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers as T
from safetensors.torch import load_file, save_file

import models
from models.errors import ModelError
from models.huggingface.names import HubName, is_folder_name, tidied
from models.huggingface.open import open_model
from tests.models.networks import SIZE, network, tokenizer

IDS = torch.tensor([[5, 9, 40, 7]])
LETTERS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[EMPTY]", *"abcdefghijklmnopqrstuvwxyz"]


def saved(folder: Path, name: str = "GPT-2", kind: str = "decoder") -> Path:
    network(name).save_pretrained(folder)
    tokenizer(kind).save_pretrained(folder)
    return folder


def with_weights(folder: Path, change: Callable[[dict], dict], config: dict | None = None) -> Path:
    save_file(change(load_file(folder / "model.safetensors")), folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(json.loads((folder / "config.json").read_text()) | (config or {})))
    return folder


def relative(weights: dict) -> dict:
    name = "bert.encoder.layer.{}.attention.self.distance_embedding.weight"
    return weights | {name.format(i): torch.randn(63, 16) for i in range(3)}


# name: network, kind of tokenizer, what the files hold besides, what is said of it
HELD = {
    "nothing": ("GPT-2", "decoder", {}, None),
    "tables": ("GPT-2", "decoder", {"transformer.h.0.attn.bias": torch.ones(1, 1, 8, 8)}, None),
    "within layers": ("BERT", "encoder", relative({}), "hold 3 weights within .*Bert.* does not read, .*distance_embe"),
    "one within a layer": ("GPT-2", "decoder", {"transformer.h.1.attn.gate": torch.ones(4)}, "hold 1 weight within its layers"),
    "layers that the config does not count": ("GPT-2", "decoder", {"transformer.h.9.ln_1.bias": torch.ones(64)}, "left out"),
    "another head": ("BERT", "encoder", {"cls.seq_relationship.bias": torch.ones(2)}, "has no place for, such as “cls.seq_rel"),
}


@pytest.mark.parametrize("name", HELD)
def test_weights_that_nobody_reads_are_said(name, tmp_path):
    like, kind, besides, sentence = HELD[name]
    folder = with_weights(saved(tmp_path, like, kind), lambda weights: weights | besides)
    opened = open_model(str(folder))
    torch.testing.assert_close(opened.network(IDS).logits, network(like)(IDS).logits)
    assert len(opened.notes) == bool(sentence)
    if sentence:
        assert re.search(sentence, opened.notes[0])


def test_an_adapter_beside_the_weights_is_said_and_is_no_model_alone(tmp_path):
    folder = saved(tmp_path)
    part = "base_model.model.transformer.h.0.attn.c_attn.lora_"
    save_file({part + "A.weight": torch.ones(8, 64), part + "B.weight": torch.ones(192, 8)}, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 8, "target_modules": ["c_attn"]}))
    opened = open_model(str(folder))
    torch.testing.assert_close(opened.network(IDS).logits, network("GPT-2")(IDS).logits)
    assert len(opened.notes) == 1 and opened.notes[0].startswith("An adapter (LORA) lies beside its weights and is not applied")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"holds an adapter .*, not a whole model"):
        open_model(str(folder))


def test_a_tokenizer_that_reads_more_than_text_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "v.txt").write_text("\n".join(LETTERS))
    T.TapasTokenizer(str(tmp_path / "v.txt")).save_pretrained(tmp_path / "tapas")
    T.TapasForMaskedLM(T.TapasConfig(**SIZE | {"vocab_size": len(LETTERS)})).save_pretrained(tmp_path / "tapas")
    with pytest.raises(ModelError, match="is a model of tables, which it is asked about"):
        models.load(str(tmp_path / "tapas"))
    # The same tokenizer beside a network that reads text.
    saved(tmp_path / "bert", "BERT", "encoder")
    for file in (tmp_path / "bert").glob("*token*"):
        file.unlink()
    T.TapasTokenizer(str(tmp_path / "v.txt")).save_pretrained(tmp_path / "bert")
    with pytest.raises(ModelError, match=r"tokenizer of .* does not read a plain text"):
        models.load(str(tmp_path / "bert"))


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        ("QuestionAnswering", "to mark where in a text the answer to a question begins and ends"),
        ("MultipleChoice", "to choose among several answers"),
        ("NextSentencePrediction", "to say whether one text follows another"),
    ],
)
def test_a_head_that_is_not_shown_is_named(task, sentence, tmp_path):
    torch.manual_seed(0)
    getattr(T, f"BertFor{task}")(T.BertConfig(**SIZE)).save_pretrained(tmp_path)
    tokenizer("encoder").save_pretrained(tmp_path)
    model = models.load(str(tmp_path))
    assert not model.info.predicts and any(sentence in note and "does not show" in note for note in model.info.notes)
    assert model.trace("the cat").attention["self"].layers == 3


def test_a_model_of_images_is_no_model_of_texts(tmp_path):
    """With a processor and without, and with what looks like a tokenizer."""
    T.ViTForImageClassification(
        T.ViTConfig(image_size=8, patch_size=4, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2)
    ).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="reads images, and holds no preprocessor_config") as bare:
        open_model(str(tmp_path))
    (tmp_path / "tokenizer_config.json").write_text("{}")
    with pytest.raises(ModelError) as settings:
        open_model(str(tmp_path))
    assert str(settings.value) == str(bare.value)
    T.ViTImageProcessorPil(size={"height": 8, "width": 8}).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="reads images, and here a model is needed that reads text"):
        open_model(str(tmp_path), reads="text")
    assert open_model(str(tmp_path)).reads == "image"


@pytest.mark.parametrize("prefix", ["_orig_mod.", "transformer._orig_mod.h."])
def test_compiled_weights_are_the_weights(prefix, tmp_path):
    def compiled(weights: dict) -> dict:
        if prefix.startswith("_"):
            return {prefix + key: value for key, value in weights.items()}
        return {key.replace("transformer.h.", prefix): value for key, value in weights.items()}

    opened = open_model(str(with_weights(saved(tmp_path), compiled)))
    assert opened.predicts and not opened.notes
    torch.testing.assert_close(opened.network(IDS).logits, network("GPT-2")(IDS).logits)


def test_a_folder_below_this_one_is_that_folder(tmp_path, monkeypatch):
    saved(tmp_path / "name" / "inner")
    monkeypatch.chdir(tmp_path)
    assert is_folder_name("name/inner") and not is_folder_name("name") and not is_folder_name("name/other")
    opened = open_model("name/inner")
    assert opened.source == "folder"
    torch.testing.assert_close(opened.network(IDS).logits, network("GPT-2")(IDS).logits)


@pytest.mark.parametrize("host", ["https://huggingface.co/", "http://www.huggingface.co/", "huggingface.co/", "https://hf.co/"])
def test_the_address_of_a_page_is_the_name_of_its_model(host):
    pages = {
        "": "",
        "/": "",
        "/tree/main": "",
        "/blob/main/config.json": "",
        "?library=x": "",
        "#how-to": "",
        "/discussions/3": "",
    }
    pages |= {"/tree/v1.0": "@v1.0", "/resolve/refs%2Fpr%2F1/config.json": "@refs/pr/1", "/commit/0123abc": "@0123abc"}
    for rest, revision in pages.items():
        for repository in ("owner/na.me", "gpt2"):
            if repository == "gpt2" and "discussions" in rest:
                continue  # an owner and a name, as far as an address tells
            name = tidied(f" {host}{repository}{rest} ")
            assert name == repository + revision
            assert HubName.parse(name).repository == repository
    for other, subject in {"datasets/owner/x": "a data set", "spaces/owner/x": "a Space"}.items():
        with pytest.raises(ModelError, match=f"is the address of {subject}, not of a model"):
            open_model(host + other)


def test_other_names_stay_as_they_are():
    for name in ("gpt2", "owner/name", "owner/name@v1", "./huggingface.co/x", "/x/", "~/x", "https://example.org/owner/name"):
        assert tidied(name) == name
    assert tidied("owner/name/") == "owner/name" and tidied(" gpt2 ") == "gpt2"
    assert tidied("/a folder with a space at its end ") == "/a folder with a space at its end "
    with pytest.raises(ModelError, match="is not a model’s name"):
        open_model("https://example.org/owner/name")
