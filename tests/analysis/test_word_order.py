"""Words in another order: without positions an encoder cannot tell, and what a causal mask tells is told by it alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import models
from analysis.word_order import (
    BothOrders,
    keeps_pieces,
    read_orders,
    reorder,
    shuffle,
    total_variation,
    word_spans,
)
from models.scratch.model_folder import MODELS
from models.scratch.positions import POSITIONS
from models.scratch.transformer import build
from tests.grids import grid

TEXT = "The farmer gave the [MASK] dog a bone, and it ran."
COUNT = len(word_spans(TEXT))
AFTER_FIRST = st.permutations(range(1, COUNT)).map(lambda rest: (0, *rest))  # the first word would become another piece


def bare(name: str):
    return models.load(name).without_positions()


@pytest.fixture(scope="module")
def filler():
    return bare("filler")


@pytest.fixture(scope="module")
def writer():
    return bare("writer")


@pytest.fixture(scope="module")
def translator():
    return bare("translator")


@settings(max_examples=25, deadline=None)
@given(AFTER_FIRST)
def test_an_encoder_without_positions_permutes_with_its_words(filler, order):
    orders = read_orders(filler, TEXT, order)
    assert not orders.changed and (orders.places >= 0).all()
    assert np.nanmax(orders.changes("self")) < 1e-5
    for layer in range(filler.info.layers):
        for head in range(filler.info.heads):
            before, after = orders.maps("self", layer, head, causal=False)
            np.testing.assert_allclose(after, before, atol=1e-5)
    (mask,) = filler.places(orders.before)
    assert total_variation(*orders.probabilities(mask, int(orders.places[mask]))) < 1e-5


def test_with_its_positions_the_same_encoder_tells_orders_apart():
    orders = read_orders(models.load("filler"), TEXT, (0, 4, *range(1, 4), *range(5, COUNT)))
    assert np.nanmax(orders.changes("self")) > 0.1


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(1, 5)).map(lambda rest: (0, *rest)))
def test_a_translator_without_positions_answers_a_bag_of_words(translator, order):
    orders = read_orders(translator, "The man sees the dog.", order, "Le")
    assert not orders.changed and max(orders.changes(stack).max() for stack in ("encoder", "decoder")) < 1e-5
    before, after = orders.maps("cross", 1, 2, causal=False)
    np.testing.assert_allclose(after, before, atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(AFTER_FIRST)
def test_the_first_block_of_a_decoder_without_positions_knows_the_set_before_a_token_and_no_more(writer, order):
    orders = read_orders(writer, TEXT, order)
    same, changes = orders.same_before(), orders.changes("self")
    assert (changes[:2, same] < 1e-5).all() and (changes[0] == 0).all()
    for at in same:
        assert set(orders.places[:at]) == set(range(at)) and orders.places[at] == at


def test_from_the_second_block_on_it_knows_more(writer):
    orders = read_orders(writer, TEXT, (0, 2, 1, *range(3, COUNT)))
    changes = orders.changes("self")[:, -1]
    assert len(orders.before.tokens) - 1 in orders.same_before()
    assert changes[1] < 1e-5 and changes[2] > 1e-3 and changes[-1] > 1e-2


@pytest.mark.parametrize("name", ["writer", "filler", "translator"])
@pytest.mark.parametrize("positions", [True, False])
def test_the_order_as_typed_changes_nothing_bit_for_bit(name, positions):
    model = models.load(name) if positions else bare(name)
    orders = read_orders(model, "The cat sat on the mat.", range(6), "Le" if name == "translator" else "")
    assert not orders.changed and orders.places.tolist() == list(range(len(orders.before.tokens)))
    assert all((orders.changes(stack) == 0).all() for stack in orders.before.hidden)
    before, after = orders.maps("cross" if name == "translator" else "self", 1, 1, causal=name == "writer")
    np.testing.assert_array_equal(before, after)
    assert total_variation(*orders.probabilities(-1, -1)) == 0


@settings(max_examples=15, deadline=None)
@given(st.integers(1, COUNT - 1), st.randoms(use_true_random=False))
def test_what_a_decoder_read_before_the_first_word_that_moved_stays(first, random):
    moving = list(range(first, COUNT))
    random.shuffle(moving)
    orders = read_orders(models.load("writer"), TEXT, (*range(first), *moving))
    start = min((at for at, place in enumerate(orders.places) if place != at), default=len(orders.places))
    assert start >= first  # the start token, and a token a word at the least
    assert (orders.changes("self")[:, :start] < 1e-5).all()


@given(st.text(max_size=40), st.randoms(use_true_random=False))
def test_words_change_places_and_all_between_them_stays(text, random):
    spans = word_spans(text)
    order = list(range(len(spans)))
    random.shuffle(order)
    reordered = reorder(text, order)
    if len(text.split()) == len(spans):  # letters of scripts without spaces may come to stand beside other words
        assert reordered.split() == [text.split()[word] for word in order]
    assert reorder(text, range(len(spans))) == text
    assert "".join(reordered.split()) == "".join(text[slice(*spans[word])] for word in order)
    assert "".join(c for c in reordered if c.isspace()) == "".join(c for c in text if c.isspace())


@given(st.integers(0, 40), st.integers(0, 9999), st.integers(0, 2))
def test_a_shuffle_is_an_order_and_another_one_where_there_is_another(count, seed, first):
    order = shuffle(count, seed, first)
    assert sorted(order) == list(range(count)) and order == shuffle(count, seed, first)
    assert order[:first] == tuple(range(min(first, count)))
    assert (order != tuple(range(count))) == (count - first > 1)


@pytest.mark.parametrize("order", [(), (0, 1, 1), (0, 1), (1, 2, 3), (0, 1, 2, 3)])
def test_what_is_no_order_is_refused(order):
    with pytest.raises(ValueError, match="An order of 3 words"):
        reorder("a b c", order)


def test_a_word_that_becomes_other_pieces_is_told_and_compared_no_further():
    model = models.load("writer")
    orders = read_orders(model, "The cat sat", (1, 0, 2))
    assert orders.changed == (0, 1) and not keeps_pieces(model, "The cat sat", (1, 0, 2))
    assert orders.places.tolist() == [0, -1, -1, 4]  # “cat” at the start is two pieces
    assert np.isnan(orders.changes("self")[:, 1:3]).all() and not np.isnan(orders.changes("self")[:, [0, 3]]).any()
    _, after = orders.maps("self", 0, 0, causal=True)
    assert np.isnan(after[1:3]).all() and np.isnan(after[:, 1:3]).all()


def test_pieces_of_a_word_stay_together_and_spaces_stay_between_words():
    orders = read_orders(models.load("translator"), "A  farmer saw \n it ", (0, 2, 1, 3))
    assert orders.after.text == "A  saw farmer \n it "
    pieces = [at for at, token in enumerate(orders.before.tokens) if token.text.strip() in ("far", "mer")]
    assert np.diff(orders.places[pieces]).tolist() == [1]
    for at, place in enumerate(orders.places):
        assert place < 0 or orders.before.tokens[at].id == orders.after.tokens[place].id


def test_a_map_is_back_at_the_places_of_the_text_as_typed():
    orders = read_orders(models.load("writer"), "The cat sat on the mat.", (0, 3, 1, 2, 4, 5))
    before, after = orders.maps("self", 2, 3, causal=True)
    weights = orders.after.attention["self"][2][3]
    for query, mine in enumerate(orders.places):
        for key, theirs in enumerate(orders.places):
            assert np.isnan(before[query, key]) == (key > query)
            if theirs > mine:
                assert np.isnan(after[query, key])
            else:
                assert after[query, key] == weights[mine, theirs]


def test_a_text_that_is_longer_than_the_model_reads_is_refused():
    with pytest.raises(ValueError, match="only the end"):
        read_orders(models.load("translator"), "word " * 80, range(80))


SHIPPED = ["writer", "filler", "translator"]
TURNS = [(SHIPPED[number % 3], positions) for number, positions in enumerate(POSITIONS)]


@pytest.mark.parametrize(("name", "positions"), grid(product(SHIPPED, POSITIONS), TURNS))
def test_whatever_the_positions_are_they_can_be_left_out_with_the_same_weights(name, positions):
    """What is left is the network of the same config with no positions and these weights."""
    ours = models.load(name)
    torch.manual_seed(0)
    config = replace(ours.network.config, positions=positions, layers=2)
    network = build(config)
    for weight in network.parameters():
        torch.nn.init.normal_(weight, std=0.05)
    model = MODELS[config.kind](network, ours.vocabulary.tokenizer, "own", "")
    bare_model, expected = model.without_positions(), build(replace(config, positions="none"))
    shared_weights = {key: weight for key, weight in network.state_dict().items() if ".positions." not in f".{key}"}
    expected.load_state_dict(shared_weights)
    reference = MODELS[config.kind](expected, ours.vocabulary.tokenizer, "wanted", "").trace(
        "The cat sat.", "Le" * (config.kind == "encoder-decoder")
    )
    trace = bare_model.trace("The cat sat.", "Le" * (config.kind == "encoder-decoder"))
    np.testing.assert_allclose(trace.logits, reference.logits, atol=1e-5)
    weights = {parameter.data_ptr() for parameter in network.parameters()}
    assert all(parameter.data_ptr() in weights for parameter in bare_model.network.parameters()), "they are shared"
    assert model.network.config.positions == positions and bare_model.network.config.positions == "none"


def test_a_prediction_needs_a_head():
    trace = replace(models.load("writer").trace("a b"), unembed=None)
    with pytest.raises(ValueError, match="no language-model head"):
        BothOrders(trace, trace, np.arange(3), ()).probabilities(0, 0)
