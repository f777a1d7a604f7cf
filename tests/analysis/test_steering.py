"""Steering: what a direction is, what random ones do, and that the pairs of page Change have the effect that they promise."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis import direction, push, random_direction
from analysis.effects import divergence
from analysis.steering import DIRECTIONS, Move, Moves, moves
from models.edits import Stream
from models.numbers.softmax import softmax
from pages.change.steer.ready import READY, READY_SOURCE, own_pairs
from tests.models.networks import network, tokenizer

PAIRS = [("The ship sailed.", "The cart stood still."), ("A wave", "A field of corn")]


@pytest.fixture(scope="module")
def writer():
    return models.load("writer")


def test_a_direction_is_the_mean_difference_of_the_means_over_what_was_typed(writer):
    means = [
        [writer.trace(text).hidden["self"][3][1:].mean(0) for text in pair] for pair in PAIRS
    ]  # without the sign for the start
    expected = np.mean([first - second for first, second in means], axis=0)
    vector = direction(writer, PAIRS, 3)
    np.testing.assert_allclose(vector, expected, atol=1e-4)
    np.testing.assert_allclose(direction(writer, [pair[::-1] for pair in PAIRS], 3), -vector, atol=1e-4)


def test_pushes_are_readings_with_the_stream_changed_and_none_is_the_reading_as_it_is(writer):
    trace, vector = writer.trace("The cat sat on the"), direction(writer, PAIRS, 3)
    logits = push(writer, trace, np.stack([0 * vector, 2 * vector]), 3)
    np.testing.assert_allclose(logits[0], trace.logits_at(-1), atol=1e-4)
    steered = writer.trace("The cat sat on the", edits=[Stream(3, None, add=2 * vector)])
    np.testing.assert_allclose(logits[1], steered.logits_at(-1), atol=1e-4)


def test_a_random_direction_is_as_long_and_the_same_for_one_seed():
    like = np.arange(8.0)
    vector, repeated, another = (random_direction(like, seed) for seed in (0, 0, 1))
    assert (
        np.allclose(np.linalg.norm(vector), np.linalg.norm(like))
        and (vector == repeated).all()
        and not np.allclose(vector, another)
    )


def test_every_push_is_judged_by_the_word_that_it_raises_most_itself(writer):
    trace, vector = writer.trace("They went to the"), 2 * direction(writer, PAIRS, 3)
    logits = push(writer, trace, np.stack([0 * vector, vector, *(random_direction(vector, seed) for seed in range(3))]), 3)
    all_moves, plain = moves(logits), softmax(logits[0])
    for move, row in zip([all_moves.push, *all_moves.random], logits[1:], strict=True):
        rises = softmax(row) - plain
        assert move.token == rises.argmax() and move.rise == pytest.approx(rises.max(), abs=1e-6)
        assert (move.before, move.after) == pytest.approx((plain[move.token], softmax(row)[move.token]), abs=1e-6)
        assert move.nats == pytest.approx(divergence(logits[0], row), abs=1e-6)
    assert len({move.token for move in all_moves.random}) > 1
    assert all_moves.strongest.rise == max(move.rise for move in all_moves.random)


def test_a_verdict_needs_both_measures_above_every_random_push_and_a_tie_is_no_more():
    def move(rise: float, nats: float) -> Move:
        return Move(0, 0.0, rise, nats)

    weak = (move(0.1, 1.0), move(0.2, 0.5))
    for push_move, verdict in (
        (move(0.3, 2.0), "more"),
        (move(0.2, 2.0), "unclear"),
        (move(0.3, 1.0), "unclear"),
        (move(0.2, 1.0), "no more"),
    ):
        assert Moves(push_move, weak).verdict == verdict
    assert Moves(move(0.2, 0.7), weak).rise_rank == Moves(move(0.2, 0.7), weak).nats_rank == 2


def test_of_pushes_drawn_alike_at_most_one_does_more_than_the_others(writer):
    """Exactly, whatever the model: of 21 random directions, each held beside the 20 others."""
    trace, like = writer.trace("They went to the"), 2 * direction(writer, PAIRS, 3)
    vectors = [random_direction(like, seed) for seed in range(DIRECTIONS + 1)]
    result = moves(push(writer, trace, np.stack([0 * like, *vectors]), 3))
    all_moves = [result.push, *result.random]
    verdicts = [Moves(move, (*all_moves[:i], *all_moves[i + 1 :])).verdict for i, move in enumerate(all_moves)]
    assert verdicts.count("more") <= 1 and verdicts.count("no more") >= DIRECTIONS - 1


@pytest.mark.parametrize(
    ("pairs", "layer", "kind", "sentence"),
    [
        ([], 3, None, "at least one pair"),
        ([("", "The cart")], 3, None, "is empty"),
        ([("The cart", "The cart")], 3, None, "do not differ"),
        (PAIRS, 7, None, "there is no 7"),
        (PAIRS, 3, "decoder", "no stream"),
    ],
)
def test_pairs_that_give_no_direction_are_told_of(writer, pairs, layer, kind, sentence):
    with pytest.raises(ValueError, match=sentence):
        direction(writer, pairs, layer, kind)


@pytest.mark.parametrize("name", ["GPT-2", "BERT", "T5"])
def test_networks_of_the_hub_are_steered_where_the_stream_is_read(name):
    from models.huggingface.model import HuggingFaceModel

    kind = {"GPT-2": "decoder", "BERT": "encoder", "T5": "encoder-decoder"}[name]
    model = HuggingFaceModel(network(name), tokenizer(kind), kind, name=name)
    trace = model.trace("the cat sat", "the" if kind == "encoder-decoder" else "")
    vector = direction(model, [("the cat", "a dog sat")], 1)
    logits = push(model, trace, np.stack([0 * vector, vector]), 1)
    np.testing.assert_allclose(logits[0], trace.logits_at(-1), atol=1e-4)
    assert np.abs(logits[1] - logits[0]).max() > 1e-4


def share_of(model, text: str, words: list[str], vectors: np.ndarray, layer: int) -> list[float]:
    """How likely these words are together at the end, or at the mask, with each push at a layer."""
    trace = model.trace(text)
    ids = [token.id for word in words for token in model.tokenize(f"a {word}") if token.text.strip() == word]
    assert len(ids) == len(words)
    return [float(softmax(row)[ids].sum()) for row in push(model, trace, vectors, layer, model.places(trace)[-1])]


PROMISES = {  # what becomes likelier to the right, in a text of one's own
    "cat, not others": ("In the garden the children saw a", ["cat", "kitten", "cats"]),
    "sea, not land": ("They went to the", ["sea", "beach", "river", "ship", "shore"]),
    "glad, not sad": ("That night the boy felt very", ["happy", "glad", "good", "excited"]),
    "she, not he": ("In the house there was an old", ["woman", "lady"]),
}


@pytest.mark.parametrize("name", READY)
@pytest.mark.parametrize("which", ["writer", "filler"])
def test_a_ready_direction_makes_its_words_likelier_than_random_ones_do(which, name):
    model, ready = models.load(which), READY[name]
    text, words = PROMISES[name]
    layer = (model.info.layers + 1) // 2 if ready.layer is None else ready.layer
    vector = ready.strength * direction(model, ready.pairs, layer)
    pushes = np.stack([0 * vector, vector, -vector, *(random_direction(vector, seed) for seed in range(5))])
    text = text + " [MASK]." if which == "filler" else text
    plain, right, left, *by_chance = share_of(model, text, words, pushes, layer)
    assert right > max(1.5 * plain, 2 * np.mean(by_chance), *by_chance) and left < 0.7 * plain, (plain, right, left, by_chance)


@pytest.mark.parametrize(
    ("name", "text", "sign", "answer"),
    [
        ("she, not he", "He is at school.", 1, "Elle est"),
        ("she, not he", "She gave him a book.", -1, "Il "),
        ("we, not I", "I am tired.", 1, "Nous sommes"),
        ("a question", "I am tired.", 1, "?"),
        ("not", "He is at school.", 1, "n'est pas"),
    ],
)
def test_a_ready_direction_changes_what_the_translator_says(name, text, sign, answer):
    model, ready = models.load("translator"), READY_SOURCE[name]
    layer = (model.info.layers + 1) // 2 if ready.layer is None else ready.layer
    vector = sign * ready.strength * direction(model, ready.pairs, layer)

    def translation(edits) -> str:
        return [step.text for step in model.generate(text, max_new_tokens=12, edits=edits)][-1]

    assert answer not in translation([]) and answer in translation([Stream(layer, None, add=vector, kind="encoder")])


def test_pairs_that_are_typed_have_as_many_texts_on_each_side():
    assert own_pairs("A ship / The sea /", " A cart/The road") == (("A ship", "A cart"), ("The sea", "The road"))
    for sides in (("", "a"), ("a / b", "c"), (" / ", " ")):
        with pytest.raises(ValueError):
            own_pairs(*sides)
