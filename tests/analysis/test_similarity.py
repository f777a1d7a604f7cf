"""Divergence between heads, and the map of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon, pdist, squareform

from analysis import head_divergence, head_map, head_statistics, maps, pair
from analysis import similarity as module
from analysis.evolution import strongest_key
from analysis.similarity import compared_queries
from models import Attention, Token
from models.huggingface.model import HuggingFaceModel
from tests.analysis.test_statistics import random_attention, tokens
from tests.models.networks import TEXTS, network, tokenizer


@pytest.mark.parametrize(
    ("layers", "heads", "queries", "keys"), [(1, 1, 3, None), (1, 2, 1, None), (3, 4, 7, None), (2, 3, 4, 9)]
)
def test_divergence_is_that_of_scipy(layers, heads, queries, keys):
    attention = random_attention(layers, heads, queries, keys)
    rows = np.concatenate([attention[layer] for layer in range(layers)]).astype(float)
    if keys is None and queries > 1:
        rows = rows[:, 1:]  # the first query of a decoder has no choice
    expected = [[(jensenshannon(p, q, base=2, axis=-1) ** 2).mean() for q in rows] for p in rows]
    divergence = head_divergence(attention)
    np.testing.assert_allclose(divergence, np.nan_to_num(expected), atol=2e-6)
    np.testing.assert_array_equal(divergence, divergence.T)
    assert (np.diag(divergence) == 0).all()


def test_heads_that_share_nothing_and_heads_that_are_the_same():
    previous, current = np.eye(4, k=-1), np.eye(4)
    previous[0, 0] = 1
    divergence = head_divergence(
        Attention.from_arrays(np.stack([previous, current, previous])[None], tokens([0] * 4), tokens([0] * 4))
    )
    assert divergence[0, 2] == pytest.approx(0, abs=1e-6) and divergence[0, 1] == pytest.approx(1, abs=1e-6)


def test_a_part_of_the_cells_at_a_time_gives_the_same(monkeypatch):
    attention = random_attention(2, 3, 12)
    divergence = head_divergence(attention)
    monkeypatch.setattr(module, "CELLS", 5)
    np.testing.assert_allclose(head_divergence(attention), divergence, atol=1e-6)


def test_too_much_work_is_done_on_some_queries(monkeypatch):
    attention = random_attention(2, 3, 40)
    assert compared_queries(attention) == list(range(1, 40))
    monkeypatch.setattr(module, "AT_MOST", 6 * 6 * 40 // 2 * 5)
    few = compared_queries(attention)
    assert len(few) == 5 and few[0] == 1 and few[-1] == 39
    shorter = Attention.from_arrays(
        np.stack([attention[layer][:, few] for layer in range(2)]), tokens([0] * 5), [Token(0, "", i, i) for i in range(40)]
    )
    expected = head_divergence(shorter)
    np.testing.assert_allclose(head_divergence(attention), expected, atol=1e-7)


def test_the_map_of_points_of_a_plane_is_that_plane():
    points = np.random.default_rng(3).normal(size=(9, 2))
    plane = head_map(squareform(pdist(points, "sqeuclidean")))
    np.testing.assert_allclose(pdist(plane.points), pdist(points), atol=1e-9)
    assert plane.explained == pytest.approx(1)


def test_divergences_of_heads_lie_in_a_space_with_lengths():
    """Classical scaling of the root of the divergence loses nothing: no eigenvalue is negative."""
    divergence = head_divergence(random_attention(2, 5, 9))
    size = len(divergence)
    centre = np.eye(size) - 1 / size
    values = np.linalg.eigvalsh(-centre @ divergence @ centre / 2)
    assert values.min() > -1e-6
    plane = head_map(divergence)
    assert plane.explained == pytest.approx(np.sort(values)[-2:].sum() / values.clip(0).sum(), abs=1e-4)


@pytest.mark.parametrize("count", [1, 2])
def test_the_map_of_one_or_two_heads(count):
    plane = head_map(np.full((count, count), 0.25) * (1 - np.eye(count)))
    assert plane.points.shape == (count, 2) and np.isfinite(plane.points).all()
    if count == 2:
        assert np.linalg.norm(plane.points[0] - plane.points[1]) == pytest.approx(0.5)


@pytest.mark.parametrize("wrong", [np.zeros((2, 3)), np.array([[0, 1], [0, 0]]), np.zeros(3)])
def test_what_is_no_table_of_pairs_is_refused(wrong):
    with pytest.raises(ValueError, match="each pair"):
        head_map(wrong)


def test_a_pair_in_every_head():
    attention = random_attention(3, 4, 6)
    result = pair(attention, 4, 2)
    for layer in range(3):
        for head in range(4):
            row = attention[layer][head, 4]
            assert result.weights[layer, head] == row[2]
            assert result.ranks[layer, head] == sorted(row, reverse=True).index(row[2]) + 1
    assert result.keys.tolist() == [5, 5, 5], "a causal query sees itself and what came before"
    assert (pair(attention, 2, 4).ranks == 0).all() and (pair(attention, 2, 4).weights == 0).all()
    assert pair(random_attention(1, 2, 4, 9), 3, 8).keys.tolist() == [9]
    for wrong in ((6, 0), (0, -1)):
        with pytest.raises(ValueError, match=r"no (query|key) at position"):
            pair(attention, *wrong)


def test_maps_of_layers():
    attention = random_attention(2, 3, 5)
    mean, single = maps(attention), maps(attention, 2)
    assert mean.shape == single.shape == (2, 5, 5)
    future = np.triu(np.ones((5, 5), dtype=bool), 1)
    assert np.isnan(mean[:, future]).all() and np.isfinite(mean[:, ~future]).all()
    np.testing.assert_array_equal(np.nan_to_num(single[1]), attention[1][2])
    np.testing.assert_allclose(np.nan_to_num(mean[0]), attention[0].mean(0), atol=1e-7)
    with pytest.raises(ValueError, match="no head 3"):
        maps(attention, 3)


def test_the_pair_that_is_shown_first_is_no_resting_place():
    mean = np.array([[1, np.nan, np.nan], [0.9, 0.1, np.nan], [0.6, 0.1, 0.3]])
    assert strongest_key(mean, 2) == 1 and strongest_key(mean, 0) == 0
    assert strongest_key(mean, 2, itself=False) == 0, "the first token of another text is no resting place"


def test_a_model_that_hides_its_queries_and_keys_has_all_of_it():
    trace = HuggingFaceModel(network("GPT-J"), tokenizer("decoder"), "decoder").trace(TEXTS[0])
    attention = trace.attention["self"]
    with pytest.raises(ValueError, match="queries"):
        attention.q(0)
    assert np.isfinite(head_statistics(attention).to_numpy(dtype=float)).all()
    assert head_map(head_divergence(attention)).points.shape == (12, 2)
    assert maps(attention).shape[0] == len(pair(attention, 5, 2).weights) == 3
