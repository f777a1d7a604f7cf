"""The softmax that page Type writes out with its numbers."""

from __future__ import annotations

import numpy as np

from pages.type.predicted import worked_out
from viz import percent


def test_who_redoes_the_softmax_with_the_digits_shown_comes_to_the_same():
    rng = np.random.default_rng(0)
    for _ in range(500):
        logit, temperature, probability = rng.normal(0, 12), rng.integers(1, 31) / 10, rng.uniform(1e-4, 1)
        formula = worked_out(logit, temperature, probability)
        z, t, logsum, exponent = (
            float(formula[name].replace("−", "-")) for name in ("logit", "temperature", "logsum", "exponent")
        )
        places = len(formula["exponent"].partition(".")[2])
        assert abs(exponent - (z / t - logsum)) < 0.5001 * 10**-places
        assert percent(np.exp(exponent)) == formula["share"] == percent(probability)
        assert abs(z - logit) < 0.006, "the logit is the one of the bar"
        power, total = (number(formula[name]) for name in ("power", "total"))
        assert percent(power / total) == formula["share"]
        assert abs(power / np.exp(z / t) - 1) < 0.001


def test_long_numbers_are_written_with_a_power_of_ten_whatever_their_size():
    formula = worked_out(2000.0, 0.1, 0.5)
    assert formula["power"].endswith(" · 10⁸⁶⁸⁵") and formula["total"].endswith(" · 10⁸⁶⁸⁶")
    assert worked_out(0.0, 1.0, 0.5)["power"] == "1.000"


def number(text: str) -> float:
    """Return a number that is written with commas and a power of ten."""
    first, _, power = text.replace(",", "").partition(" · 10")
    return float(first) * 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)
