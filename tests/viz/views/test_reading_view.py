"""What the reading view sends of several heads, and of a number a token."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.test_scripts import called
from viz import View, percent, reading_view

WORDS = ["The", " dog", " ran"]
TOKENS = [SimpleNamespace(id=i, text=text, special=False, fragment=False) for i, text in enumerate(WORDS)]


def sent(view: View) -> tuple[dict, dict[str, np.ndarray]]:
    length = int.from_bytes(view.data[:4], "little")
    header = json.loads(view.data[4 : 4 + length])
    start = -(-(4 + length) // 8) * 8
    arrays = {
        name: np.frombuffer(view.data, entry["dtype"], int(np.prod(entry["shape"])), start + entry["offset"]).reshape(
            entry["shape"]
        )
        for name, entry in header["arrays"].items()
    }
    return header, arrays


def full(header: dict, rows: np.ndarray, count: int) -> np.ndarray:
    """Weights [..., query, key] as the page reads them: without a future, each row goes up to the diagonal."""
    if not header["packed"]:
        return rows
    maps = np.zeros((*rows.shape[:-1], count, count), dtype=rows.dtype)
    maps[..., *np.tril_indices(count)] = rows
    return maps


@given(st.integers(1, 9), st.integers(1, 12), st.booleans(), st.integers(0, 2**32 - 1))
def test_what_is_sent_is_the_weights_as_exactly_as_is_said(heads, count, causal, seed):
    weights = np.exp(np.random.default_rng(seed).normal(0, 3, (heads, count, count)))
    weights = np.tril(weights) if causal else weights
    weights /= weights.sum(-1, keepdims=True)
    tokens = [SimpleNamespace(id=i, text=" a", special=False, fragment=False) for i in range(count)]
    header, arrays = sent(reading_view(tokens, weights))
    assert header["packed"] == (causal and count > 1)
    mean, each = full(header, arrays["weights"], count), full(header, arrays["heads"], count)
    np.testing.assert_allclose(mean, weights.mean(0), rtol=1e-2, atol=1e-5)
    assert [*map(percent, mean.ravel())] == [*map(percent, weights.mean(0).ravel())], "the same three digits"
    assert ((mean > 0) == (weights.mean(0) > 0)).all(), "what is looked at a little is not said to be 0"
    assert np.abs(each / 255 - weights).max() <= 1 / 510 + 1e-6
    header, arrays = sent(reading_view(tokens, weights[0]))
    np.testing.assert_allclose(full(header, arrays["weights"], count), weights[0], rtol=1e-2, atol=1e-5)


def test_only_what_can_be_looked_at_has_a_share_in_the_table():
    """By hand: what is asked of, the other, the direction, and whether there never is a weight between them."""
    cases = {
        "back": ({"after": [], "second": -1, "causal": True}, {(1, 2, "from"): True, (1, 0, "to"): True, (2, 1, "from"): False}),
        "both ways": ({"after": [], "second": 2, "causal": False}, {(0, 3, "from"): False, (3, 0, "to"): False}),
        "said": (
            {"after": ["", "", "a", "b"], "second": -1, "causal": True},
            {(3, 3, "from"): True, (3, 2, "from"): False, (0, 1, "to"): True, (0, 3, "to"): False, (3, 2, "to"): True},
        ),
        "cross": (
            {"after": ["", "", "a", "b"], "second": 2, "causal": True},
            {(3, 1, "from"): False, (3, 2, "from"): True, (0, 2, "to"): False, (0, 1, "to"): True},
        ),
    }
    for header, expected in cases.values():
        arguments = [[header, *pair] for pair in expected]
        assert called("views/reading_view/weights.js", "unseen", *arguments) == [*expected.values()]


def test_what_is_not_a_number_is_drawn_as_nothing_and_counted():
    heads = np.full((2, 3, 3), 0.25)
    heads[0, 1, :2] = np.nan
    heads[1, 2, 0] = -np.inf
    header, arrays = sent(reading_view(TOKENS, heads))
    assert header["broken"] == 3 and np.isfinite(arrays["weights"]).all()
    assert (full(header, arrays["heads"], 3)[~np.isfinite(heads)] == 0).all()
    assert sent(reading_view(TOKENS, heads[0]))[0]["broken"] == 2 and sent(reading_view(TOKENS, np.eye(3)))[0]["broken"] == 0


def test_several_heads_are_shaded_by_their_mean_and_each_is_there():
    header, _ = sent(reading_view(TOKENS, np.stack([np.eye(3), np.tri(3) / np.arange(1, 4)[:, None]])))
    assert header["heads"]["names"] == ["H0", "H1"]
    assert len(set(header["heads"]["colours"])) == 2


def test_one_head_is_sent_as_one():
    view = sent(reading_view(TOKENS, np.eye(3)))
    assert "heads" not in view[0] and list(view[1]) == ["weights"]


@pytest.mark.parametrize(
    ("quantity", "on", "ends"),
    [
        ([2.0, 0.5, np.nan], [1, 0.25, 0], ("0", "2")),
        ([-1.0, 0.5, 0.0], [-1, 0.5, 0], ("−1", "1")),
        ([0.0, 0.0, 0.0], [0, 0, 0], ("0", "0")),
        ([np.nan] * 3, [0, 0, 0], ("0", "0")),
    ],
)
def test_a_quantity_runs_from_nothing_to_the_largest(quantity, on, ends):
    header, arrays = sent(reading_view(TOKENS, None, quantity=quantity, unit="bits"))
    np.testing.assert_allclose(arrays["on"], on)
    assert (header["quantity"]["low"], header["quantity"]["high"]) == ends
    assert header["quantity"].get("signed", False) == bool(np.nanmin([0, *quantity]) < 0)
    assert [word == "–" for word in header["quantity"]["words"]] == np.isnan(quantity).tolist()


def test_a_share_has_its_sign_wherever_it_stands():
    quantity = sent(reading_view(TOKENS, None, quantity=[37.5, np.nan, 0.0], unit="%"))[0]["quantity"]
    assert quantity == {"unit": "", "low": "0\u00a0%", "high": "37.5\u00a0%", "words": ["37.5\u00a0%", "–", "0\u00a0%"]}


def test_a_number_that_stands_apart_is_written_and_the_others_have_the_whole_scale():
    whole = sent(reading_view(TOKENS, None, quantity=[37.5, np.nan, 0.4], unit="%", whole=True))[0]["quantity"]
    assert whole["words"] == ["38\u00a0%", "–", "under 1\u00a0%"] and whole["high"] == "38\u00a0%", "as beginners read them"
    assert sent(reading_view(TOKENS, None, quantity=[1.0, 2.0, 3.0], diverging=True))[0]["quantity"]["diverging"]
    header, arrays = sent(reading_view(TOKENS, None, quantity=[80.0, 4.0, 1.0], unit="%", apart=0))
    np.testing.assert_allclose(arrays["on"], [20, 1, 0.25])
    assert header["quantity"] | {"high": "4\u00a0%", "apart": 0} == header["quantity"]
    assert header["quantity"]["words"][0] == "80\u00a0%"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: reading_view(TOKENS, np.ones((0, 3, 3))),
        lambda: reading_view(TOKENS, np.ones((2, 3, 4))),
        lambda: reading_view(TOKENS, np.ones((2, 3, 3)), names=["one"]),
        lambda: reading_view(TOKENS, np.ones((2, 3, 3)), colours=["#b43c00"]),
        lambda: reading_view(TOKENS, np.ones((1, 3, 3)), colours=["url(x)"]),
        lambda: reading_view(TOKENS, None, quantity=[1.0]),
        lambda: reading_view(TOKENS, None),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(wrong):
    with pytest.raises(ValueError, match=r"\.$"):
        wrong()
