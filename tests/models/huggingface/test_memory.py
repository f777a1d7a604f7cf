"""The room that a model takes: what does not fit is refused with the figures before it is read."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import pytest
import torch
import transformers as T
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

import models
from models.errors import ModelError
from models.huggingface import memory
from models.huggingface.open import open_model
from tests.models.huggingface.folders import output, refusal
from tests.models.networks import network, tokenizer


def giant(folder: Path) -> Path:
    """Llama with 70.6 billion parameters in bfloat16: headers and sparse files, which take no room on the disk."""
    config = T.LlamaConfig(
        vocab_size=128_256,
        hidden_size=8192,
        intermediate_size=28_672,
        num_hidden_layers=80,
        num_attention_heads=64,
        num_key_value_heads=8,
        dtype="bfloat16",
        architectures=["LlamaForCausalLM"],
    )
    tokenizer("decoder").save_pretrained(folder)
    config.save_pretrained(folder)
    with torch.device("meta"):
        tensors = T.LlamaForCausalLM(config).state_dict()
    header, offset = {}, 0
    for key, tensor in tensors.items():
        end = offset + 2 * tensor.numel()
        header[key] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    header_bytes = json.dumps(header).encode()
    file = folder / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(header_bytes)) + header_bytes)
    os.truncate(file, 8 + len(header_bytes) + offset)
    return folder


def test_what_does_not_fit_is_refused_with_the_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 23_000_000_000)
    reports = []
    message = refusal(giant(tmp_path), report=reports.append)
    assert "has 70.6 billion parameters: 141 GB in bfloat16, and this machine has 22 GB free" in message
    assert not [progress for progress in reports if progress.stage == "read"], "no weight is read"


def test_sixteen_bits_where_thirty_two_do_not_fit(folder, monkeypatch):
    parameters = sum(tensor.numel() for tensor in load_file(folder / "model.safetensors").values())
    monkeypatch.setattr(memory, "free_memory", lambda: memory.RESERVE + 3 * parameters)
    opened = open_model(str(folder))
    assert {parameter.dtype for parameter in opened.network.parameters()} == {torch.bfloat16}
    assert any("bfloat16" in note for note in opened.notes)
    assert models.load(str(folder)).info.dtype == "bfloat16"
    torch.testing.assert_close(output(opened.network).float(), output(network("Llama, grouped-query")), atol=0.5, rtol=0.1)


@given(parameters=st.integers(1, 10**13), free=st.integers(0, 10**13), stored=st.sampled_from(["F32", "F16", "BF16"]))
def test_a_placement_fits_and_is_as_exact_as_it_can_be(parameters, free, stored):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "free_on", lambda device: free)
        try:
            placement = memory.place("x", parameters, stored, "cpu")
        except ModelError:
            assert 2 * parameters > free
        else:
            assert placement.bytes <= free
            assert (placement.dtype == "float32") == (4 * parameters <= free)


@pytest.mark.parametrize("version", [1, 2])
def test_the_limit_of_a_container_counts(version, tmp_path):
    tree, membership = tmp_path / "cgroup", tmp_path / "membership"
    inside = tree / ("memory/a/b" if version == 1 else "a/b")
    inside.mkdir(parents=True)
    membership.write_text("7:cpu:/\n4:memory:/a/b\n" if version == 1 else "0::/a/b\n")
    limit, usage = ("memory.limit_in_bytes", "memory.usage_in_bytes") if version == 1 else ("memory.max", "memory.current")
    unlimited = memory.free_memory(tree, membership)
    (inside / limit).write_text("9223372036854771712\n" if version == 1 else "max\n")
    (inside / usage).write_text("1000\n")
    (inside / "memory.stat").write_text("inactive_file 100\n")
    assert memory.free_memory(tree, membership) == pytest.approx(unlimited, rel=0.2)
    (inside.parent / limit).write_text("5000\n")
    (inside.parent / usage).write_text("1000\n")
    (inside.parent / "memory.stat").write_text("inactive_file 100\n")
    assert memory.free_memory(tree, membership) == 4100


@pytest.mark.parametrize("device", ["cuda:9", "tpu", "nonsense", "", "cpu:x", "cuda:-1"])
def test_devices_that_are_not_there(folder, device):
    if device:
        assert "device" in refusal(folder, device=device)
    else:
        assert open_model(str(folder), device=device).network.device.type in ("cpu", "cuda", "mps"), "none named"
