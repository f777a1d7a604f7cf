"""Projections of all layers into one space: their points, how far they may be believed, and what they refuse."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import models
from analysis import project, projection
from analysis.projections import (
    MEASURES,
    METHODS,
    faithfulness,
    kept_within,
    nearest_tokens,
    prepared,
    step,
    typical_distance,
    umap_installed,
)
from models.errors import Cancelled
from tests.models.networks import tokenizer

METHODS = [method for method in METHODS if method != "umap" or umap_installed()]


def walk(layers: int = 7, count: int = 20, d: int = 32, seed: int = 0, steps: float = 0.2) -> np.ndarray:
    """Points that take small steps, as tokens do from layer to layer."""
    rng = np.random.default_rng(seed)
    moves = rng.normal(size=(layers, count, d))
    moves[1:] *= steps
    return moves.cumsum(0).astype(np.float32)


@pytest.fixture(scope="module")
def twelve_layers() -> np.ndarray:
    """The hidden states of a random model of 12 layers: [13, position, 192]."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    from models.huggingface.model import HuggingFaceModel

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=300, n_positions=64, n_embd=192, n_head=6)
    network = GPT2LMHeadModel._from_config(config, attn_implementation="eager")
    text = "The cat sat on the mat, and the dog sat on the cat. Once there was a girl."
    return HuggingFaceModel(network, tokenizer("decoder"), "decoder").trace(text).hidden["self"][:, :40]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dimensions", [2, 3])
def test_every_layer_and_token_has_its_point_and_the_same_seed_gives_the_same_numbers(method, dimensions):
    hidden = walk()
    points = project(hidden, method, dimensions)
    assert points.shape == (7, 20, dimensions) and points.dtype == np.float32 and np.isfinite(points).all()
    assert points.tobytes() == project(hidden.copy(), method, dimensions).tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_points_move_and_do_not_jump(twelve_layers, method):
    """One space for all layers: small steps. A space of its own for each layer: steps as long as the picture is wide."""
    assert len(twelve_layers) == 13
    joint = projection(twelve_layers, method, 3)
    assert joint.step <= 0.2
    if method == "t-sne":
        alone = np.stack([project(layer[None], method, 3, seed=i)[0] for i, layer in enumerate(twelve_layers[::4])])
        assert step(alone) > 3 * joint.step


def test_the_first_axis_has_the_most_variance_and_the_shares_are_those_of_numpy():
    hidden = walk()
    result = projection(hidden, "pca", 3)
    flat = prepared(hidden).reshape(-1, 32)
    variance = np.linalg.svd(flat - flat.mean(0), compute_uv=False) ** 2
    np.testing.assert_allclose(result.explained, variance[:3] / variance.sum(), rtol=1e-6)
    np.testing.assert_allclose(result.points.reshape(-1, 3).var(0) * len(flat), variance[:3], rtol=1e-4)


def test_many_dimensions_are_approximated_closely(monkeypatch):
    """Beyond what is computed exactly, the components are found by random probing."""
    monkeypatch.setattr(import_module("analysis.projections"), "EXACT", 200)
    rng = np.random.default_rng(0)
    scales = 0.9 ** np.arange(300)
    hidden = (rng.normal(size=(2, 200, 300)) * scales).astype(np.float32)
    result = projection(hidden, "pca", 3)
    flat = prepared(hidden).reshape(-1, 300)
    values = np.linalg.eigvalsh((flat - flat.mean(0)).T @ (flat - flat.mean(0)))[::-1]
    np.testing.assert_allclose(result.explained, values[:3] / values.sum(), rtol=1e-3)


def test_points_in_a_plane_are_shown_as_they_are():
    plane = np.random.default_rng(1).normal(size=(4, 15, 2))
    hidden = plane @ np.linalg.qr(np.random.default_rng(2).normal(size=(10, 2)))[0].T
    result = projection(hidden, "pca", 2, measure="scaled")
    assert result.explained.sum() == pytest.approx(1)
    assert result.trustworthiness == pytest.approx(1) and result.neighbours_kept == 1 and (result.within == 1).all()
    ready = prepared(hidden, "scaled")
    np.testing.assert_allclose(
        np.linalg.norm(np.diff(result.points, axis=0), axis=-1), np.linalg.norm(np.diff(ready, axis=0), axis=-1), rtol=1e-4
    )


@given(st.floats(0.01, 1000), st.integers(0, 6), st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_scaled_neither_the_size_nor_the_place_of_a_layer_matters(size, layer, seed):
    hidden = walk(seed=seed).astype(np.float64)
    shifted = hidden.copy()
    shifted[layer] = shifted[layer] * size + np.random.default_rng(seed).normal(size=32)
    np.testing.assert_allclose(prepared(shifted, "scaled"), prepared(hidden, "scaled"), atol=1e-6)


def test_scaled_each_layer_is_centred_and_as_large_as_the_others():
    ready = prepared(walk() * np.arange(1, 8)[:, None, None], "scaled")
    np.testing.assert_allclose(ready.mean(1), 0, atol=1e-12)
    np.testing.assert_allclose((ready**2).sum(-1).mean(1), 1)


@given(st.integers(0, 2**31))
@settings(max_examples=20, deadline=None)
def test_distance_is_what_the_measure_says(seed):
    """By a plain loop over every two points of any layers: cosine is that of the angle, raw is that of the vectors."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(3, 5, 4)) * rng.uniform(0.1, 100, size=(3, 5, 1))
    by_cosine, raw, scaled = (prepared(hidden, measure).reshape(15, 4) for measure in ("cosine", "raw", "scaled"))
    flat = hidden.reshape(15, 4)
    for i in range(15):
        for j in range(i):
            a, b = flat[i], flat[j]
            cosine = (a @ b) / np.linalg.norm(a) / np.linalg.norm(b)
            assert np.linalg.norm(by_cosine[i] - by_cosine[j]) == pytest.approx(np.sqrt(max(0, 2 - 2 * cosine)), abs=1e-6)
            assert np.linalg.norm(raw[i] - raw[j]) == pytest.approx(np.linalg.norm(a - b))
            if i // 5 == j // 5:  # within a layer, all by the same factor
                ratio = np.linalg.norm(scaled[i] - scaled[j]) / np.linalg.norm(a - b)
                assert ratio == pytest.approx(np.sqrt(5 / ((hidden[i // 5] - hidden[i // 5].mean(0)) ** 2).sum()))


def test_far_apart_is_far_apart_unless_each_layer_is_scaled_by_itself():
    """A last layer 60 times as wide as the first: raw distances say so, and scaled ones hide it."""
    hidden = walk(2, 12)
    hidden[1] = 60 * hidden[0]
    raw, scaled = (typical_distance(prepared(hidden, measure)) for measure in ("raw", "scaled"))
    assert raw[1] == pytest.approx(60 * raw[0]) and scaled[1] == pytest.approx(scaled[0])
    pairs = [np.linalg.norm(hidden[0, i] - hidden[0, j]) for i in range(12) for j in range(i)]
    assert raw[0] == pytest.approx(np.median(pairs), rel=1e-5)
    points = {measure: project(hidden, "pca", 3, measure=measure) for measure in MEASURES}
    wide = {
        measure: np.linalg.norm(layers[1] - layers[1].mean(0)) / np.linalg.norm(layers[0] - layers[0].mean(0))
        for measure, layers in points.items()
    }
    assert wide["raw"] > 50 and wide["scaled"] == pytest.approx(1, rel=1e-3) == wide["cosine"]


def test_by_cosine_a_long_token_takes_no_more_room_than_others():
    hidden = walk(seed=3)
    long = hidden.copy()
    long[:, 0] *= 1000
    np.testing.assert_allclose(prepared(long, "cosine"), prepared(hidden, "cosine"), atol=1e-6)
    far = np.linalg.norm(prepared(long, "raw")[:, 0], axis=-1) / np.linalg.norm(prepared(hidden, "raw")[:, 0], axis=-1)
    np.testing.assert_allclose(far, 1000, rtol=1e-4)


def test_neighbours_kept_are_all_in_the_same_picture_and_as_many_as_chance_in_another():
    points = np.random.default_rng(0).normal(size=(3, 60, 5))
    trust, kept_share, neighbours = faithfulness(points, points[..., :] * 7)
    assert (trust, kept_share, neighbours) == (1, 1, 10)
    permuted = np.random.default_rng(1).permutation(points.reshape(-1, 5)).reshape(points.shape)
    trust, kept_share, _ = faithfulness(points, permuted)
    assert trust == pytest.approx(0.5, abs=0.05) and kept_share == pytest.approx(10 / 179, abs=0.02)
    assert kept_within(points, points).tolist() == [1, 1, 1]


def test_of_many_points_some_are_measured():
    points = np.random.default_rng(0).normal(size=(2, 2000, 3))
    assert faithfulness(points, points) == (1, 1, 10)


def test_a_step_is_measured_against_the_distance_of_two_points():
    points = np.random.default_rng(0).normal(size=(200, 50, 3))
    assert step(points) == pytest.approx(0.94, abs=0.02)  # wherever one likes: the mean over the root mean square, in 3-D
    assert step(np.repeat(points[:1], 5, axis=0)) == 0


@pytest.mark.parametrize("measure", MEASURES)
def test_the_nearest_are_the_nearest_of_what_is_drawn(measure):
    """The picture's space, its neighbours and the measure are one: by a loop over every pair."""
    hidden = walk(3, 8, 5) * np.random.default_rng(1).uniform(0.2, 5, size=(3, 8, 1))
    nearest, states = nearest_tokens(hidden, 2, measure), prepared(hidden, measure)
    for layer in range(3):
        for i in range(8):
            distances = [np.linalg.norm(states[layer, i] - states[layer, j]) for j in range(8)]
            assert nearest[layer, i].tolist() == [j for j in np.argsort(distances) if j != i][:2]
            if measure == "cosine":
                a = hidden[layer, i]
                cosines = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for b in hidden[layer]]
                assert nearest[layer, i].tolist() == [j for j in np.argsort(cosines)[::-1] if j != i][:2]
    assert nearest_tokens(hidden[:, :2], 3, measure).tolist() == [[[1], [0]]] * 3


def test_the_same_measure_is_told_and_used():
    result = projection(walk(), "pca", 3, measure="raw")
    assert result.measure == "raw" and projection(walk()).measure == "cosine"
    assert result.neighbours_kept == faithfulness(prepared(walk(), "raw"), result.points)[1]


def test_work_tells_how_far_it_is_and_can_be_stopped():
    reports = []
    projection(walk(), "t-sne", 2, report=lambda share, words: reports.append(share))
    assert reports == sorted(reports) and len(reports) > 10 and reports[0] >= 0 and reports[-1] <= 1

    def stop(share, words):
        if share > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        project(walk(), "t-sne", 2, report=stop)


# What is too little, or no number


def test_one_token_has_no_place_among_others():
    with pytest.raises(ValueError, match="single token"):
        project(walk(count=1))


def test_points_that_are_all_the_same_cannot_be_spread():
    with pytest.raises(ValueError, match="same hidden state"):
        project(np.repeat(walk(count=1), 5, axis=1))


@pytest.mark.parametrize("method", [states for states in METHODS if states != "umap"])
def test_few_points_and_points_at_the_same_place_are_drawn(method):
    two = walk(2, 2)
    assert np.isfinite(project(two, method, 3)).all()
    same = walk(4, 12)
    same[0] = same[0, :1]  # in the first layer they are all the same
    same[:, 6:] = same[:, :6]  # and everywhere each has a twin
    assert np.isfinite(project(same, method, 3)).all()
    assert np.isfinite(project(walk(1, 6), method, 2)).all()


def test_a_perplexity_above_what_the_points_allow_is_lowered_and_told():
    result = projection(walk(2, 5), "t-sne", 2, perplexity=30)
    assert result.perplexity == 3 and "at most 3" in result.notes[0] and "30" in result.notes[0]
    assert projection(walk(), "t-sne", 2, perplexity=5).notes == ()


@pytest.mark.parametrize(
    ("hidden", "options", "complaint"),
    [
        (walk()[0], {}, "layers"),
        (np.full((2, 3, 4), np.nan), {}, "not numbers"),
        (walk(), {"method": "lda"}, "pca, t-sne, umap"),
        (walk(), {"dimensions": 4}, "2 or 3"),
        (walk(), {"perplexity": 0}, "above 1"),
        (walk(), {"measure": "manhattan"}, "cosine, scaled, raw"),
    ],
)
def test_what_cannot_be_is_said(hidden, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        project(hidden, **options)


def test_umap_is_offered_only_where_it_is():
    if umap_installed():
        pytest.skip("umap-learn is installed")
    with pytest.raises(ValueError, match="pip install umap-learn"):
        project(walk(), "umap")


def test_the_writer_has_a_picture():
    hidden = models.load("writer").trace("The farmer gave the hungry dog a bone, and the dog ran into the").hidden["self"]
    result = projection(hidden, "pca", 3)
    assert 0.5 < result.trustworthiness <= 1 and result.step < 0.4
