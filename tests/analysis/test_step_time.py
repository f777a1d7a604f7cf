"""Estimated times at other lengths: they agree with the measured one, and grow as the operations do."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from analysis.cost import kernels
from analysis.step_cost import StepCost, step_cost
from analysis.step_time import Speeds, StepTime, speeds
from tests.models.generation.test_generate import TEXT, hub, ours

LENGTHS = (1, 16, 1024, 8192, 131_072)
numbers, parts = st.floats(1e-12, 1e-6), st.integers(0, 10**9)
costs = st.builds(StepCost, parts, parts, parts, parts, parts)


@given(costs, st.builds(Speeds, numbers, numbers, numbers), st.integers(1, 10**6), st.floats(1e-5, 100), st.floats(1e-5, 100))
def test_at_the_measured_length_it_is_what_was_measured_and_a_longer_text_is_never_quicker(cost, quick, length, cached, uncached):
    times_of = StepTime(cost, quick, length, cached, uncached)
    assert times_of.with_cache(length) == cached and times_of.without_cache(length) == uncached
    for times in (times_of.with_cache, times_of.without_cache):
        seconds = [times(n) for n in LENGTHS]
        assert seconds == sorted(seconds) and seconds[0] >= -1e-12


def test_what_grows_is_added_at_the_speed_of_the_machine():
    times = StepTime(StepCost(7, 2, 11, 3, 5), Speeds(0.01, 0.02, 0.001), 10, 1.0, 4.0)
    assert times.with_cache(110) == pytest.approx(1 + 100 * 2 * 0.01)
    assert times.without_cache(110) == pytest.approx(4 + 100 * 3 * 0.02 + (110**2 - 10**2) * 5 * 0.001)


@pytest.mark.parametrize("opened", [lambda: ours("decoder"), lambda: hub("Llama, grouped-query"), lambda: hub("T5")])
def test_the_machine_is_timed_at_the_sizes_of_any_model(opened):
    model = opened()
    quick = speeds(model, step_cost(model, TEXT))
    assert all(0 < seconds < 1e-5 for seconds in vars(quick).values())


@pytest.mark.parametrize("name", ["GPT-2", "Llama, grouped-query"])
def test_the_operations_are_those_that_torch_counts(name):
    network, cost = hub(name).network, step_cost(hub(name), TEXT)
    ids = torch.arange(3, 33)[None]
    with torch.inference_mode():
        with FlopCounterMode(display=False, custom_mapping=kernels()) as full:
            network(ids, logits_to_keep=1, use_cache=False)
        past = network(ids[:, :-1], use_cache=True).past_key_values
        with FlopCounterMode(display=False, custom_mapping=kernels()) as step:
            network(ids[:, -1:], past_key_values=past, use_cache=True)
    assert (full.get_total_flops(), step.get_total_flops()) == (cost.without_cache(30), cost.with_cache(30))
