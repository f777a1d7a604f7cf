"""Numbers about heads, on attention whose numbers are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import entropy, head_scores, head_statistics, head_summary, prediction_entropy, surprise
from analysis.heads import looks
from analysis.samples import repeated_words
from analysis.statistics import split_attention
from models import Attention, Token, load
from models.trace import Trace


def tokens(ids: list[int]) -> list[Token]:
    return [Token(id, str(id), i, i + 1) for i, id in enumerate(ids)]


def trace_of(weights: np.ndarray, ids: list[int]) -> Trace:
    return Trace("", tokens(ids), {"self": Attention.from_arrays(weights, tokens(ids), tokens(ids))}, {})


def test_entropy_of_known_rows():
    even = np.tril(np.ones((5, 5))) / np.arange(1, 6)[:, None]
    sharp = np.eye(5)
    attention = Attention.from_arrays(np.stack([even, sharp])[None], tokens([0] * 5), tokens([0] * 5))
    result = entropy(attention)
    np.testing.assert_allclose(result[0, 0], np.log(np.arange(1, 6)), atol=1e-6)
    np.testing.assert_allclose(result[0, 1], 0, atol=1e-12)


def test_summary_of_a_head_that_looks_back_by_one():
    weights = np.eye(6, k=-1)
    weights[0, 0] = 1
    summary = head_summary(weights)
    assert summary.previous == 1 and summary.first == pytest.approx(1 / 5) and summary.itself == 0
    assert summary.entropy == pytest.approx(0)
    assert head_summary(np.ones((1, 1))).previous is None
    with pytest.raises(ValueError, match="as many queries as keys"):
        head_summary(np.ones((2, 3)))


@given(count=st.integers(2, 9), causal=st.booleans(), seed=st.integers(0, 999))
def test_a_heads_attention_is_divided_into_shares_that_sum_to_one(count, causal, seed):
    weights = np.random.default_rng(seed).random((count, count)) * (np.tri(count) if causal else 1)
    weights /= weights.sum(-1, keepdims=True)
    shares = split_attention(weights)
    assert sum(shares.values()) == pytest.approx(1) and min(shares.values()) >= 0
    summary = head_summary(weights)
    assert shares["previous"] == pytest.approx(summary.previous) and shares["itself"] == pytest.approx(summary.itself)
    assert shares["first"] == pytest.approx(summary.first - weights[1, 0] / (count - 1)), "there it is the one before"
    assert not causal or shares["next"] == 0


def test_perfect_heads_score_one():
    ids = [9, 1, 2, 3, 1, 2, 3]
    previous = np.eye(7, k=-1)
    previous[0, 0] = 1
    induction = np.zeros((7, 7))
    induction[:, 0] = 1
    for query, key in ((4, 2), (5, 3), (6, 4)):
        induction[query] = np.eye(7)[key]
    duplicate = np.zeros((7, 7))
    duplicate[:, 0] = 1
    for query, key in ((4, 1), (5, 2), (6, 3)):
        duplicate[query] = np.eye(7)[key]
    scores = looks(trace_of(np.stack([previous, induction, duplicate])[None], ids))
    assert scores["previous"][0, 0] == 1
    assert scores["induction"][0].tolist() == [0, 1, 0]
    assert scores["duplicate"][0, 2] == 1 and scores["duplicate"][0, 1] < 0.5


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=9), st.booleans(), st.integers(0, 99))
def test_scores_of_heads_are_what_a_plain_loop_finds(ids, both_ways, seed):
    count, generator = len(ids), np.random.default_rng(seed)
    weights = generator.dirichlet(np.ones(count), (1, 2, count))
    if not both_ways:
        weights = np.tril(weights)
        weights /= weights.sum(-1, keepdims=True)
    scores = looks(trace_of(weights, ids))
    for head in range(2):
        weights_on = {kind: [] for kind in scores}
        for query in range(1, count):
            row, earlier = weights[0, head, query], [key for key in range(query) if ids[key] == ids[query]]
            weights_on["previous"].append(row[query - 1])
            weights_on["current"].append(row[query])
            weights_on["first"].append(row[0])
            weights_on["separator"].append(0)  # none of these tokens parts a text
            if query + 1 < count:
                weights_on["next"].append(row[query + 1])
            if earlier:
                weights_on["duplicate"].append(sum(row[key] for key in earlier))
            if after := [key + 1 for key in earlier if key + 1 < query]:
                weights_on["induction"].append(sum(row[key] for key in after))
        for kind, values in weights_on.items():
            expected = np.mean(values) if values else np.nan
            np.testing.assert_allclose(scores[kind][0, head], expected, atol=1e-6, err_msg=kind)


def test_punctuation_and_special_tokens_part_a_text_the_first_and_itself_do_not():
    text_tokens = [Token(i, text, i, i + 1, special=text == "[SEP]") for i, text in enumerate(["[SEP]", "a", ",", "b", "[SEP]"])]
    weights = np.array([[[[0.2, 0.1, 0.3, 0.1, 0.3]] * 5]])
    scores = looks(Trace("", text_tokens, {"self": Attention.from_arrays(weights, text_tokens, text_tokens)}, {}))
    assert scores["separator"][0, 0] == pytest.approx((0.6 + 0.3 + 0.6 + 0.3) / 4)


def test_surprise_and_entropy_of_a_fair_die():
    logits = np.zeros((3, 8), dtype=np.float32)
    trace = Trace("", tokens([1, 2, 3]), {}, {"self": logits[None]}, unembed=lambda hidden: hidden)
    np.testing.assert_allclose(surprise(trace)[1:], 3)
    assert np.isnan(surprise(trace)[0])
    assert prediction_entropy(logits[0]) == pytest.approx(3)


def test_surprise_is_what_the_prediction_left():
    writer = load("writer")
    bits = surprise(writer.trace("Once upon a time"))
    probability_of = {prediction.text: prediction.probability for prediction in writer.predict("Once upon a", top=50)}
    assert 2.0 ** -bits[-1] == pytest.approx(probability_of[" time"], rel=1e-4)
    assert len(surprise(writer.trace(""))) == 1


def test_repeated_words_repeat_token_by_token():
    writer = load("writer")
    ids = [token.id for token in writer.tokenize(repeated_words(writer))][1:]
    assert len(ids) % 2 == 0 and ids[: len(ids) // 2] == ids[len(ids) // 2 :]


def test_the_writer_has_a_previous_token_head():
    scores = head_scores(load("writer"))
    assert scores["previous"].max() > 0.5
    assert ((scores.drop(columns=["layer", "head"]) >= 0) & (scores.drop(columns=["layer", "head"]) <= 1 + 1e-6)).all().all()


def random_attention(layers: int, heads: int, queries: int, keys: int | None = None) -> Attention:
    """Causal within one text, or, where keys are given, between two."""
    generator = np.random.default_rng(0)
    scores = 2 * generator.normal(size=(layers, heads, queries, keys or queries))
    if keys is None:
        scores = np.where(np.tri(queries, dtype=bool), scores, -np.inf)
    powers = np.exp(scores)
    side = tokens(list(range(queries)))
    key_side = side if keys is None else [Token(7, "k", i, i + 1, segment=1) for i in range(keys)]
    return Attention.from_arrays(powers / powers.sum(-1, keepdims=True), side, key_side)


def test_statistics_of_heads_whose_numbers_are_known():
    n = 6
    even, back, sink = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None], np.eye(n, k=-1), np.zeros((n, n))
    back[0, 0], sink[:, 0] = 1, 1
    table = head_statistics(Attention.from_arrays(np.stack([even, back, sink])[None], tokens([0] * n), tokens([0] * n)))
    assert table["head"].tolist() == [0, 1, 2] and table["layer"].tolist() == [0, 0, 0]
    assert table["entropy"].tolist() == pytest.approx([np.log(np.arange(2, n + 1)).mean(), 0, 0], abs=1e-6)
    assert table["bits"].tolist() == pytest.approx(table["entropy"] / np.log(2))
    assert table["evenness"].tolist() == pytest.approx([1, 0, 0], abs=1e-6)
    assert table["distance"].tolist() == pytest.approx([np.arange(1, n).mean() / 2, 1, np.arange(1, n).mean()], abs=1e-6)
    assert table["first"].tolist() == pytest.approx([(1 / np.arange(2, n + 1)).mean(), 1 / 5, 1], abs=1e-6)
    assert table["previous"].tolist() == pytest.approx([(1 / np.arange(2, n + 1)).mean(), 1, 1 / 5], abs=1e-6)
    assert table["itself"].tolist() == pytest.approx([(1 / np.arange(2, n + 1)).mean(), 0, 0], abs=1e-6)


@pytest.mark.parametrize(("heads", "queries"), [(1, 5), (2, 1), (5, 9), (3, 130)])
def test_specialisation_and_diversity_are_the_norms_written_out(heads, queries):
    attention = random_attention(2, heads, queries)
    table = head_statistics(attention)
    for layer in range(2):
        maps, rows = attention[layer].astype(float), table[table["layer"] == layer]
        mean = maps.mean(0)
        assert rows["specialisation"].tolist() == pytest.approx([np.linalg.norm(head_map - mean) for head_map in maps], abs=1e-6)
        sums = [sum(np.linalg.norm(head_map - other_map) for other_map in maps) for head_map in maps]
        assert rows["diversity"].tolist() == pytest.approx(sums, abs=1e-5)


def test_statistics_agree_with_the_summary_of_each_head():
    attention = random_attention(2, 3, 8)
    for row in head_statistics(attention).itertuples():
        facts = head_summary(attention[row.layer][row.head])
        expected = (facts.entropy, facts.first, facts.previous, facts.itself)
        assert (row.entropy, row.first, row.previous, row.itself) == pytest.approx(expected, abs=1e-6)


def test_statistics_between_two_texts_leave_out_what_needs_one():
    attention = random_attention(2, 3, 4, 6)
    table = head_statistics(attention)
    assert table[["distance", "previous", "itself"]].isna().all().all()
    assert table["entropy"].tolist() == pytest.approx(entropy(attention).mean(-1).ravel().tolist())
    assert table["evenness"].between(0, 1).all()


def test_statistics_of_one_token():
    table = head_statistics(random_attention(1, 2, 1))
    assert table["entropy"].tolist() == [0, 0] and table["evenness"].isna().all() and table["first"].tolist() == [1, 1]


def test_whoever_no_longer_wants_statistics_stops_them():
    def enough(share: float, words: str) -> None:
        if share > 0.4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        head_statistics(random_attention(4, 2, 3), enough)
