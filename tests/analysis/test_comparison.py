"""Comparison of two attentions: nothing is lost, nothing counts twice, and like against like is zero."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import models
from analysis import scope
from analysis.comparison import align, align_texts, compare
from models import Attention
from models.tokens import Token

TEXT = "abcdefghijkl"


def tokens_ending_at(ends: list[int], text: str = TEXT) -> list[Token]:
    """The text as tokens that end at these characters."""
    ends = sorted({*ends, len(text)})
    return [Token(i, text[start:end], start, end) for i, (start, end) in enumerate(zip([0, *ends], ends, strict=False))]


def sign(text: str, at: int = 0) -> Token:
    return Token(99, text, at, at, special=True)


def tokens_of(*words: str) -> list[Token]:
    """Tokens that spell a text of their own."""
    tokens, at = [], 0
    for word in words:
        tokens.append(Token(0, word, at, at + len(word)))
        at += len(word)
    return tokens


cuts = st.lists(st.integers(1, len(TEXT)), max_size=8).map(tokens_ending_at)
front, back = st.sampled_from([[], [sign("<s>")]]), st.sampled_from([[], [sign("</s>", len(TEXT))]])
whole = st.tuples(front, cuts, back).map(lambda parts: [*parts[0], *parts[1], *parts[2]])
texts = st.lists(st.sampled_from([" the", " dog", " ran", " ran", ",", " home"]), min_size=1, max_size=9).map(
    lambda w: tokens_of(*w)
)


def random_scope(tokens: list[Token], seed: int = 0):
    """A random attention of one layer and two heads between tokens."""
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(tokens)), (1, 2, len(tokens)))
    return scope(Attention.from_arrays(weights, tokens, tokens))


@given(whole, whole)
def test_groups_end_together_as_often_as_the_two_do_and_hold_each_token_once(a, b):
    a_groups, b_groups = align(a, b)
    assert len(a_groups) == len(b_groups) and all(a_groups) and all(b_groups)
    for tokens, groups in ((a, a_groups), (b, b_groups)):
        flat = [i for group in groups for i in group]
        assert flat == sorted(set(flat))
        assert {i for i, token in enumerate(tokens) if not token.special} <= {*flat}
    pairs = [(a[x[-1]], b[y[-1]]) for x, y in zip(a_groups, b_groups, strict=True)]
    assert all(x.special == y.special and (x.special or x.end == y.end) for x, y in pairs)
    assert sum(not x.special for x, _ in pairs) == len(
        {t.end for t in a if t.start < t.end} & {t.end for t in b if t.start < t.end}
    )
    signs = {t.text for t in a if t.special} & {t.text for t in b if t.special}
    assert {x.text for x, _ in pairs if x.special} == signs == {y.text for _, y in pairs if y.special}


@given(whole, whole, st.integers(0, 9))
@settings(max_examples=60)
def test_rows_add_up_to_one_with_what_is_left_out(a, b, seed):
    common = compare(random_scope(a, seed), random_scope(b, seed + 1), [(0, 0), (0, 1)])
    for half, tokens in ((common.a, a), (common.b, b)):
        assert half.weights.sum(-1).mean() + half.share == pytest.approx(1, abs=1e-5)
        if not half.left_out:
            np.testing.assert_allclose(half.weights.sum(-1), 1, atol=1e-5)
        assert len(half.left_out) == len(tokens) - sum(map(len, half.keys))


@given(st.one_of(st.tuples(whole, whole, st.just(True)), st.tuples(texts, texts, st.just(False))))
@settings(max_examples=80)
def test_the_difference_turns_its_sign_with_the_two(case):
    a, b, same_text = case
    first, second = random_scope(a, 1), random_scope(b, 2)
    try:
        forth = compare(first, second, same_text=same_text)
    except ValueError:
        with pytest.raises(ValueError, match="no token in common"):
            compare(second, first, same_text=same_text)
        return
    reverse = compare(second, first, same_text=same_text)
    assert np.array_equal(forth.difference, -reverse.difference)
    assert forth.moved == reverse.moved and forth.largest() == reverse.largest()


@given(st.one_of(whole, texts), st.booleans())
@settings(max_examples=60)
def test_like_against_like_is_exactly_zero(tokens, same_text):
    common = compare(random_scope(tokens), random_scope(list(tokens)), same_text=same_text)
    assert not common.difference.any() and common.moved == 0 and common.largest() == []
    assert common.keys == [token.text for token in tokens] and not common.a.left_out


@given(texts, texts)
def test_two_texts_keep_their_order_and_what_is_the_same_stands_alone(a, b):
    a_groups, b_groups = align_texts(a, b)
    for groups in (a_groups, b_groups):
        flat = [i for group in groups for i in group]
        assert flat == sorted(set(flat)) and all(groups)
    alike = [(x, y) for x, y in zip(a_groups, b_groups, strict=True) if [a[i].text for i in x] == [b[i].text for i in y]]
    assert all(len(x) == 1 for x, _ in alike)
    front = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x.text != y.text), min(len(a), len(b)))
    assert a_groups[:front] == b_groups[:front] == [[i] for i in range(front)]


def test_pieces_of_words_against_bytes():
    text = " unhappy dogs 🌳"
    pieces = [
        sign("[CLS]"),
        Token(1, "un", 1, 3),
        Token(2, "##happy", 3, 8),
        Token(3, "dog", 9, 12),
        Token(4, "##s", 12, 13),
        Token(5, "[UNK]", 14, 15, special=True),
        sign("[SEP]", 15),
    ]
    bytes_ = [
        Token(1, " unh", 0, 4),
        Token(2, "appy", 4, 8),
        Token(3, " dogs", 8, 13),
        Token(4, " ", 13, 14),
        *(Token(5, f"<0x{b:02X}>", 14, 15, fragment=True) for b in "🌳".encode()),
    ]
    assert len(text) == 15
    assert align(pieces, bytes_) == ([[1, 2], [3, 4], [5]], [[0, 1], [2], [3, 4, 5, 6, 7]])


def test_signs_go_with_signs_at_the_same_place():
    a = [sign("[CLS]"), *tokens_ending_at([4]), sign("[SEP]", 12)]
    b = [*tokens_ending_at([4]), sign("<sep>", 12), sign("<cls>", 12)]
    assert align(a, b) == ([[1], [2], [3]], [[0], [1], [2, 3]])  # the beginning is missing; one end goes with two
    assert compare(random_scope(a), random_scope(b)).keys == ["abcd", "efghijkl", "[SEP] / <sep><cls>"]
    assert align([sign("<s>")], tokens_ending_at([])) == ([], [])


def test_what_one_of_them_did_not_read_is_in_no_group():
    a, b = (
        [sign("<s>"), *tokens_ending_at([3, 6, 9])],
        [sign("<s>"), *tokens_ending_at([3, 6, 9])[2:]],
    )  # no room for the first two
    assert align(a, b) == ([[0], [3], [4]], [[0], [1], [2]])
    common = compare(random_scope(a), random_scope(b))
    assert [token.text for token in common.a.left_out] == ["abc", "def"]
    rows = random_scope(a)[0][0][[0, 3, 4]]
    assert common.a.share == pytest.approx(rows[:, [1, 2]].sum(-1).mean(), abs=1e-6)
    assert align(tokens_ending_at([3]), tokens_ending_at([3], TEXT + " ")) == (
        [[0], [1]],
        [[0], [1]],
    )  # a space at the end that only one counts in
    assert align(tokens_ending_at([11]), [*tokens_ending_at([], TEXT[:11])]) == ([[0]], [[0]])
    with pytest.raises(ValueError, match="no token in common"):
        compare(random_scope(tokens_ending_at([])), random_scope([sign("<s>")]))


def test_a_changed_word_goes_with_what_stands_in_its_place():
    a, b = tokens_of("It", " was", " ti", "red", " ,", " home"), tokens_of("It", " was", " hot", " ,", " home")
    assert align_texts(a, b) == ([[0], [1], [2, 3], [4], [5]], [[0], [1], [2], [3], [4]])
    assert compare(random_scope(a), random_scope(b), same_text=False).queries == ["It", " was", " tired / hot", " ,", " home"]
    assert align_texts(a, tokens_of("It", " home")) == ([[0], [5]], [[0], [1]])
    longer = tokens_of("It", " was", " so", " very", " hot", " ,", " home")
    assert align_texts(a, longer)[1] == [[0], [1], [2, 3, 4], [5], [6]]  # one word against three
    assert align_texts([*tokens_of("x"), sign("[SEP]"), *tokens_of("y")], tokens_of("z")) == (
        [[0, 2]],
        [[0]],
    )  # a sign is in no word's place
    words = tokens_of("It", " was", " the", " day", " ,", " home")
    assert align_texts(words, tokens_of("It", " was", " a", " dog", " ,", " home")) == ([[i] for i in range(6)],) * 2


def test_a_causal_model_has_no_difference_before_the_first_change_and_none_in_what_is_to_come():
    writer = models.load("writer")
    first, second = (writer.trace(f"The dog ran because it was {word} and went home.") for word in ("tired", "hot"))
    common = compare(*(scope(trace.attention["self"]) for trace in (first, second)), [(3, 1), (3, 1)], same_text=False)
    place = common.queries.index(" tired / hot")
    np.testing.assert_allclose(common.difference[:place], 0, atol=1e-6)
    assert np.abs(common.difference[place:]).max() > 0.01
    assert np.array_equal(common.a.future, np.triu(np.ones_like(common.a.future), 1))
    assert not common.difference[common.a.future].any()
    np.testing.assert_allclose(common.moved, np.abs(common.difference).sum(-1).mean() / 2, rtol=1e-6)
    query, key = common.largest(1)[0]
    assert abs(common.difference[query, key]) == np.abs(common.difference).max()


def test_the_mean_of_a_layer_and_a_part_of_a_long_text():
    attention = models.load("writer").trace("The dog ran because it was tired and went home.").attention["self"]
    common = compare(scope(attention), scope(attention), [(1, None), (4, None)])
    np.testing.assert_allclose(common.difference, attention[1].mean(0) - attention[4].mean(0), atol=1e-7)
    part = compare(scope(attention, queries=(5, 9), keys=(2, 7)), scope(attention), [(1, 2), (1, 2)])
    np.testing.assert_allclose(part.a.weights, attention[1][2][5:10, 2:8])
    assert not part.difference.any() and part.a.future.tolist() == [[k > q for k in range(2, 8)] for q in range(5, 10)]
    assert part.a.share == 0 and part.b.share == pytest.approx(1 - attention[1][2][5:10, 2:8].sum(-1).mean(), abs=1e-6)


@pytest.mark.parametrize("text", ["", " ", "🌳 é\u0301 naïve  שלום", "a" * 300, "<|start|></s><mask>", "x\n\ty ", "\ud800"])
def test_any_text_compares_with_itself_and_with_another(text):
    writer = models.load("writer")
    own, other_scope = scope(writer.trace(text).attention["self"]), scope(writer.trace("The dog ran.").attention["self"])
    assert not compare(own, own).difference.any()
    common = compare(own, other_scope, same_text=False)
    assert common.queries[0] == "<|start|>" and np.isfinite(common.difference).all()
