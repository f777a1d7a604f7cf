"""What a class that goes round says of memory: how it grows, and how certain that is."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.rounds import BLOCKS, growth, tracebacks


@pytest.mark.parametrize("slope", [-3.0, 0.0, 12.5])
def test_a_line_has_its_slope_in_mb_a_minute_and_what_came_in_the_first_half_does_not_count(slope):
    minutes = np.arange(60) / BLOCKS
    numbers, around = growth([*(900 * np.exp(-minutes[:60] * 9)), *(500 + slope * minutes)])
    assert numbers == pytest.approx(slope, abs=1e-9) and around < 1e-6


@pytest.mark.parametrize("slope", [0.0, 2.0])
def test_the_interval_holds_the_true_growth_about_nineteen_times_out_of_twenty(slope):
    generator, minutes = np.random.default_rng(0), np.arange(60) / BLOCKS
    inside = 0
    for _ in range(1000):
        slope_estimate, around = growth([*[0.0] * 60, *(slope * minutes + generator.normal(0, 9, 60))])
        inside += abs(slope_estimate - slope) <= around
    assert 925 <= inside <= 975


def test_of_a_round_that_is_too_short_nothing_is_said():
    assert np.isnan(growth([700.0] * 4)).all()


def test_tracebacks_are_counted_in_colours_too():
    head = "Traceback (most recent call last)"
    assert (
        tracebacks(f"{head}:\n  ...\n\x1b[31m──\x1b[0m\x1b[1;31mTraceback \x1b[0m\x1b[1;2;31m(most recent call last)\x1b[0m") == 2
    )
