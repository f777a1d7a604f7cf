"""The data of a query-key view is what the forward gave, and what does not fit is refused in a sentence."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import models
from analysis.one_weight import query_key
from viz.view import pack
from viz.views.query_key_view import query_key_view


def token(text: str) -> SimpleNamespace:
    return SimpleNamespace(text=text, special=False, fragment=False)


def unpacked(data: bytes) -> dict[str, np.ndarray]:
    length = int.from_bytes(data[:4], "little")
    start = -(-(4 + length) // 8) * 8
    by_name = {}
    for name, entry in json.loads(data[4 : 4 + length])["arrays"].items():
        size = int(np.prod(entry["shape"]))
        by_name[name] = np.frombuffer(data, entry["dtype"], size, start + entry["offset"]).reshape(entry["shape"])
    return by_name


def parts(keys: int = 3, dims: int = 4, **changes) -> dict:
    ones = np.ones(keys, dtype=np.float32)
    return {
        "q": np.ones(dims),
        "k": np.ones((keys, dims)),
        "raw": ones,
        "scale": 0.5,
        "score": ones,
        "weight": ones / 3,
    } | changes


@settings(max_examples=40, deadline=None)
@given(arrays.arrays(np.float32, st.integers(0, 30), elements=st.floats(width=32)))
def test_float32_is_sent_bit_for_bit(values):
    assert unpacked(pack({"a": "é"}, odd=np.zeros(3, dtype=np.uint8), values=values))["values"].tobytes() == values.tobytes()


def test_every_number_of_the_forward_is_in_the_picture():
    attention = models.load("writer").trace("The cat sat on the mat.").attention["self"]
    steps = query_key(attention, 3, 2, -1)
    sent = unpacked(query_key_view(attention.queries[-1], attention.keys, **vars(steps)).data)
    assert np.array_equal(sent["weight"], attention[3][2, -1])
    assert np.array_equal(sent["q"], attention.q(3)[2, -1]) and np.array_equal(sent["k"], attention.k(3)[2])
    for name in ("raw", "score", "mask", "v_norm"):
        assert np.array_equal(sent[name], getattr(steps, name))


def test_without_a_choice_it_opens_at_the_largest_weight():
    view = query_key_view(token("q"), [token(t) for t in "abc"], **parts(weight=np.array([0.1, np.nan, 0.7])))
    length = int.from_bytes(view.data[:4], "little")
    assert json.loads(view.data[4 : 4 + length])["chosen"] == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"q": np.ones(5)},
        {"k": np.ones((2, 4))},
        {"k": np.ones(4)},
        {"raw": np.ones(2)},
        {"score": np.ones((3, 1))},
        {"weight": np.ones(4)},
        {"mask": np.ones(1)},
        {"v_norm": np.ones(2)},
        {"bias": np.ones(2)},
        {"unturned": np.ones(9)},
    ],
    ids=lambda wrong: f"{next(iter(wrong))}",
)
def test_shapes_that_do_not_agree_are_said_in_a_sentence(wrong):
    with pytest.raises(ValueError, match=rf"^.*\b{next(iter(wrong))} of shape .*\.$"):
        query_key_view(token("q"), [token(t) for t in "abc"], **parts(**wrong))


def test_the_page_is_harmless_and_asks_nothing_of_the_outside():
    nasty = "</script><script>alert(1)</script>" * 90
    page = query_key_view(token(nasty), [token(nasty), token("\ud800"), token("\x00")], **parts(), title="<b>L0</b>").to_html()
    assert "<script>alert" not in page and page.count("</script>") == 1
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|<link|src=", page)
    page.encode("utf-8")
