"""Finite tensors are told from others as torch tells the numbers."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from models.numbers.finite import all_finite


@given(st.lists(arrays.arrays("float32", arrays.array_shapes(max_dims=2, max_side=5)), max_size=3))
def test_it_is_what_torch_says_of_each_number(values):
    tensors = [torch.from_numpy(value) for value in values]
    assert all_finite(tensors) == all(bool(torch.isfinite(tensor).all()) for tensor in tensors)


def test_large_numbers_whose_sum_overflows_are_finite_and_others_among_them_are_not():
    large = torch.full((4,), 3e38)
    assert all_finite([large, large.to(torch.float64) * 10, torch.tensor([60_000.0] * 3, dtype=torch.float16)])
    for wrong in (float("nan"), float("inf"), -float("inf")):
        assert not all_finite([large, torch.tensor([3e38, wrong, 3e38])])
