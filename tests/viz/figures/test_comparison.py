"""Two heatmaps and their difference: what is drawn is what was given."""

import numpy as np
import pytest

from viz.figures.comparison import comparison

RNG = np.random.default_rng(0)


def rows(queries: int, keys: int) -> np.ndarray:
    return RNG.dirichlet(np.ones(keys), queries)


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (3, 40), (64, 64)])
def test_the_difference_and_both_maps_hold_the_weights_on_one_scale(shape):
    a, b = rows(*shape), rows(*shape)
    figure = comparison([" q"] * shape[0], [" k"] * shape[1], a, b)
    difference, first, second = (np.array(trace.z) for trace in figure.data)
    np.testing.assert_allclose(difference, 100 * (a - b), atol=1e-4)
    np.testing.assert_allclose(first, 100 * a, atol=1e-4)
    np.testing.assert_allclose(second, 100 * b, atol=1e-4)
    assert figure.data[1].coloraxis == figure.data[2].coloraxis == "coloraxis"
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 100)
    assert figure.data[0].zmin == -figure.data[0].zmax == -max(np.abs(difference).max(), 1e-9) or not difference.any()


def test_what_both_mask_is_blank_and_what_one_masks_counts_as_nothing():
    a, b = np.full((2, 2), 0.5), np.full((2, 2), 0.25)
    a[0, 1] = b[0, 1] = np.nan
    b[1, 0] = np.nan
    figure = comparison("ab", "ab", a, b)
    np.testing.assert_allclose(figure.data[0].z, [[25, np.nan], [50, 25]])
    np.testing.assert_allclose(figure.data[2].z, [[25, np.nan], [np.nan, 25]])


def test_turned_round_the_difference_changes_its_sign():
    a, b = rows(6, 6), rows(6, 6)
    there, back = comparison("abcdef", "abcdef", a, b), comparison("abcdef", "abcdef", b, a)
    assert np.array_equal(np.array(there.data[0].z), -np.array(back.data[0].z))


def test_a_long_text_stays_small_and_keeps_what_stands_out():
    a = np.zeros((700, 700))
    a[333, 222] = 0.9
    figure = comparison([" w"] * 700, [" w"] * 700, a, np.zeros((700, 700)))
    assert max(figure.data[0].z.shape) <= 256 and max(figure.data[1].z.shape) <= 64
    assert [np.max(trace.z) for trace in figure.data] == pytest.approx([90, 90, 0])


def test_the_parts_do_not_lie_upon_each_other():
    for title in ("", "L1 H2"):
        figure = comparison("abc", "abc", rows(3, 3), rows(3, 3), title=title)
        below, above = figure.layout.yaxis.domain, figure.layout.yaxis2.domain
        assert 0 == below[0] < below[1] < above[0] < above[1] < 1 and figure.layout.yaxis3.domain == above
        assert below[1] < figure.data[0].colorbar.y + 1e-9 < above[0]
        assert figure.layout.xaxis2.domain[1] < figure.layout.xaxis3.domain[0]


def test_names_and_tokens_stay_text_and_what_does_not_fit_is_refused():
    hostile = "<img src=x onerror=alert(1)>%{z}$x$"
    figure = comparison([hostile], [hostile], rows(1, 1), rows(1, 1), (hostile, "b"), hostile)
    texts = [trace.hovertemplate for trace in figure.data] + [note.text for note in figure.layout.annotations]
    texts += [figure.layout.title.text, figure.data[0].colorbar.title.text, *figure.data[1].x]
    assert not any("<img" in text or "$x" in text for text in texts)
    assert all(text.count("%{z}") == 0 for text in texts[:3])
    for a, b in ((rows(2, 2), rows(2, 3)), (rows(2, 3), rows(2, 3)), (np.zeros((0, 0)), np.zeros((0, 0)))):
        with pytest.raises(ValueError, match="do not fit"):
            comparison("ab", "ab", a, b)
