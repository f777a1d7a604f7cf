"""Steering: what a direction is, what random ones do, and that the pairs of page Change have the effect that they promise."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis import direction, push, random_direction
from analysis.effects import divergence
from analysis.steering import DIRECTIONS, Move, Moves, moves
from models.edits import Stream
from models.language_model import softmax
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
    expected = np.mean([one - two for one, two in means], axis=0)
    found = direction(writer, PAIRS, 3)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_allclose(direction(writer, [pair[::-1] for pair in PAIRS], 3), -found, atol=1e-4)


def test_pushes_are_readings_with_the_stream_changed_and_none_is_the_reading_as_it_is(writer):
    trace, found = writer.trace("The cat sat on the"), direction(writer, PAIRS, 3)
    logits = push(writer, trace, np.stack([0 * found, 2 * found]), 3)
    np.testing.assert_allclose(logits[0], trace.logits_at(-1), atol=1e-4)
    steered = writer.trace("The cat sat on the", edits=[Stream(3, None, add=2 * found)])
    np.testing.assert_allclose(logits[1], steered.logits_at(-1), atol=1e-4)


def test_a_random_direction_is_as_long_and_the_same_for_one_seed():
    like = np.arange(8.0)
    one, again, other = (random_direction(like, seed) for seed in (0, 0, 1))
    assert np.allclose(np.linalg.norm(one), np.linalg.norm(like)) and (one == again).all() and not np.allclose(one, other)


def test_every_push_is_judged_by_the_word_that_it_raises_most_itself(writer):
    trace, found = writer.trace("They went to the"), 2 * direction(writer, PAIRS, 3)
    logits = push(writer, trace, np.stack([0 * found, found, *(random_direction(found, seed) for seed in range(3))]), 3)
    moved, plain = moves(logits), softmax(logits[0])
    for move, row in zip([moved.push, *moved.random], logits[1:], strict=True):
        rises = softmax(row) - plain
        assert move.token == rises.argmax() and move.rise == pytest.approx(rises.max(), abs=1e-6)
        assert (move.before, move.after) == pytest.approx((plain[move.token], softmax(row)[move.token]), abs=1e-6)
        assert move.nats == pytest.approx(divergence(logits[0], row), abs=1e-6)
    assert len({move.token for move in moved.random}) > 1
    assert moved.strongest.rise == max(move.rise for move in moved.random)


def test_a_verdict_needs_both_measures_above_every_random_push_and_a_tie_is_no_more():
    def made(rise: float, nats: float) -> Move:
        return Move(0, 0.0, rise, nats)

    weak = (made(0.1, 1.0), made(0.2, 0.5))
    for push_move, verdict in (
        (made(0.3, 2.0), "more"), (made(0.2, 2.0), "unclear"), (made(0.3, 1.0), "unclear"), (made(0.2, 1.0), "no more")
    ):  # fmt: skip
        assert Moves(push_move, weak).verdict == verdict
    assert Moves(made(0.2, 0.7), weak).rise_rank == Moves(made(0.2, 0.7), weak).nats_rank == 2


def test_of_pushes_drawn_alike_at_most_one_does_more_than_the_others(writer):
    """Exactly, whatever the model: of 21 random directions, each held beside the 20 others."""
    trace, like = writer.trace("They went to the"), 2 * direction(writer, PAIRS, 3)
    drawn = [random_direction(like, seed) for seed in range(DIRECTIONS + 1)]
    found = moves(push(writer, trace, np.stack([0 * like, *drawn]), 3))
    each = [found.push, *found.random]
    verdicts = [Moves(move, (*each[:i], *each[i + 1 :])).verdict for i, move in enumerate(each)]
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
    found = direction(model, [("the cat", "a dog sat")], 1)
    logits = push(model, trace, np.stack([0 * found, found]), 1)
    np.testing.assert_allclose(logits[0], trace.logits_at(-1), atol=1e-4)
    assert np.abs(logits[1] - logits[0]).max() > 1e-4


def share_of(model, text: str, words: list[str], added: np.ndarray) -> list[float]:
    """How likely these words are together at the end, or at the mask, with each push at the middle of the stack."""
    trace = model.trace(text)
    ids = [one.id for word in words for one in model.tokenize(f"a {word}") if one.text.strip() == word]
    assert len(ids) == len(words)
    return [float(softmax(one)[ids].sum()) for one in push(model, trace, added, 3, model.places(trace)[-1])]


PROMISES = {  # what becomes likelier to the right, in a text of one's own
    "sea, not land": ("They went to the", ["sea", "beach", "river", "ship", "shore"]),
    "glad, not sad": ("That day they felt very", ["happy", "glad", "good", "excited"]),
    "she, not he": ("In the house there was an old", ["woman", "lady"]),
}


@pytest.mark.parametrize("name", READY)
@pytest.mark.parametrize("which", ["writer", "filler"])
def test_a_ready_direction_makes_its_words_likelier_than_random_ones_do(which, name):
    model, ready = models.load(which), READY[name]
    text, words = PROMISES[name]
    found = ready.strength * direction(model, ready.pairs, 3)
    pushes = np.stack([0 * found, found, -found, *(random_direction(found, seed) for seed in range(5))])
    text = text + " [MASK]." if which == "filler" else text
    plain, right, left, *by_chance = share_of(model, text, words, pushes)
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
    found = sign * ready.strength * direction(model, ready.pairs, layer)

    def said(edits) -> str:
        return [step.text for step in model.generate(text, max_new_tokens=12, edits=edits)][-1]

    assert answer not in said([]) and answer in said([Stream(layer, None, add=found, kind="encoder")])


def test_pairs_that_are_typed_have_as_many_texts_on_each_side():
    assert own_pairs("A ship / The sea /", " A cart/The road") == (("A ship", "A cart"), ("The sea", "The road"))
    for sides in (("", "a"), ("a / b", "c"), (" / ", " ")):
        with pytest.raises(ValueError):
            own_pairs(*sides)
