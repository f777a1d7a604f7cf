"""Means over texts with their intervals: their values, how often they hold the truth, and what cannot be averaged."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from analysis import attributions, entropy, head_effects, over
from analysis.corpora import interval
from analysis.heads import looks
from tests.models.edited import model

TEXTS = ["The cat sat on the mat", "She opened the door and saw the old dog", "Once upon a time there was a king", "He said no"]


def test_a_mean_over_texts_is_the_mean_of_what_each_gives():
    writer = model("writer")
    averages = over(writer, TEXTS, head_effects, axes=("layer", "head"))
    effects = np.stack([head_effects(writer, text) for text in TEXTS])
    np.testing.assert_allclose(averages.each, effects, atol=1e-6)
    np.testing.assert_allclose(averages.mean, effects.mean(0), atol=1e-6)
    assert (
        averages.texts == 4
        and (averages.count == 4).all()
        and (averages.low <= averages.mean).all()
        and (averages.mean <= averages.high).all()
    )
    expected = bootstrap((averages.each[:, 2, 3],), np.mean, n_resamples=20_000, rng=1).confidence_interval
    assert (averages.low[2, 3], averages.high[2, 3]) == pytest.approx(expected, abs=0.1 * np.ptp(effects[:, 2, 3]))
    first = averages.table.iloc[0]
    assert averages.mean[int(first.layer), int(first["head"])] == first["mean"] == max(averages.mean.flat, key=abs)
    assert len(averages.table) == 48 and "Means over 4 texts" in repr(averages) and averages._repr_html_().count("<table") == 1
    again = over(writer, [[token.id for token in writer.tokenize(text)] for text in TEXTS], head_effects)
    np.testing.assert_array_equal(again.low, averages.low), "ids are texts too, and the same seed draws the same"


def test_what_is_as_long_as_the_text_is_reduced_or_refused():
    writer = model("writer")

    def spread(model, text):
        return entropy(model.trace(text).attention["self"])

    with pytest.raises(ValueError, match=r"gives \[6, 8, 7\] and text 2 \[6, 8, 10\].*Give `reduce`"):
        over(writer, TEXTS, spread)
    averages = over(writer, TEXTS, spread, reduce=lambda weights: weights[..., 1:].mean(-1))
    assert averages.mean.shape == (6, 8)
    assert averages.mean[0, 0] == pytest.approx(np.mean([spread(writer, text)[0, 0, 1:].mean() for text in TEXTS]))
    strongest = over(writer, TEXTS, attributions, np.nanmax, method="gradient × input")
    assert strongest.mean.shape == () and strongest.low < strongest.mean < strongest.high and len(strongest.table) == 1


def test_a_cell_that_few_texts_have_counts_those():
    averages = over(model("writer"), [*TEXTS, "cat dog"], lambda model, text: looks(model.trace(text))["duplicate"])
    assert 2 <= averages.count.max() < 5 and (averages.count == averages.count.max()).all(), "only texts that say a word twice"
    none = over(model("writer"), ["He said no", "A dog"], lambda model, text: looks(model.trace(text))["duplicate"])
    assert np.isnan(none.mean).all() and np.isnan(none.low).all() and (none.count == 0).all()


def test_an_interval_holds_the_true_mean_about_as_often_as_it_says():
    generator = np.random.default_rng(0)
    cells = generator.normal(3.0, 2.0, size=(30, 400))
    low, high = interval(cells, 0.9)
    assert 0.84 < ((low <= 3.0) & (high >= 3.0)).mean() < 0.95
    narrow = interval(cells, 0.5)
    assert (narrow[0] >= low).all() and (narrow[1] <= high).all()


def test_what_is_the_same_in_all_texts_has_no_width():
    low, high = interval(np.array([[1.0, 2.0, np.nan], [1.0, 3.0, 5.0], [1.0, 4.0, np.nan]]), 0.95)
    assert low[0] == high[0] == 1.0 and low[1] < 3 < high[1] and np.isnan([low[2], high[2]]).all()


def test_what_cannot_be_asked_is_said():
    writer = model("writer")
    with pytest.raises(TypeError, match="texts must be a list of texts"):
        over(writer, "The cat", head_effects)
    with pytest.raises(ValueError, match="at least two texts; there are 1"):
        over(writer, ["The cat"], head_effects)
    with pytest.raises(ValueError, match=r"Text 2 of 2: There is no position 5"):
        over(writer, [TEXTS[0], "cat"], head_effects, position=5)
    with pytest.raises(ValueError, match="confidence is a share"):
        over(writer, TEXTS, head_effects, confidence=95)
    with pytest.raises(ValueError, match="3 names of axes for results of 2"):
        over(writer, TEXTS, head_effects, axes=("a", "b", "c"))
    with pytest.raises(ValueError, match="infinite"):
        over(writer, TEXTS, lambda model, text: -np.inf)


def test_a_weighted_interval_is_that_of_the_weighted_mean():
    random = np.random.default_rng(0)
    values, weights = random.normal(1, 1, (30, 2)), random.integers(1, 40, 30)
    low, high = interval(values, weights=weights)
    mean = np.average(values, axis=0, weights=weights)
    assert (low < mean).all() and (mean < high).all() and (high - low > np.subtract(*interval(values)[::-1])).any()
    again = interval(np.repeat(values[:1], 3, 0), weights=weights[:3])
    np.testing.assert_array_equal(again, [values[0], values[0]])
    np.testing.assert_allclose(interval(values, weights=np.full(30, 7)), interval(values), rtol=1e-9)
