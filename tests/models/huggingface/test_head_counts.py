"""Models whose layers have not all the same number of heads: everything works, and what a layer has not is blank."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import transformers

import analysis as A
import models
from analysis.importance import head_importance, prune
from analysis.redundancy import head_likeness, lost_together
from benchmarks import tiny
from models.edits import Head
from models.huggingface.model import HuggingFaceModel
from models.numbers.ragged import stacked
from tests.models.networks import tokenizer

COUNTS, MOST = (4, 8, 4, 8), 8
THERE = np.arange(MOST) < np.array(COUNTS)[:, None]
TEXT, TEXTS = "The cat sat on the mat", ["The cat sat on the mat", "A dog ran into the garden"]


@cache
def laguna() -> HuggingFaceModel:
    config = tiny.config("laguna", num_attention_heads_per_layer=list(COUNTS))
    return HuggingFaceModel(tiny.network(transformers.LagunaForCausalLM, config), tokenizer("decoder"), "decoder", name="laguna")


def test_the_facts_say_how_many_heads_each_layer_has():
    attention = laguna().trace(TEXT).attention["self"]
    assert laguna().info.head_counts == attention.counts == COUNTS and laguna().info.heads == attention.heads == MOST
    assert [attention[layer].shape[0] for layer in range(4)] == list(COUNTS)
    assert models.load("writer").info.head_counts == ()


def test_the_effect_of_every_head_is_that_of_a_reading_without_it():
    trace = laguna().trace(TEXT)
    token = int(trace.logits[-1].argmax())
    effects = A.head_effects(laguna(), TEXT)
    assert effects.shape == (4, MOST) and (np.isfinite(effects) == THERE).all()
    for layer, head in ((0, 3), (1, 7), (3, 5)):
        off = laguna().trace(TEXT, edits=[Head(layer, head)])
        change = np.diff(
            [row[token] - np.logaddexp.reduce(row) for row in (trace.logits[-1].astype(float), off.logits[-1].astype(float))]
        )[0]
        assert effects[layer, head] == pytest.approx(change, abs=1e-4)


def test_a_head_that_a_layer_has_not_is_said():
    with pytest.raises(ValueError, match="laguna has 4 heads in L0, numbered from 0 to 3; there is no head 7"):
        laguna().trace(TEXT, edits=[Head(0, 7)])


@pytest.mark.parametrize("cache", [True, False])
def test_a_text_is_generated_and_each_step_has_the_row_of_every_head(cache):
    for edits in ((), (Head(1, 7),)):
        steps = list(laguna().generate("The cat", max_new_tokens=3, cache=cache, edits=edits))
        assert len(steps) == 3
        for step in steps:
            rows = step.attention["self"]
            assert rows.shape[:2] == (4, MOST) and (np.isfinite(rows).all(-1) == THERE).all()
            np.testing.assert_allclose(rows[THERE].sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("weights", [False, True])
def test_a_trace_is_saved_and_opened(weights, tmp_path):
    trace = laguna().trace(TEXT)
    trace.save(tmp_path / "laguna.safetensors", weights=weights)
    opened = models.load_trace(tmp_path / "laguna.safetensors")
    assert opened.attention["self"].counts == COUNTS and opened.info == trace.info
    for layer in range(4):
        np.testing.assert_allclose(opened.attention["self"][layer], trace.attention["self"][layer], atol=1e-6)


def attention():
    return laguna().trace(TEXT).attention["self"]


EACH = {  # an analysis that gives [layers, heads, …]
    "entropy": lambda: A.entropy(attention()),
    "patching": lambda: A.patching(laguna(), TEXT, "The dog sat on the mat", part="head"),
    "head_means": lambda: A.head_means(laguna(), texts=TEXTS),
    "maps divergence": lambda: np.diag(A.head_divergence(attention())).reshape(4, MOST),
    "map": lambda: A.head_map(A.head_divergence(attention())).points.reshape(4, MOST, 2),
    "likeness": lambda: np.diag(head_likeness(laguna(), TEXTS).maps).reshape(4, MOST),
    "pair": lambda: A.pair(attention(), 3, 1).weights,
}


@pytest.mark.parametrize("name", EACH)
def test_an_analysis_of_all_heads_is_blank_for_those_that_a_layer_has_not(name):
    values = EACH[name]()
    assert values.shape[:2] == (4, MOST)
    assert (np.isfinite(values).reshape(4, MOST, -1).all(-1) == THERE).all()


TABLES = {
    "head_scores": lambda: A.head_scores(laguna()).set_index(["layer", "head"])["previous"],
    "head_labels": lambda: A.head_labels(laguna(), seeds=1).set_index(["layer", "head"])["previous_low"],
    "head_statistics": lambda: A.head_statistics(attention()).set_index(["layer", "head"])["diversity"],
    "patterns": lambda: A.patterns(attention()).set_index(["layer", "head"])["entropy"],
    "head_importance": lambda: head_importance(laguna(), TEXTS).table.set_index(["layer", "head"])["effect"],
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_heads_has_numbers_for_those_that_there_are(name):
    column = TABLES[name]()
    assert len(column) == 4 * MOST
    assert all(np.isfinite(value) == THERE[place] for place, value in column.items())


def test_statistics_of_a_layer_are_those_of_its_own_heads():
    table = A.head_statistics(attention()).set_index(["layer", "head"])
    weights = attention()[0].astype(float)
    apart = [np.linalg.norm(weights[1] - weights[other]) for other in range(4)]
    assert table.loc[(0, 1), "diversity"] == pytest.approx(sum(apart), abs=1e-4)


def test_orders_take_every_place_once_and_blank_ones_last():
    absent = set(np.flatnonzero(~THERE.ravel()))
    for by in ("similarity", "entropy", "previous"):
        order = A.order(attention(), by)
        assert sorted(order) == list(range(4 * MOST)) and set(order[-len(absent) :]) == absent


def test_heads_are_taken_away_in_orders_of_those_that_there_are():
    importance = head_importance(laguna(), TEXTS)
    pruning = prune(laguna(), importance, TEXTS, orders=2)
    assert pruning.counts[-1] == sum(COUNTS) and np.isfinite([*pruning.orders.values(), *pruning.random]).all()
    together = lost_together(laguna(), importance, TEXTS)
    assert len(together.heads) == sum(COUNTS)


def test_all_parts_are_asked_about_in_an_overview_and_in_a_circuit():
    assert len(A.overview(laguna(), TEXT).heads) == sum(COUNTS)
    nodes = A.Behaviour(laguna(), laguna().trace(TEXT), 3, 5, fill="zero").nodes
    assert [sum(node.layer == layer and node.head is not None for node in nodes) for layer in range(4)] == list(COUNTS)


def test_rows_of_one_length_are_stacked_as_they_are():
    same = [np.ones((2, 3)), np.zeros((2, 3))]
    assert np.array_equal(stacked(same), np.stack(same))
    assert stacked([np.ones(2, int), np.ones(1, int)]).tolist() == [[1, 1], [1, 0]]
