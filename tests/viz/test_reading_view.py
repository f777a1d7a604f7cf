"""What the reading view sends of several heads, and of a number a token."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from viz import View, reading_view

WORDS = ["The", " dog", " ran"]
TOKENS = [SimpleNamespace(id=i, text=text, special=False, fragment=False) for i, text in enumerate(WORDS)]


def sent(view: View) -> tuple[dict, dict[str, np.ndarray]]:
    length = int.from_bytes(view.data[:4], "little")
    header = json.loads(view.data[4 : 4 + length])
    start = -(-(4 + length) // 8) * 8
    found = {
        name: np.frombuffer(view.data, one["dtype"], int(np.prod(one["shape"])), start + one["offset"]).reshape(one["shape"])
        for name, one in header["arrays"].items()
    }
    return header, found


def test_several_heads_are_shaded_by_their_mean_and_each_is_there():
    heads = np.stack([np.eye(3), np.tri(3) / np.arange(1, 4)[:, None]])
    header, found = sent(reading_view(TOKENS, heads))
    np.testing.assert_allclose(found["heads"], heads, rtol=2**-11)
    np.testing.assert_allclose(found["weights"], heads.mean(0), rtol=2**-10)
    assert header["heads"]["names"] == ["H0", "H1"]
    for page in ("light", "dark"):
        assert len(set(header["heads"][page])) == 2


def test_one_head_is_sent_as_one():
    one = sent(reading_view(TOKENS, np.eye(3)))
    assert "heads" not in one[0] and list(one[1]) == ["weights"]


@pytest.mark.parametrize(
    ("quantity", "on", "ends"),
    [
        ([2.0, 0.5, np.nan], [1, 0.25, 0], ("0", "2")),
        ([-1.0, 1.0, 0.0], [0, 1, 0.5], ("−1", "1")),
        ([0.0, 0.0, 0.0], [0, 0, 0], ("0", "0")),
        ([np.nan] * 3, [0, 0, 0], ("0", "0")),
    ],
)
def test_a_quantity_runs_from_nothing_to_the_largest(quantity, on, ends):
    header, found = sent(reading_view(TOKENS, None, quantity=quantity, unit="bits"))
    np.testing.assert_allclose(found["on"], on)
    assert (header["quantity"]["low"], header["quantity"]["high"]) == ends
    assert [word == "–" for word in header["quantity"]["words"]] == np.isnan(quantity).tolist()


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
