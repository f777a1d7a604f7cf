"""A pass that is watched: through modules that are copied once, without the layers before the one that is asked for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

import models
from models.huggingface.model import HuggingFaceModel
from models.watching.steps import Watched
from tests.models.networks import network, tokenizer

TEXT = "The cat sat on the mat."


def numbers(watched: Watched) -> list[torch.Tensor]:
    return [node.value for node in watched.block.nodes if node.value.is_floating_point()]


def same(first: Watched, second: Watched) -> bool:
    return all(torch.allclose(a, b, atol=1e-4) for a, b in zip(numbers(first), numbers(second), strict=True))


@pytest.mark.parametrize(
    ("name", "kind"), [("GPT-2", "decoder"), ("T5", "encoder-decoder"), ("ALBERT", "encoder"), ("OPT", "decoder")]
)
def test_a_layer_is_the_same_without_those_before_it(name, kind):
    model = HuggingFaceModel(network(name), tokenizer(kind), kind, True, name)
    trace = model.trace(TEXT, "The dog" if kind == "encoder-decoder" else "")
    unknown = replace(trace, hidden={})  # all layers have to run
    stack = "decoder" if kind == "encoder-decoder" else "self"
    assert same(model.watch(trace, stack, 1, []), model.watch(unknown, stack, 1, []))


def test_modules_are_copied_once_until_the_network_changes():
    writer = models.load("writer")
    trace = writer.trace(TEXT)
    writer.watch(trace, "self", 2, [])
    first = writer._private
    writer.watch(trace, "self", 4, [1])
    assert writer._private is first and first.skips
    weight = writer.network.final_norm.weight
    weight.data, original = weight.data.clone(), weight.data
    writer.watch(trace, "self", 2, [])
    weight.data = original
    assert writer._private is not first


def test_who_watches_at_once_sees_their_own_pass():
    writer = models.load("writer")
    traces = [writer.trace(f"{TEXT} {number}") for number in range(4)]
    alone = [writer.watch(trace, "self", number, []) for number, trace in enumerate(traces)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            together = list(pool.map(lambda number: writer.watch(traces[number], "self", number, []), range(4)))
            assert all(same(a, b) for a, b in zip(alone, together, strict=True))
