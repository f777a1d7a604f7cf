"""Numbers about heads, on attention whose numbers are known."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import entropy, head_scores, head_summary, prediction_entropy, surprise
from analysis.heads import looks, repeated_words
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


def test_perfect_heads_score_one():
    ids = [9, 1, 2, 3, 1, 2, 3]
    previous = np.eye(7, k=-1)
    induction = np.zeros((7, 7))
    induction[:, 0] = 1
    for query, key in ((4, 2), (5, 3), (6, 4)):
        induction[query] = np.eye(7)[key]
    duplicate = np.zeros((7, 7))
    duplicate[:, 0] = 1
    for query, key in ((4, 1), (5, 2), (6, 3)):
        duplicate[query] = np.eye(7)[key]
    found = looks(trace_of(np.stack([previous, induction, duplicate])[None], ids))
    assert found["previous"][0, 0] == 1
    assert found["induction"][0].tolist() == pytest.approx([0, 1, 0], abs=0.4) and found["induction"][0, 1] == 1
    assert found["duplicate"][0, 2] == 1 and found["duplicate"][0, 1] < 0.5


def test_surprise_and_entropy_of_a_fair_die():
    logits = np.zeros((3, 8), dtype=np.float32)
    trace = Trace("", tokens([1, 2, 3]), {}, {"self": logits[None]}, unembed=lambda hidden: hidden)
    np.testing.assert_allclose(surprise(trace)[1:], 3)
    assert np.isnan(surprise(trace)[0])
    assert prediction_entropy(logits[0]) == pytest.approx(3)


def test_surprise_is_what_the_prediction_left():
    writer = load("writer")
    bits = surprise(writer.trace("Once upon a time"))
    said = {one.text: one.probability for one in writer.predict("Once upon a", top=50)}
    assert 2.0 ** -bits[-1] == pytest.approx(said[" time"], rel=1e-4)
    assert len(surprise(writer.trace(""))) == 1


def test_repeated_words_repeat_token_by_token():
    writer = load("writer")
    ids = [token.id for token in writer.tokenize(repeated_words(writer))][1:]
    assert len(ids) % 2 == 0 and ids[: len(ids) // 2] == ids[len(ids) // 2 :]


def test_the_writer_has_a_previous_token_head():
    scores = head_scores(load("writer"))
    assert scores["previous"].max() > 0.5
    assert ((scores.drop(columns=["layer", "head"]) >= 0) & (scores.drop(columns=["layer", "head"]) <= 1 + 1e-6)).all().all()
