"""Shares of words that a head finds in the other language, on weights built to find them, or not."""

from __future__ import annotations

import re
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.word_alignment import place, read_links, tokens_in, word_alignment
from models.catalog import WEIGHTS
from models.scratch.signs import END, START
from models.tokens import Token
from models.trace import Attention, Trace
from tests.models.scratch.test_encoder_decoder_model import build_model as made

LIST = WEIGHTS / "translator" / "alignments.tsv"
SOURCE, TARGET = "the black cats sleep.", "les chats noirs dorment."
LINKS = [("chats", "cats"), ("noirs", "black"), ("dorment", "sleep")]


def split(text: str, pieces: int) -> list[Token]:
    """A token for each sign and for each word with the space before it; longer words in so many pieces."""
    tokens = []
    for match in re.finditer(r" ?\w+|[^\w ]", text):
        edges = np.linspace(*match.span(), pieces + 1).round().astype(int) if len(match[0]) > 4 else match.span()
        tokens += [Token(0, text[a:b], int(a), int(b)) for a, b in pairwise(edges)]
    return tokens


class FixedTranslator:
    """An encoder-decoder whose cross-attention is given: `heads`, each a function of (source, target) -> [query, key]."""

    def __init__(self, *heads, pieces: int = 2):
        self.heads, self.pieces = heads, pieces
        self.info = SimpleNamespace(name="made", kind="encoder-decoder", decoder_layers=1, decoder_heads=len(heads))

    def trace(self, source: str, target: str) -> Trace:
        tokens = [*split(source, self.pieces), Token(1, END, len(source), len(source), special=True)]
        target_tokens = [Token(2, START, 0, 0, special=True), *split(target, self.pieces)]
        weights = np.array([[head(tokens, target_tokens) for head in self.heads]], dtype=np.float32)
        cross = Attention.from_arrays(weights / weights.sum(-1, keepdims=True), target_tokens, tokens)
        return Trace(source, tokens, {"cross": cross}, {}, target=target_tokens)


def looking(early: int = 1, end: float = 0.0, links=tuple(LINKS)):
    """A head that looks at a word's meaning, in the rows that stand so many tokens before the word's; at the end besides."""

    def head(tokens, target_tokens) -> np.ndarray:
        weights = np.full((len(target_tokens), len(tokens)), 0.01)
        weights[:, 0] = 0.5  # "the", where there is nothing to look for
        weights[:, -1] += end
        for word, source_word in links:
            keys = tokens_in(tokens, *place(source_word, SOURCE))
            for row in tokens_in(target_tokens, *place(word, TARGET)):
                weights[row - early, keys] += 1 / len(keys)
        return weights

    return head


def even(tokens, target_tokens) -> np.ndarray:
    return np.ones((len(target_tokens), len(tokens)))


def shares(*heads, pieces: int = 2, pairs=((SOURCE, TARGET, LINKS),)) -> list[float]:
    table = word_alignment(FixedTranslator(*heads, pieces=pieces), pairs)
    assert list(table["layer"]) == [0] * len(heads) and list(table["head"]) == list(range(len(heads)))
    return table["share"].tolist()


@pytest.mark.parametrize("pieces", [1, 2, 3])
def test_a_head_is_right_where_it_looks_in_the_rows_that_predict_a_word(pieces):
    """Those are the rows before its tokens; what stands in the rows of the tokens themselves is about the next word."""
    swapped = [("chats", "black"), ("noirs", "cats"), ("dorment", "sleep")]
    right_shares = shares(looking(), looking(early=0), looking(links=swapped), looking(links=[]), pieces=pieces)
    assert right_shares[0] == 1 and right_shares[2] == pytest.approx(1 / 3)
    if pieces == 1:
        assert right_shares[1] == 0


def test_the_end_is_no_word_however_much_looks_at_it():
    assert shares(looking(end=50)) == [1]


def test_a_word_gets_what_its_tokens_get_together():
    """Weights all even: the word of two tokens gets most, and the first of those that get as much."""
    assert shares(even) == [pytest.approx(1 / 3)]  # " black" is in two pieces, as " cats" and " sleep" are, and comes first

    def split_weights(tokens, target_tokens) -> np.ndarray:
        return np.array(
            [[0.3 if token.text in (" ca", "ts") else 0.4 if token.text == "the" else 0.0 for token in tokens]]
            * len(target_tokens)
        )

    assert shares(split_weights, pairs=[(SOURCE, TARGET, [("chats", "cats")])]) == [1]


def test_a_word_is_looked_up_on_the_mean_of_its_rows():
    """One row is sure of the wrong word, two are for the right one: the mean decides, not the first row and not the last."""

    def head(tokens, target_tokens, sure: float = 0.0) -> np.ndarray:
        weights = np.zeros((len(target_tokens), len(tokens)))
        rows = [row - 1 for row in tokens_in(target_tokens, *place("dorment", TARGET))]
        assert len(rows) == 3
        weights[:, tokens_in(tokens, *place("sleep", SOURCE))] = 1.0
        wrong = tokens_in(tokens, *place("the", SOURCE))
        weights[rows[0]] = 0.0
        weights[rows[0], wrong] = 1.0
        if sure:
            weights[rows[1]] = weights[rows[0]]
        return weights

    pair = [(SOURCE, TARGET, [("dorment", "sleep")])]
    assert shares(head, lambda *arguments: head(*arguments, sure=1.0), pieces=3, pairs=pair) == [1, 0]


@given(st.lists(st.sampled_from(LINKS), min_size=1, unique=True))
def test_the_share_is_of_all_words_of_all_pairs(links):
    """Pairs with more words count more."""
    pairs = [(SOURCE, TARGET, links), (SOURCE, TARGET, LINKS[-1:])]
    right = [("dorment", "sleep")]
    count = sum(link in right for _, _, some in pairs for link in some)
    assert shares(looking(links=right), pairs=pairs) == [pytest.approx(count / (len(links) + 1))]


def test_a_real_network_is_read_layer_by_layer_and_head_by_head():
    model = made()
    pairs = [("the cat sat", "le chat", [("chat", "cat")]), ("the dog sat", "le tapis", [("tapis", "dog")])]
    table = word_alignment(model, pairs)
    assert table[["layer", "head"]].to_numpy().tolist() == [[layer, head] for layer in range(2) for head in range(4)]
    for row in table.itertuples():
        right = 0
        for source, target, [(target_word, source_word)] in pairs:
            trace = model.trace(source, target)
            assert not any(token.text == " " for token in trace.tokens), "a space by itself is no word's"
            first = next(i for i, token in enumerate(trace.target) if token.end > target.index(target_word))
            weights = trace.attention["cross"][row.layer][row.head, first - 1 : -1].mean(0)  # it is the last word of each
            got = {word: 0.0 for word in source.split()}
            for token, weight in zip(trace.tokens[:-1], weights[:-1], strict=True):
                got[next(word for word in got if source.index(word) + len(word) >= token.end)] += weight
            right += max(got, key=got.get) == source_word
        assert row.share == right / 2


@pytest.mark.parametrize(
    ("links", "sentence"),
    [
        ([("le", "cat")], "“le” stands 2 times in “le chat et le chien”"),
        ([("chat", "horse")], "“horse” stands 0 times in “the cat"),
    ],
)
def test_a_word_that_does_not_stand_there_once_is_a_sentence(links, sentence):
    with pytest.raises(ValueError, match=sentence):
        word_alignment(FixedTranslator(even), [("the cat and the dog", "le chat et le chien", links)])


def test_a_word_is_not_found_inside_another():
    assert place("cat", "a cat, not a catfish or a tomcat") == (2, 5)


def test_a_pair_that_does_not_fit_is_a_sentence():
    """A long text is cut from the left, and with it the words that are to be found."""
    model, long = made(), " et le chien" * 40
    with pytest.raises(ValueError, match="“chat” is cut off"):
        word_alignment(model, [("the cat", "le chat" + long, [("chat", "cat")])])
    with pytest.raises(ValueError, match="“the” is cut off"):
        word_alignment(model, [("the cat" + " and the dog" * 40, "le chat", [("chat", "cat")])])


@pytest.mark.parametrize("kind", ["decoder", "encoder"])
def test_a_model_of_one_stack_is_a_sentence(kind):
    model = FixedTranslator(even)
    model.info.kind = kind
    with pytest.raises(ValueError, match="made has no cross-attention"):
        word_alignment(model, [])


@pytest.mark.parametrize(
    "line", ["", "the cat\tle chat", "the cat\tle chat\tchat=cat\tmore", "the cat\tle chat\tchat", "a\tb\tc=d=e"]
)
def test_a_line_that_is_no_pair_is_named(line):
    with pytest.raises(ValueError, match="Line 2 "):
        read_links(f"the dog\tle chien\tchien=dog\n{line}\n")


def test_links_are_read_as_they_are_written():
    text = "the cat\tle chat\tchat=cat le=the\nGo.\tVa.\tVa=Go\n"
    assert read_links(text) == [("the cat", "le chat", [("chat", "cat"), ("le", "the")]), ("Go.", "Va.", [("Va", "Go")])]


def test_the_list_of_fifty_pairs_is_well_formed():
    pairs = read_links(LIST.read_text(encoding="utf-8"))
    assert len(pairs) == len({source for source, _, _ in pairs}) == 50
    for source, target, links in pairs:
        assert links and len({word for word, _ in links}) == len(links), source
        for word, source_word in links:
            assert target[slice(*place(word, target))] == word and source[slice(*place(source_word, source))] == source_word
