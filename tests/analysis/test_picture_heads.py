"""Heads that look at patches by their places are measured so, and weights without any order of places equal their shuffles."""

from __future__ import annotations

import math

import numpy as np
import pytest

import models
from analysis.picture_heads import (
    LABELS,
    MARGIN,
    kinds_of_patches,
    patch_looks,
    picture_head_labels,
    positional_maps,
    sample_pictures,
)
from models import Attention
from models.images.grid import Grid
from models.tokens import Patch, Token

ROWS, COLUMNS = 3, 5


def tokens_of(leading: int = 1, rows: int = ROWS, columns: int = COLUMNS) -> list[Token]:
    grid = Grid(rows, columns, 1, 1, (0.5,), (0.5,), tuple(f"[{i}]" for i in range(leading)))
    return grid.tokens(np.zeros((1, rows, columns), np.float32))


def attention_of(weights: np.ndarray, leading: int = 1) -> Attention:
    tokens = tokens_of(leading)
    return Attention.from_arrays(weights.astype(np.float32), tokens, tokens)


def random_weights(seed: int, leading: int = 1, layers: int = 2, heads: int = 3) -> np.ndarray:
    count = leading + ROWS * COLUMNS
    weights = np.random.default_rng(seed).dirichlet(np.full(count, 0.4), (layers, heads, count))
    return weights


def looking_at(kind: str) -> np.ndarray:
    """Weights of a head that divides its attention evenly among the patches of a kind."""
    tokens = tokens_of()
    weights = np.full((len(tokens), len(tokens)), 1 / len(tokens))
    marks = kinds_of_patches(tokens)[kind].astype(float)
    weights[1:] = marks / marks.sum(1, keepdims=True)
    return weights[None, None]


@pytest.mark.parametrize("leading", [0, 1, 3])
def test_each_share_equals_a_plain_loop_over_patches(leading):
    weights, tokens = random_weights(leading, leading), tokens_of(leading)
    looks = patch_looks(attention_of(weights, leading))
    patches = [(i, token) for i, token in enumerate(tokens) if isinstance(token, Patch)]
    for layer, head in np.ndindex(weights.shape[:2]):
        sums, on_patches, far = dict.fromkeys(LABELS, 0.0), 0.0, 0.0
        for query, here in patches:
            for key, there in enumerate(tokens):
                weight = weights[layer, head, query, key]
                if not isinstance(there, Patch):
                    sums["leading"] += weight
                    continue
                down, across = abs(here.row - there.row), abs(here.column - there.column)
                sums["current"] += weight * (query == key)
                sums["row"] += weight * (down == 0 and across > 0)
                sums["column"] += weight * (across == 0 and down > 0)
                sums["neighbours"] += weight * (max(down, across) == 1)
                on_patches += weight
                far += weight * math.hypot(down, across)
        for name in LABELS[: 5 if leading else 4]:
            assert looks[name][0, layer, head] == pytest.approx(sums[name] / len(patches), abs=1e-6), name
        assert looks["distance"][0, layer, head] == pytest.approx(far / on_patches, abs=1e-5)
    assert np.isnan(looks["leading"]).all() == (leading == 0)


@pytest.mark.parametrize("kind", LABELS)
def test_a_head_that_looks_only_at_one_kind_has_share_1_there_and_less_when_it_is_shuffled(kind):
    looks = patch_looks(attention_of(looking_at(kind)), shuffles=20)
    assert looks[kind][0, 0, 0] == pytest.approx(1, abs=1e-6)
    assert looks[kind][1:, 0, 0].mean() < 0.7


def test_even_attention_equals_its_shuffles_and_the_share_of_tokens_that_are_there():
    count = 1 + ROWS * COLUMNS
    even = attention_of(np.full((2, 3, count, count), 1 / count))
    kinds = kinds_of_patches(tokens_of())
    for name, values in patch_looks(even, shuffles=8).items():
        np.testing.assert_allclose(values, np.broadcast_to(values[:1], values.shape), atol=1e-6, err_msg=name)
        if name != "distance":
            np.testing.assert_allclose(values, kinds[name].sum(1).mean() / count, atol=1e-6)
    np.testing.assert_allclose(positional_maps([even, even], shuffles=5), 1, atol=1e-9)


def test_shares_of_random_attention_are_shares_and_shuffles_keep_what_has_no_place():
    for seed in range(5):
        looks = patch_looks(attention_of(random_weights(seed)), shuffles=6, seed=seed)
        assert all((looks[name] >= 0).all() and (looks[name] <= 1).all() for name in LABELS)
        whole = looks["row"] + looks["column"] + looks["current"] + looks["leading"][:1]
        assert (whole <= 1 + 1e-6).all()
        assert (looks["distance"] <= math.hypot(ROWS - 1, COLUMNS - 1)).all()


def test_shuffles_have_the_mean_of_all_places():
    """One random order puts each weight at each patch equally often, so many orders give the share of patches of a kind."""
    weights, kinds = random_weights(1), kinds_of_patches(tokens_of())
    looks = patch_looks(attention_of(weights), shuffles=600)
    on_patches = weights[:, :, 1:, 1:].sum(-1)  # [layers, heads, patch]
    for name in ("row", "column", "neighbours", "current"):
        expected = (on_patches * kinds[name].sum(1) / (ROWS * COLUMNS)).mean(-1)
        np.testing.assert_allclose(looks[name][1:].mean(0), expected, atol=0.012, err_msg=name)


def test_the_same_map_in_each_picture_is_positional_and_shuffled_pictures_are_less():
    same = attention_of(random_weights(3))
    alike = positional_maps([same, same, same], shuffles=5)
    np.testing.assert_allclose(alike[0], 1, atol=1e-9)
    assert (alike[1:] < 0.9).all()
    assert np.isnan(positional_maps([same], shuffles=2)).all()


def test_a_text_has_no_patches_to_look_at():
    with pytest.raises(ValueError, match="no patch among these tokens"):
        patch_looks(models.load("writer").trace("The cat").attention["self"])


def test_labels_of_the_digit_model_are_beyond_every_shuffle_over_the_ten_held_out_digits():
    model = models.load("digits")
    assert len(sample_pictures(model)) == 10
    table = picture_head_labels(model)
    assert len(table) == sum(model.trace(sample_pictures(model)[0]).attention["self"].counts)
    for _, row in table.iterrows():
        for name in LABELS:
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
            is_label = name in row["label"].split(", ")
            beyond = row[f"{name}_low"] > row[f"{name}_null"] and row[name] >= row[f"{name}_chance"] + MARGIN
            assert is_label == beyond
    assert {name for label in table["label"] for name in label.split(", ") if name} == {"neighbours", "row"}
    assert not picture_head_labels(model, sample_pictures(model)[:1])["label"].any(), "one picture gives no range"


@pytest.mark.thorough
def test_of_72_heads_with_shuffled_weights_a_single_head_gets_a_label():
    """As the expert's words on page Heads say."""
    labels = [
        label for seed in range(6) for label in picture_head_labels(models.load("digits").with_random_weights(seed))["label"]
    ]
    assert len(labels) == 72 and sum(map(bool, labels)) == 1
