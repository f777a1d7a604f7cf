"""Opening a folder: every broken one is refused with a sentence."""

from __future__ import annotations

import json
import os
import struct

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from models.errors import ModelError
from models.huggingface.open import open_model
from tests.models.huggingface.folders import edit, refusal, save
from tests.models.networks import network


def test_no_such_folder(tmp_path):
    assert "no folder" in refusal(tmp_path / "nowhere")


def test_no_config(folder):
    (folder / "config.json").unlink()
    assert "no config.json" in refusal(folder)
    (folder / "adapter_config.json").write_text("{}")
    assert "an adapter" in refusal(folder)


@pytest.mark.parametrize("content", ["", "{", "[1]", '"x"', "\x00\xff", "[" * 100_000, '{"model_type": NaN'])
def test_a_config_that_is_no_json(folder, content):
    (folder / "config.json").write_text(content)
    assert "not readable JSON" in refusal(folder)


def test_configs_of_nothing_known(folder):
    edit(folder, model_type="brand_new\x1b[31m" + "x" * 500)
    assert "does not know: “brand_new [31mxxx" in refusal(folder)
    edit(folder, model_type=None)
    assert "does not say" in refusal(folder)
    edit(folder, model_type=["llama"])
    assert "does not know" in refusal(folder)


@pytest.mark.parametrize(
    "choices",
    [
        {"hidden_size": "large"},
        {"num_attention_heads": 0},
        {"hidden_size": -3},
        {"hidden_act": "nonsense"},
        {"rope_parameters": 3},
    ],
    ids=str,
)
def test_configs_that_make_no_sense(folder, choices):
    edit(folder, **choices)
    refusal(folder)


@pytest.mark.parametrize(
    "choices",
    [
        {"num_hidden_layers": 10**9},
        {"text_config": {"n_layers": 10**9}},
        {"head_dim": 10**10},
        {"num_local_experts": 10**6},
        {"block_sizes": [4, 10**7]},
        {"stages": [{"num_groups": 10**6}]},
        {"vocab_size": 10**19},
        {"max_position_embeddings": float("inf")},
        {"max_position_embeddings": {"__float__": "Infinity"}},
    ],
    ids=str,
)
def test_a_config_cannot_ask_for_the_whole_memory(folder, choices):
    edit(folder, **choices)
    assert "that is no model" in refusal(folder)


ANY = st.sampled_from([0, -1, 3, 10**6, 10**12, 1.5, float("nan"), "x", "", None, True, [], [1], {}, {"a": 1}, [None]])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_config_says_it_is_opened_or_refused(folder, saved, data):
    raw = json.loads((saved / "config.json").read_text())
    changed = {
        key: data.draw(ANY, label=key) for key in data.draw(st.lists(st.sampled_from(sorted(raw)), min_size=1, max_size=2))
    }
    (folder / "config.json").write_text(json.dumps(raw | changed))
    try:
        opened = open_model(str(folder))
    except ModelError as error:
        assert str(error).isprintable() and len(str(error)) < 400
    else:
        assert all(parameter.isfinite().all() for parameter in opened.network.parameters())


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("whisper", "a speech model (Whisper)"),
        ("wav2vec2", "a speech model"),
        ("llava", "an image-and-text model"),
        ("detr", "a vision model"),
        ("patchtst", "a time-series model"),
        ("gemma3", "a model of image and text"),
        ("musicgen", "a music model"),
    ],
)
def test_models_of_something_else(folder, kind, what):
    edit(folder, model_type=kind)
    message = refusal(folder)
    assert what in message and "reads text" in message


def test_quantised_weights(folder):
    edit(folder, quantization_config={"quant_method": "gptq", "bits": 4})
    assert "quantised (gptq)" in refusal(folder)


def test_no_weights(folder):
    (folder / "model.safetensors").unlink()
    assert "no weights" in refusal(folder)
    (folder / "pytorch_model.bin").write_bytes(b"PK")
    assert "“pytorch_model.bin”" in refusal(folder) and "safetensors" in refusal(folder)


def test_a_shard_is_missing(tmp_path):
    save(network("GPT-2"), tmp_path, max_shard_size="100KB")
    lost = sorted(tmp_path.glob("*.safetensors"))[1]
    lost.unlink()
    assert f"“{lost.name}” is missing" in refusal(tmp_path)


@pytest.mark.parametrize(
    "shard", ["../secret.safetensors", "/etc/passwd", "a\\b.safetensors", "pytorch_model.bin", ".safetensors", 7]
)
def test_an_index_names_only_files_beside_it(folder, shard):
    (folder / "model.safetensors").rename(folder.parent / "secret.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"x": shard}}))
    assert "weights index" in refusal(folder)


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999])
def test_weights_that_are_cut_short(folder, share):
    file = folder / "model.safetensors"
    os.truncate(file, int(file.stat().st_size * share))
    assert "cut short" in refusal(folder)


@pytest.mark.parametrize(
    "header",
    [
        b"not json at all",
        b"[]",
        b"{}",
        b'{"x": 3}',
        b'{"x": {"dtype": "F32", "shape": [4], "data_offsets": [0, 4]}}',
        b'{"x": {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}}',
        b'{"x": {"dtype": "F32", "shape": [-1, -1], "data_offsets": [0, 4]}}',
        b'{"x": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}',
        b'{"x": {"dtype": "F32", "shape": ["1"], "data_offsets": [0, 4]}}',
        b"[" * 50_000,
    ],
)
def test_damaged_headers(folder, header):
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(64))
    assert "model.safetensors" in refusal(folder)


def test_tensors_that_lie_over_each_other(folder):
    """Each fits the file by itself; that they share their bytes only the safetensors library notices."""
    shapes = {key: list(tensor.shape) for key, tensor in load_file(folder / "model.safetensors").items()}
    entries = {
        key: {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * torch.Size(shape).numel()]} for key, shape in shapes.items()
    }
    header = json.dumps(entries).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4 * 300 * 64))
    assert "cannot be read" in refusal(folder)


def test_no_tokenizer(folder):
    for file in [*folder.glob("tokenizer*"), *folder.glob("special*")]:
        file.unlink()
    assert "no tokenizer files" in refusal(folder)
    (folder / "tokenizer.json").write_text("{}")
    assert "tokenizer of" in refusal(folder)


def test_weights_that_are_not_there(folder):
    file = folder / "model.safetensors"
    tensors = {key: value for key, value in load_file(file).items() if "layers.2." not in key}
    save_file(tensors, file, {"format": "pt"})
    message = refusal(folder)
    assert "lack 9 of the network’s weights" in message and "layers.2." in message


def test_weights_of_another_shape(folder):
    edit(folder, intermediate_size=96)
    message = refusal(folder)
    assert "another shape" in message and "mlp" in message


def test_a_decoder_that_is_cut_is_not_taken_for_an_encoder(tmp_path):
    file = save(network("T5"), tmp_path) / "model.safetensors"
    tensors = {key: value for key, value in load_file(file).items() if not key.startswith("decoder.block.1.")}
    save_file(tensors, file, {"format": "pt"})
    assert "decoder.block.1." in refusal(tmp_path)


def test_weights_in_eight_bits(folder):
    file = folder / "model.safetensors"
    save_file({key: value.to(torch.float8_e4m3fn) for key, value in load_file(file).items()}, file, {"format": "pt"})
    assert "stored as F8_E4M3" in refusal(folder)
