"""A model that calculates in 16 bits says so, is near what float32 says, and keeps the identities as far as it promises."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import models
from analysis import attributions, head_effects, logit_attribution
from models import edits as E
from models.numbers.precision import name_of
from tests.models.edited import TEXT
from tests.models.huggingface.folders import save
from tests.models.networks import network

HALVES = {"float16": (5e-3, 1e-2), "bfloat16": (4e-2, 5e-2)}  # how far maps, and sums in shares of the largest, may be off


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save(network("Llama, grouped-query"), tmp_path_factory.mktemp("llama")))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("own", [True, False])
def test_sixteen_bits_are_near_float32_and_say_what_they_are(dtype, own, folder):
    name, (far, sums) = "writer" if own else folder, HALVES[dtype]
    exact, coarse = models.load(name), models.load(name, dtype=dtype)
    assert (coarse.info.dtype, exact.info.dtype) == (dtype, "float32")
    assert any(dtype in note for note in coarse.info.notes) and not any("float" in note for note in exact.info.notes)
    assert {parameter.dtype for parameter in coarse.network.parameters()} == {getattr(torch, dtype)}
    exact_trace, coarse_trace = exact.trace(TEXT), coarse.trace(TEXT)
    maps = [(exact_trace.attention["self"][layer], coarse_trace.attention["self"][layer]) for layer in range(exact.info.layers)]
    assert max(float(np.abs(a - b).max()) for a, b in maps) < far and any((a != b).any() for a, b in maps)
    assert all(b.dtype == np.float32 and np.abs(b.sum(-1) - 1).max() < 1e-6 for _, b in maps)
    assert coarse_trace.hidden["self"].dtype == coarse_trace.logits.dtype == np.float32
    token = int(exact_trace.logits[-1].argmax())
    table = logit_attribution(coarse, coarse_trace, token)
    size = max(1.0, float(table.contribution.abs().max()))
    assert abs(table.contribution.sum() - coarse_trace.logits[-1, token]) < 10 * sums * size
    assert head_effects(coarse, TEXT).shape == (exact.info.layers, exact.info.heads)
    off = [loaded.trace(TEXT, edits=[E.Head(1, 0)]).hidden["self"][-1] for loaded in (exact, coarse)]
    assert np.abs(off[0] - off[1]).max() < sums * np.abs(off[0]).max()


def test_all_three_kinds_of_ours_read_in_sixteen_bits():
    for name in models.names():
        coarse = models.load(name, dtype=torch.bfloat16)
        text = f"The cat sat on the {coarse.info.mask}".strip()
        assert coarse.predict(text, top=1)[0].id == models.load(name).predict(text, top=1)[0].id
    writer = models.load("writer", dtype="bfloat16")
    assert np.isfinite(attributions(writer, TEXT, "integrated gradients")[1:]).all()
    assert len(list(writer.generate(TEXT, max_new_tokens=2))) == 2


def test_the_weights_that_ship_are_float16_so_nothing_is_lost_on_the_way_to_it():
    half, full = (models.load("writer", dtype=dtype).network.state_dict() for dtype in ("float16", "float32"))
    assert all(torch.equal(half[name].float(), full[name]) for name in half)


@pytest.mark.parametrize("dtype", ["int8", torch.int64, "half", 16, "float64"])
def test_what_is_no_dtype_to_calculate_with_is_said(dtype):
    with pytest.raises(ValueError, match="dtype must be float32, bfloat16 or float16"):
        models.load("writer", dtype=dtype)
    assert name_of(torch.bfloat16) == name_of("bfloat16") == "bfloat16"
