import re
import subprocess
import sys

import numpy as np
import pytest

from tests.serving import ROOT
from viz.bertviz import (
    BUDGET,
    bertviz_bytes,
    bertviz_encoder_decoder_view,
    bertviz_head_view,
    bertviz_model_view,
    layers_that_fit,
)

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "<!--",
    "PYTHON_PARAMS",
    "\u2028",
    "{x}",
    " the",
    " the",
    "\ud800",
]
NASTY = HOSTILE[0]
SHOWN = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "<!--",
    "PYTHON_PARAMS",
    "U+2028",
    "{x}",
    "·the",
    "·the",
    "U+D800",
]


def attention(layers: int, heads: int, n: int, keys: int | None = None) -> np.ndarray:
    scores = np.exp(np.random.default_rng(0).standard_normal((layers, heads, n, keys or n)))
    weights = scores if keys else np.tril(scores)
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


@pytest.fixture
def show(new_page, tmp_path):
    """Opens a page from a file; what its console said in anger and asked in dialogs is in `.complaints`."""

    def open_page(html: str, dark: bool = False):
        page = new_page(dark=dark)
        page.complaints = []
        page.on("console", lambda message: page.complaints.append(message.text) if message.type in ("error", "warning") else None)
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        file = tmp_path / "view.html"
        file.write_text(html, encoding="utf-8")
        page.goto(file.as_uri())
        page.locator("svg").first.wait_for()
        return page

    return open_page


def test_the_head_view_draws_every_token_and_every_visible_weight(show):
    weights = attention(2, 4, len(HOSTILE))
    page = show(bertviz_head_view({1: weights[0], 5: weights[1]}, HOSTILE, layer=5))
    assert page.locator("#left text").all_text_contents() == SHOWN
    assert page.locator("#right text").all_text_contents() == SHOWN
    assert page.locator("#layer option").all_text_contents() == ["1", "5"] and page.locator("#layer").input_value() == "5"
    assert page.locator("#attention line").count() == int((weights[1].round(4) >= 1 / 510).sum())
    assert page.complaints == [] and page.locator("img").count() == 0


def test_another_layer_draws_other_weights(show):
    weights = np.zeros((2, 2, 3, 3), np.float32)
    weights[0, :, :, 0] = 1  # in layer 0 everything looks at the first token
    weights[1, 0] = np.eye(3)  # in layer 1 one head looks at the token itself
    page = show(bertviz_head_view(weights, [" a", " b", " c"]))
    ends = "lines => lines.map(line => [+line.getAttribute('left-token-index'), +line.getAttribute('right-token-index')])"
    assert page.locator("#attention line").evaluate_all(ends) == [[0, 0], [1, 0], [2, 0]] * 2
    page.locator("#layer").select_option("1")
    assert page.locator("#attention line").evaluate_all(ends) == [[0, 0], [1, 1], [2, 2]]
    assert page.complaints == []


def test_pointing_at_a_token_leaves_only_its_lines(show):
    page = show(bertviz_head_view(attention(1, 2, 4), [" a", " b", " c", " d"]))
    page.locator("#left text").nth(2).hover()
    left = page.locator("#attention line[visibility=visible]").evaluate_all("l => l.map(x => x.getAttribute('left-token-index'))")
    assert left == ["2"] * 6  # causal: three keys, two heads
    assert page.complaints == []


def test_queries_and_keys_may_differ(show):
    page = show(bertviz_head_view(attention(1, 2, 2, keys=5), [" a", " b"], list("vwxyz")))
    assert page.locator("#left text").count() == 2 and page.locator("#right text").count() == 5
    assert page.locator("#attention line").count() == 2 * 2 * 5


@pytest.mark.parametrize("dark", [False, True])
def test_the_model_view_draws_every_head_and_enlarges_one(show, dark):
    weights = attention(3, 4, len(HOSTILE))
    page = show(bertviz_model_view(dict(zip([0, 2, 7], weights, strict=True)), HOSTILE), dark)
    assert page.locator(".attn_background").count() == 12
    assert page.locator("line").count() == int((weights.round(4) >= 1 / 510).sum())
    page.mouse.click(*_middle(page.locator("#attn_background_2_3").bounding_box()))
    assert page.get_by_text("Layer 7, Head 3").is_visible()
    assert page.locator("text.token").all_text_contents() == SHOWN * 2
    assert page.complaints == []


def _middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize(("theme", "ink"), [("light", "rgb(29, 36, 48)"), ("dark", "rgb(233, 236, 241)")])
def test_the_theme_given_wins_over_that_of_the_machine(show, theme, ink):
    for view in (bertviz_head_view, bertviz_model_view):
        page = show(view(attention(1, 2, 3), list("abc"), theme=theme), dark=theme == "light")
        assert page.locator("svg text").first.evaluate("text => getComputedStyle(text).fill") == ink


@pytest.mark.parametrize("view", [bertviz_head_view, bertviz_model_view])
def test_the_page_holds_its_data_once_and_names_no_outside_script(view):
    page = view(np.full((1, 1, 2, 2), 0.1234), [" unmistakable", " twice"])
    assert page.count(".1234") == 4 and page.count("unmistakable") == 2  # on the left, and on the right
    assert not re.search(r"<script[^>]+src|<link\s|cdnjs|https?://[^\s\"']+\.min", page)


def test_the_size_promised_is_not_exceeded():
    for layers, heads, n in [(1, 1, 1), (2, 4, 15), (1, 8, 128), (6, 8, 64)]:
        page = bertviz_head_view(np.full((layers, heads, n, n), 0.1234, np.float32), [" word"] * n)
        assert len(page.encode()) <= bertviz_bytes(layers, heads, n) <= 2 * len(page.encode())


def test_the_layers_offered_fit_and_one_more_would_not():
    assert layers_that_fit(6, 8, 15) == layers_that_fit(6, 8, 128) == [0, 1, 2, 3, 4, 5]
    fit = layers_that_fit(96, 12, 128, around=50)
    assert 50 in fit and fit == list(range(fit[0], fit[-1] + 1))
    assert bertviz_bytes(len(fit), 12, 128) <= BUDGET < bertviz_bytes(len(fit) + 1, 12, 128)
    assert len(layers_that_fit(96, 12, 128, around=95)) == len(layers_that_fit(96, 12, 128, around=0)) == len(fit)
    assert layers_that_fit(6, 8, 1024) == [], "eight million lines freeze a browser"


def test_the_model_view_draws_all_its_layers_at_once_so_fewer_fit():
    assert layers_that_fit(6, 8, 15, view="model") == [0, 1, 2, 3, 4, 5]
    assert 3 in layers_that_fit(6, 8, 128, around=3, view="model") != layers_that_fit(6, 8, 128)


def test_what_does_not_fit_together_is_refused():
    weights = attention(2, 2, 3)
    for wrong in ({"layer": 2}, {"heads": [2]}, {"keys": ["a"]}):
        with pytest.raises(ValueError):
            bertviz_head_view(weights, list("abc"), **wrong)
    for attention_of_another_shape in (weights[0], {}, weights[:, :, :0]):
        with pytest.raises(ValueError, match="is not"):
            bertviz_head_view(attention_of_another_shape, list("abc"))


def test_no_heavy_library_is_loaded_for_a_picture():
    check = (
        "import sys, viz.bertviz as v, numpy; v.bertviz_head_view(numpy.ones((1, 1, 1, 1)), ['a']); print('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True).stdout == "False\n"


ENDS = "lines => lines.map(line => [+line.getAttribute('left-token-index'), +line.getAttribute('right-token-index')])"


def eye(layers: int, queries: int, keys: int, shift: int = 0) -> np.ndarray:
    """One head; layer l looks `l + shift` keys further."""
    return np.stack([np.eye(queries, keys, k=layer + shift) for layer in range(layers)])[:, None].astype(np.float32)


def test_an_encoder_decoder_has_a_menu_and_each_attention_its_own_layers(show):
    page = show(
        bertviz_encoder_decoder_view(
            eye(3, 4, 4), eye(2, 2, 2), eye(2, 2, 4, shift=1), list("abcd"), ["x", NASTY], first="cross", layer=1
        )
    )
    lines, layer, which = page.locator("#attention line"), page.locator("#layer"), page.locator("#filter")
    assert which.locator("option").all_text_contents() == ["Encoder", "Decoder", "Cross"] and which.input_value() == "2"
    assert page.locator("#left text").all_text_contents() == ["x", NASTY]
    assert page.locator("#right text").all_text_contents() == list("abcd")
    assert lines.evaluate_all(ENDS) == [[0, 2], [1, 3]]
    offered = "all => all.filter((one) => !one.disabled && !one.hidden).map((one) => one.value)"
    assert layer.locator("option").evaluate_all(offered) == ["0", "1"]
    which.select_option("Encoder")
    assert lines.evaluate_all(ENDS) == [[0, 1], [1, 2], [2, 3]]
    layer.select_option("2")
    assert lines.evaluate_all(ENDS) == [[0, 2], [1, 3]]
    which.select_option("Decoder")  # which has no layer 2
    assert layer.input_value() == "1" and lines.evaluate_all(ENDS) == [[0, 1]]
    assert layer.locator("option").evaluate_all(offered) == ["0", "1"]
    which.select_option("Encoder")
    layer.select_option("0")
    assert lines.evaluate_all(ENDS) == [[i, i] for i in range(4)]
    assert page.complaints == [] and page.locator("img").count() == 0


def test_a_pair_of_texts_has_a_menu_of_who_looks_at_whom(show):
    weights = np.full((1, 1, 5, 5), 0.2, np.float32)
    page = show(bertviz_head_view(weights, list("abcde"), second=2))
    sizes = {"All": 25, "Sentence A -> Sentence A": 4, "Sentence B -> Sentence B": 9, "Sentence A -> Sentence B": 6}
    for name, lines in sizes.items():
        page.locator("#filter").select_option(name)
        assert page.locator("#attention line").count() == lines
    assert page.locator("#left text").all_text_contents() == ["a", "b"]
    assert page.locator("#right text").all_text_contents() == ["c", "d", "e"]
    for wrong in ({"second": 0}, {"second": 5}, {"second": 2, "keys": list("abcde")}):
        with pytest.raises(ValueError, match="second of two texts"):
            bertviz_head_view(weights, list("abcde"), **wrong)
    assert page.complaints == []


def test_attentions_that_bertviz_cannot_show_together_are_refused():
    encoder, decoder = eye(3, 4, 4), eye(2, 2, 2)
    for wrong in (
        {},
        {"encoder": encoder, "first": "cross"},
        {"encoder": encoder, "decoder": np.repeat(decoder, 2, axis=1)},
        {"encoder": {2: encoder[0]}, "decoder": decoder},
        {"decoder": decoder, "layer": 2},
        {"decoder": decoder, "heads": [1]},
        {"cross": decoder},
    ):
        with pytest.raises(ValueError):
            bertviz_encoder_decoder_view(**wrong, encoder_tokens=list("abcd"), decoder_tokens=list("xy"))
