"""A view's bytes come out in JavaScript as they went in, and its page is harmless and stands alone."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import zlib
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import viz
from tests.node import printed
from tests.serving import ROOT
from viz import modules
from viz.numbers import halved, percent, signed
from viz.view import View, kinds, pack

NASTY = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "{{7*7}}", "\u2028", "\ud800", "\x00", "'\"&"]


def tokens(*texts: str) -> list[SimpleNamespace]:
    return [SimpleNamespace(id=i, text=text, special=False, fragment=False) for i, text in enumerate(texts)]


def views(*texts: str) -> list[View]:
    count = len(texts)
    weights = np.tril(np.ones((count, count), dtype=np.float32)) / np.arange(1, count + 1)[:, None]
    return [
        viz.token_chips(tokens(*texts), chosen=-1, positions=True, surprise=[None] * count),
        viz.prediction_bars(list(texts), [0.5] * count, ids=list(range(count)), logits=[0.0] * count),
        viz.reading_view(tokens(*texts), weights),
        viz.model_view(np.stack([[weights]]), chosen=(0, 0), notes=[[" ".join(texts)]]),
    ]


def test_bytes_come_out_as_they_went_in():
    rng = np.random.default_rng(0)
    halves = np.concatenate([rng.random(20), [0, 1, 6e-8, 6e-5, 65504, -2.5]]).astype(np.float16)
    data = pack(
        {"text": "שלום 🙂 \x00 \u2028"},
        whole=np.array([[1, -2], [3, 2**31 - 1]], dtype=np.int32),
        small=np.arange(7, dtype=np.uint8),
        half=halves.reshape(2, -1),
        none=np.zeros((0, 4), dtype=np.float16),
    )
    script = f"""
import {{ unpack }} from "./shared/bytes.js";
const data = new Uint8Array({list(data)});
const shift = new Uint8Array(data.length + 3); shift.set(data, 3);
for (const way of [data, data.buffer, shift.subarray(3)]) {{
  const {{ text, arrays }} = unpack(way);
  console.log(JSON.stringify([text, ...Object.values(arrays).map(({{ shape, data }}) => [shape, [...data]])]));
}}"""
    lines = printed(script).strip().split("\n")
    assert len(lines) == 3 and len(set(lines)) == 1
    text, whole, small, half, none = json.loads(lines[0])
    assert text == "שלום 🙂 \x00 \u2028"
    assert whole == [[2, 2], [1, -2, 3, 2**31 - 1]]
    assert small == [[7], list(range(7))]
    assert half[0] == [2, 13] and half[1] == halves.astype(float).tolist()
    assert none == [[0, 4], []]


def test_a_dtype_that_cannot_be_sent_is_refused_by_name():
    with pytest.raises(ValueError, match="weights is float64"):
        pack({}, weights=np.zeros(3))


def test_buffers_stand_on_multiples_of_eight():
    data = pack({"a": "b"}, one=np.zeros(3, dtype=np.uint8), two=np.ones(1, dtype=np.int32))
    length = int.from_bytes(data[:4], "little")
    start = -(-(4 + length) // 8) * 8
    directory = json.loads(data[4 : 4 + length])["arrays"]
    assert all(entry["offset"] % 8 == 0 for entry in directory.values()) and len(data) % 8 == 0
    assert data[start + directory["two"]["offset"] :][:4] == b"\x01\0\0\0"


@given(st.floats(0, 1))
def test_float16_keeps_three_digits_of_a_probability(p):
    assert abs(float(np.float16(p)) - p) <= max(p * 2**-11, 2**-25)


def test_a_share_that_is_sent_as_float16_is_written_as_it_is_beside_the_picture():
    """Of 0.9446, float16 alone would make 94.4 %."""
    values = np.random.default_rng(2).random(3000) ** np.tile([0.1, 1, 9], 1000)
    values = np.concatenate([values, [0.9446, 0.03124, 0.03126, 0.9997, 0.99941, 1e-5, 9e-6, 3e-6, 1, 0]])
    sent = halved(values)
    assert sent.dtype == np.float16 and np.abs(sent - values).max() < 6e-4
    script = 'import { percent } from "./shared/number.js";\n' + f"for (const p of {sent.tolist()}) console.log(percent(p));"
    assert printed(script).strip().split("\n") == [*map(percent, values)]
    assert np.isnan(halved(np.array([np.nan]))).all() and halved(np.array([-0.9446])) == -halved(np.array([0.9446]))


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1, "100 %"),
        (0.99996, "over 99.9 %"),
        (0.99941, "99.9 %"),
        (1 - 1e-9, "100 %"),
        (0.07944, "7.94 %"),
        (0.09996, "10.0 %"),
        (0.000123, "0.0123 %"),
        (1e-5, "0.00100 %"),
        (1e-9, "under 0.001 %"),
        (0, "0 %"),
        (float("nan"), "–"),
    ],
)
def test_a_probability_is_said_in_three_digits(p, text):
    assert percent(p) == text.replace(" %", "\u00a0%")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.5, "50.0 %"),
        (0, "0 %"),
        (-0.0118, "−1.18 %"),
        (-1.5, "−150 %"),
        (-0.99996, "−99.9 %"),
        (-1e-9, "over −0.001 %"),
        (float("nan"), "–"),
    ],
)
def test_a_share_below_0_has_a_minus(share, text):
    assert signed(share) == text.replace(" %", "\u00a0%")


def test_python_and_javascript_say_a_probability_alike():
    values = np.random.default_rng(1).random(300) ** 9
    values = np.append(values, [0.9997, 0.99941, 1 - 1e-9])
    script = f"""import {{ percent }} from "./shared/number.js";
for (const p of [...{values.tolist()}, 0, 1, 1e-9, NaN]) console.log(percent(p));"""
    assert printed(script).strip().split("\n") == [*map(percent, values), "0\u00a0%", "100\u00a0%", "under 0.001\u00a0%", "–"]


@pytest.mark.parametrize("view", views(*NASTY), ids=lambda view: view.kind)
def test_text_of_the_user_is_never_markup(view):
    page = view.to_html()
    assert "<script>alert" not in page and "<img" not in page
    assert page.count("</script>") == 1
    page.encode("utf-8")
    frame = view._repr_html_()
    assert frame.count("<") == 2  # the frame's own two tags
    assert unescape(re.search(r'srcdoc="([^"]*)"', frame)[1]) == page


@pytest.mark.parametrize("text", NASTY)
def test_a_caption_is_never_markup(text):
    """A caption quotes the text that a visitor typed."""
    view = views("a")[0]
    page = view.to_html(caption=text)
    captions = re.findall(r'<p class="caption">(.*?)</p>\n<script>', page, flags=re.S)
    assert [unescape(caption) for caption in captions] == [text]
    assert page.count("<") == view.to_html(caption="plain").count("<")


@pytest.mark.parametrize("view", views("a", " b"), ids=lambda view: view.kind)
def test_a_page_asks_nothing_of_the_outside(view):
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|<link|src=", view.to_html())


def test_large_data_stands_in_a_page_compressed_and_small_data_as_it_is():
    weights = np.tril(np.random.default_rng(0).random((4, 256, 256), dtype=np.float32) ** 20)
    for view in (
        viz.head_view(tokens(*["a"] * 256), tokens(*["a"] * 256), weights),
        viz.reading_view(tokens("a"), np.ones((1, 1))),
    ):
        page = view.to_html()
        held = base64.b64decode(re.search('const text = "([^"]*)"', page)[1])
        large = len(view.data) > 2**16
        assert (zlib.decompress(held) if large else held) == view.data
        assert ("const compressed = true" in page) == large
        assert not large or len(held) < len(view.data) / 2


def test_a_label_cannot_break_out_of_the_title():
    page = View("token_chips", viz.token_chips([]).data, "</title><script>alert(1)</script>").to_html()
    assert "<script>alert" not in page


@pytest.mark.parametrize("view", views(), ids=lambda view: view.kind)
def test_no_tokens_is_a_view_too(view):
    assert view.data and view.label


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: viz.token_chips(tokens("a", "b"), surprise=[1.0]),
        lambda: viz.prediction_bars(["a"], [0.1, 0.2]),
        lambda: viz.prediction_bars(["a"], [0.1], ids=[]),
        lambda: viz.reading_view(tokens("a", "b"), np.zeros((3, 3))),
        lambda: viz.reading_view(tokens("a"), np.ones((1, 1)), direction="up"),
        lambda: viz.model_view(np.zeros((2, 3, 3))),
        lambda: viz.model_view(np.zeros((1, 2, 3, 3)), notes=[["one"]]),
    ],
)
def test_shapes_that_do_not_agree_are_said_in_a_sentence(wrong):
    with pytest.raises(ValueError, match=r"\.$"):
        wrong()


@pytest.mark.parametrize("size", [1, 31, 32, 33, 100, 256])
def test_a_thumbnail_loses_no_spike(size):
    maps = np.zeros((1, 2, size, size), dtype=np.float32)
    spikes = np.random.default_rng(size).integers(0, size, (5, 2))
    maps[0, 1, spikes[:, 0], spikes[:, 1]] = 1
    side = min(size, 32)
    data = viz.model_view(maps, side=32).data
    length = int.from_bytes(data[:4], "little")
    quiet, spiked = np.frombuffer(data, np.uint8, 2 * side * side, -(-(4 + length) // 8) * 8).reshape(2, side, side)
    edges = np.arange(side + 1) * size // side
    cells = {tuple(np.searchsorted(edges, spike, "right") - 1) for spike in spikes}
    assert quiet.max() == 0
    assert {tuple(cell) for cell in np.argwhere(spiked == 255)} == cells
    assert (spiked > 0).sum() == len(cells)


def test_everything_that_is_public_is_there_and_nothing_is_imported_before_it_is_asked_for():
    check = "import sys, viz.modules; viz.modules.version(); assert not {'numpy', 'plotly'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=True)
    assert all(getattr(viz, name).__name__ == name for name in viz.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        viz.nothing  # noqa: B018


def test_every_view_is_known_by_its_kind():
    assert {"board", "head_view", "model_view", "token_chips"} <= kinds()
    assert all(View(kind, b"", "").assets().module in modules.sources() for kind in kinds())
