"""The vectors of the vocabulary, and one word in several texts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import models
from analysis import analogy, cosines, nearest, occurrences, word_states
from analysis.embedding import chance_of_analogy, chance_of_nearest, mean, vectors, word
from models.huggingface.model import HuggingFaceModel
from models.tokens import Token
from tests.models.networks import NETWORKS, network, tokenizer

WORDS = ("up", "down", "left", "right", "upleft", "far")
PLANE = np.array([[0, 1], [0, -1], [-1, 0], [1, 0], [-1, 1], [3, 3]], dtype=np.float32)


class Plane:
    """A vocabulary of a sign and six words, each an arrow in a plane."""

    info = SimpleNamespace(vocabulary=7)
    rows = np.concatenate([[[5, 5]], PLANE]).astype(np.float32)

    def tokenize(self, text):
        start = len(text) - len(text.lstrip())
        known = [i for i, name in enumerate(WORDS) if name == text.strip()]
        return [Token(0, "<s>", 0, 0, True)] + [Token(i + 1, text.strip(), start, len(text)) for i in known]

    def token_text(self, id):
        return ("<s>", *WORDS)[id]

    def is_special(self, id):
        return id == 0

    def embedding(self, ids=slice(None)):
        return self.rows[ids]


@pytest.fixture(scope="module")
def writer():
    return models.load("writer")


def test_the_nearest_point_the_same_way_and_signs_are_not_among_them():
    table = nearest(Plane(), "up", 3)
    assert table["text"].tolist() == ["upleft", "far", "left"]
    np.testing.assert_allclose(table["cosine"], [0.5**0.5, 0.5**0.5, 0], atol=1e-6)


def test_an_analogy_is_the_corner_of_the_parallelogram():
    """up − right + left is (−2, 1): nearest to it among the others is up-left."""
    table = analogy(Plane(), "up", "right", "left", 2)
    assert table["text"][0] == "upleft" and not {"up", "right", "left"} & set(table["text"])
    assert table["cosine"][0] == pytest.approx(3 / 10**0.5)


def test_a_vector_less_itself_points_nowhere():
    with pytest.raises(ValueError, match="zero"):
        nearest(Plane(), np.zeros(2))
    with pytest.raises(ValueError, match="Type a word"):
        nearest(Plane(), "  ")
    with pytest.raises(ValueError, match="Type a word"):
        cosines(Plane(), ["up", "sideways"])


def test_similarities_are_cosines():
    square = cosines(Plane(), WORDS)
    unit = PLANE / np.linalg.norm(PLANE, axis=1, keepdims=True)
    np.testing.assert_allclose(square, unit @ unit.T, atol=1e-6)
    np.testing.assert_allclose(mean(Plane()), Plane.rows.mean(0), rtol=1e-6)
    np.testing.assert_allclose(vectors(Plane(), ["far"], centred=True)[0], PLANE[5] - Plane.rows.mean(0), rtol=1e-6)


def test_the_writer_has_learned_what_words_share(writer):
    assert set(nearest(writer, "dog", 3)["text"].str.strip()) & {"cat", "dogs", "puppy"}
    assert analogy(writer, "king", "man", "woman", 1)["text"][0].strip() == "queen"
    square = cosines(writer, ["he", "she", "river"])
    assert square[0, 1] > square[0, 2]


def test_nearest_in_parts_is_nearest_of_all(writer, monkeypatch):
    table = nearest(writer, "river", 20)
    monkeypatch.setattr("analysis.embedding.AT_ONCE", 1000)
    assert nearest(writer, "river", 20).equals(table)


def test_a_word_of_several_tokens_is_their_mean(writer):
    entry = word(writer, "xylophonist")
    assert len(entry.ids) > 1
    np.testing.assert_allclose(vectors(writer, ["xylophonist"])[0], writer.embedding(list(entry.ids)).mean(0), atol=1e-6)
    assert word(writer, "dog").pieces == (" dog",)


class Random(Plane):
    """A vocabulary of vectors with one mean and nothing else in common; in the last one a word has a twin."""

    info = SimpleNamespace(vocabulary=300)

    def __init__(self, seed: int, twin: bool) -> None:
        self.rows = np.random.default_rng(seed).normal(0.5, 1, (300, 40)).astype(np.float32)
        if twin:
            self.rows[200] = self.rows[1] + 0.3 * self.rows[7]

    def token_text(self, id):
        return f"w{id}"

    def embedding(self, ids=slice(None)):
        return self.rows[ids]


@pytest.mark.parametrize("centred", [False, True])
def test_words_that_have_nothing_in_common_are_seldom_above_chance_and_twins_always(centred):
    def is_above(seed: int, twin: bool) -> bool:
        model = Random(seed, twin)
        return nearest(model, "up", 1, centred=centred)["cosine"][0] > chance_of_nearest(model, "up", centred).highest.max()

    by_luck = sum(is_above(seed, twin=False) for seed in range(60))
    assert by_luck <= 8  # of 60 at 1 in 21; more has a probability of under 1 %
    assert all(is_above(seed, twin=True) for seed in range(10))


def test_what_chance_gives_is_a_median_and_the_same_each_time(writer):
    chance = chance_of_nearest(writer, "dog", words_only=True)
    every = nearest(writer, "dog", writer.info.vocabulary, words_only=True)["cosine"]
    assert chance.typical == pytest.approx(np.median(every), abs=1e-6)
    np.testing.assert_array_equal(chance.highest, chance_of_nearest(writer, "dog", words_only=True).highest)


def test_an_analogy_by_chance_is_that_of_three_random_words_which_are_left_out(writer):
    listed = np.array([id for id in range(writer.info.vocabulary) if not writer.is_special(id)])
    ids = np.random.default_rng(0).choice(listed, 3, replace=False).tolist()
    a, b, c = (row / np.linalg.norm(row) for row in writer.embedding(ids).astype(np.float64))
    answer = nearest(writer, a - b + c, 1, without=ids)["cosine"][0]
    assert chance_of_analogy(writer, draws=1).tolist() == pytest.approx([answer], abs=1e-6)


@pytest.mark.parametrize("name", ["GPT-2", "BERT", "ELECTRA", "T5"])
def test_every_kind_of_network_has_an_embedding(name):
    net, kind = network(name), NETWORKS[name][0]
    model = HuggingFaceModel(net, tokenizer(kind), kind)
    weight = net.get_input_embeddings().weight.numpy()
    np.testing.assert_array_equal(model.embedding([5, 7]), weight[[5, 7]])
    assert model.embedding().dtype == np.float32 and model.embedding().shape == weight.shape
    best = nearest(model, "cat", 5)
    own = weight[list(word(model, "cat").ids)].mean(0)
    rows = weight[best["id"]]
    np.testing.assert_allclose(best["cosine"], rows @ own / np.linalg.norm(rows, axis=1) / np.linalg.norm(own), atol=1e-5)
    assert best["cosine"].is_monotonic_decreasing


def test_the_embedding_is_where_the_hidden_states_begin(writer):
    """The writer adds no positions there: the state after the embedding is the row of the token."""
    trace = writer.trace("The dog ran")
    np.testing.assert_allclose(trace.hidden["self"][0], writer.embedding([token.id for token in trace.tokens]), atol=1e-6)


# One word in several texts

BANK = ["The bank lent her money.", "They sat on the bank of the river; Bank, bankrupt.", "No such word."]


def test_a_word_is_found_whole_and_in_any_case(writer):
    texts_tokens = [writer.tokenize(text) for text in BANK]
    places = occurrences("bank", BANK, texts_tokens)
    assert [place.text for place in places] == [0, 1, 1]
    for place in places:
        tokens = [texts_tokens[place.text][i] for i in place.positions]
        assert "".join(BANK[place.text][token.start : token.end] for token in tokens).strip().lower() == "bank"
    assert occurrences(" ", BANK, texts_tokens) == [] and occurrences("word.", BANK, texts_tokens) != []


def test_the_state_of_a_word_is_the_mean_of_its_tokens(writer):
    traces = [writer.trace(text) for text in ("The xylophonist sat.", "A xylophonist!")]
    places = occurrences("xylophonist", [trace.text for trace in traces], [trace.tokens for trace in traces])
    states = word_states([trace.hidden["self"] for trace in traces], places)
    assert states.shape == (7, 2, 256)
    positions = list(places[1].positions)
    assert len(positions) > 1
    np.testing.assert_allclose(states[:, 1], traces[1].hidden["self"][:, positions].mean(1), atol=1e-5)
