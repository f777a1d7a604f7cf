"""Words are what a reader calls words, whatever the vocabulary; merged and chosen attention sums to what the formulas say."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from analysis.merging import LONGEST, merge, merged_tokens, select, unspaced, words
from models import Token, load
from models.huggingface.text import TextTokens

LETTERS = "abcdefghijklmnopqrstuvwxyzé"


@cache
def tokenizer(kind: str):
    """Three ways to write a vocabulary, none of which has whole words."""
    if kind == "byte-level":
        return load("writer").tokenize
    if kind == "WordPiece":
        characters = [*LETTERS, *"0123456789"]
        pieces = [
            "[PAD]",
            "[UNK]",
            "[CLS]",
            "[SEP]",
            "[MASK]",
            *characters,
            *("##" + character for character in characters),
            "##ing",
            *".,'’!-",
        ]
        vocabulary = {piece: id for id, piece in enumerate(pieces)}
        return TextTokens(transformers.BertTokenizer(vocab=vocabulary, do_lower_case=False)).tokens
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁acdehot", "▁c", "▁ca", "▁cat"]
    merges = [("▁", "c"), ("▁c", "a"), ("▁ca", "t")]
    model = transformers.LlamaTokenizer(vocab={piece: id for id, piece in enumerate(pieces)}, merges=merges)
    return TextTokens(model).tokens


def read(kind: str, text: str) -> list[str]:
    tokens = tokenizer(kind)(text)
    return [token.text.strip() for token in merged_tokens(tokens, words(tokens)) if not token.special]


KINDS = pytest.mark.parametrize("kind", ["byte-level", "WordPiece", "SentencePiece with bytes"])


@KINDS
@settings(deadline=None)  # the first call loads a model
@given(text=st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=1, max_size=8))
def test_words_are_what_stands_between_spaces(kind, text):
    assert read(kind, " ".join(text)) == text


@KINDS
def test_punctuation_stands_by_itself_but_not_inside_a_word_or_number(kind):
    assert read(kind, "don't, he’d go!") == ["don't", ",", "he’d", "go", "!"]
    assert read(kind, "dog-house 3.14, 2.") == ["dog", "-", "house", "3.14", ",", "2", "."]


@settings(deadline=None)
@given(st.text(max_size=40))
def test_every_token_is_in_one_word_and_every_character_whole(text):
    tokens = tokenizer("byte-level")(text)
    groups = words(tokens)
    assert [i for group in groups for i in group] == list(range(len(tokens)))
    word_tokens = merged_tokens(tokens, groups)
    assert not any(token.fragment for token in word_tokens)
    assert "".join(token.text for token in word_tokens if not token.special) == text


@pytest.mark.parametrize("kind", ["byte-level", "SentencePiece with bytes"])
def test_bytes_of_one_character_are_together_and_its_parts_too(kind):
    assert read(kind, "a 🙂 b") == ["a", "🙂", "b"]
    assert read(kind, "👩🏽‍💻") == ["👩🏽‍💻"]
    assert read(kind, "שלום עולם") == ["שלום", "עולם"]
    assert read(kind, "你好") == ["你", "好"], "a script without spaces: no character says where a word ends"


def tokens_of(*parts: str) -> list[Token]:
    """Tokens that stand side by side."""
    ends = np.cumsum([0, *map(len, parts)]).tolist()
    return [Token(1, part, *span) for part, span in zip(parts, pairwise(ends), strict=True)]


@pytest.mark.parametrize(
    "parts",
    [
        ["今天", "天气", "很", "好"],
        ["わ", "たし", "は"],
        ["ส", "วัส", "ดี"],
        list("MKTAYIAKQRQISFVKSHFSRQ"),
        list("ACGTACGTACGTAC"),
        ["ACG", "TTT"] * 12,
        ["x" * 30, "y" * 30, "z" * 30],
    ],
    ids=["Chinese", "Japanese", "Thai", "protein", "DNA", "DNA in threes", "no word"],
)
def test_where_no_spaces_separate_words_each_token_stands_by_itself_and_it_is_said(parts):
    assert words(tokens_of(*parts)) == [[i] for i in range(len(parts))]
    assert unspaced("".join(parts)) and unspaced(f"Look: {''.join(parts)} is it.")


@pytest.mark.parametrize(
    "word", ["everything", "NASA", "UNESCO", "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz", "한국어를"]
)
def test_a_word_of_letters_is_a_word_up_to_the_longest(word):
    assert len(word) <= LONGEST and not unspaced(f"a {word}, and more")
    assert words(tokens_of(*word)) == [list(range(len(word)))]


def test_special_tokens_and_a_second_text_begin_anew():
    spans = [("[CLS]", 0, 0, 0), ("be", 0, 2, 0), ("##es", 2, 4, 0), ("[SEP]", 4, 4, 0)]
    spans += [("a", 0, 1, 1), ("[UNK]", 1, 2, 1), ("b", 2, 3, 1)]
    tokens = [Token(7, text, start, end, text[0] == "[", False, segment) for text, start, end, segment in spans]
    assert words(tokens) == [[0], [1, 2], [3], [4], [5], [6]]
    bees = merged_tokens(tokens, words(tokens))[1]
    assert (bees.id, bees.text, bees.start, bees.end, bees.special) == (-1, "bees", 0, 4, False)
    first, second = Token(1, "a", 0, 1), Token(2, "b", 0, 1, segment=1)
    assert words([first, second]) == [[0], [1]]
    assert words([]) == []


def test_the_marks_of_a_vocabulary_are_not_the_text_but_typed_ones_are():
    tokens = [Token(1, "low@@", 0, 3), Token(2, "er</w>", 3, 5), Token(3, "##", 6, 8)]
    assert words(tokens) == [[0, 1], [2]]
    assert [token.text for token in merged_tokens(tokens, words(tokens))] == ["lower", "##"]


@st.composite
def attention_and_groups(draw):
    queries, keys = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    shape = (*draw(st.sampled_from([(), (2,), (2, 3)])), queries, keys)
    scores = draw(arrays.arrays(np.float32, shape, elements=st.floats(-8, 8, width=32)))
    weights = np.exp(scores)

    def groups(count: int) -> list[list[int]]:
        of = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
        return [group for number in range(4) if (group := [i for i in draw(st.permutations(range(count))) if of[i] == number])]

    return weights / weights.sum(-1, keepdims=True), groups(queries), groups(keys)


@given(attention_and_groups())
def test_merging_averages_queries_and_sums_keys(drawn):
    weights, queries, keys = drawn
    grouped = merge(weights, queries, keys)
    assert grouped.dtype == np.float32
    assert grouped.shape == (*weights.shape[:-2], len(queries), len(keys))
    np.testing.assert_allclose(grouped.sum(-1), 1, atol=1e-5)
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            expected = weights[..., query, :][..., key].sum((-1, -2)) / len(query)
            np.testing.assert_allclose(grouped[..., i, j], expected, atol=1e-6)


@given(attention_and_groups())
def test_merging_one_by_one_changes_nothing_and_leaves_the_input_alone(drawn):
    weights = drawn[0]
    before = weights.copy()
    alone = [[[i] for i in range(count)] for count in weights.shape[-2:]]
    np.testing.assert_array_equal(merge(weights, *alone), weights)
    np.testing.assert_array_equal(weights, before)


@given(attention_and_groups())
def test_chosen_positions_keep_their_weights_or_share_anew(drawn):
    weights, queries, keys = drawn
    query, key = queries[0], keys[0]
    selected = select(weights, query, key)
    np.testing.assert_array_equal(selected, weights[..., query, :][..., key])
    shared = select(weights, query, key, renormalise=True)
    np.testing.assert_allclose(shared.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(shared * selected.sum(-1, keepdims=True), selected, atol=1e-6)


def test_a_row_that_has_nothing_left_is_zeros():
    weights = np.array([[1.0, 0.0], [0.25, 0.75]])
    np.testing.assert_array_equal(select(weights, [0, 1], [1], renormalise=True), [[0], [1]])
    assert select(weights, [0, 1], [], renormalise=True).shape == (2, 0)
    assert merge(weights, [[0, 1]], []).shape == (1, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: merge(np.eye(2), [[0], []], [[0]]),
        lambda: merge(np.eye(2), [[0]], [[2]]),
        lambda: merge(np.eye(2), [[0]], [[-1]]),
        lambda: merge(np.eye(2), [[0, 1], [1]], [[0]]),
        lambda: merge(np.ones(3), [[0]], [[0]]),
        lambda: select(np.eye(2), [0, 0], [1]),
        lambda: select(np.eye(2), [2], [1], renormalise=True),
        lambda: merged_tokens([], [[0]]),
    ],
)
def test_groups_that_cannot_be_are_refused_in_a_sentence(wrong):
    with pytest.raises(ValueError, match=r"\.$"):
        wrong()
