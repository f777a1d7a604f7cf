import base64
import json

import numpy as np
import pytest

from viz.heatmap import heatmap

HOSTILE = [
    "<b>bold</b>",
    ' <a href="http://x.invalid/">go</a>',
    "<img src=x onerror=alert(1)>",
    "$x^2$",
    "&lt;",
    "a<br>c",
    "%{z}",
    "\ud800",
]


def causal(n: int, seed: int = 0) -> np.ndarray:
    weights = np.tril(np.exp(3 * np.random.default_rng(seed).standard_normal((n, n))))
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("n", [1, 15, 128, 256])
def test_every_weight_is_a_cell_in_per_cent(n):
    figure = heatmap([" the"] * n, [" the"] * n, causal(n))
    np.testing.assert_allclose(figure.data[0].z, 100 * causal(n), atol=1e-4)
    assert len(set(figure.data[0].x)) == n, "equal tokens must not fall into one column"


def test_the_query_goes_down_and_the_key_goes_across():
    figure = heatmap([" a", " b"], [" x", " y", " z"], np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]))
    assert figure.layout.yaxis.title.text == "from (query)" and figure.layout.xaxis.title.text == "to (key)"
    assert figure.layout.yaxis.autorange == "reversed"
    assert list(figure.layout.yaxis.ticktext) == ["·a", "·b"] and list(figure.layout.xaxis.ticktext) == ["·x", "·y", "·z"]


def test_heads_share_a_scale_unless_one_is_asked_for():
    weights = np.full((2, 2), 0.04)
    assert heatmap("ab", "ab", weights).data[0].zmax == 100
    assert heatmap("ab", "ab", weights, scale="own").data[0].zmax == pytest.approx(4)
    assert heatmap("ab", "ab", np.zeros((2, 2)), scale="own").data[0].zmax > 0


@pytest.mark.parametrize("n", [41, 128, 256, 1000])
def test_tick_text_is_thinned_so_that_it_can_be_read(n):
    figure = heatmap([" word"] * n, [" word"] * n, np.eye(n))
    assert 20 <= len(figure.layout.xaxis.ticktext) <= 40
    assert list(figure.layout.xaxis.tickvals)[:2] == [0, -(-n // 40)]


def test_a_large_head_travels_as_bytes_not_as_numbers():
    sent = json.loads(heatmap([" a"] * 256, [" a"] * 256, causal(256)).to_json())["data"][0]["z"]
    assert sent["dtype"] == "f4" and len(base64.b64decode(sent["bdata"])) == 4 * 256 * 256


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2,), (0, 0)])
def test_weights_that_do_not_fit_the_tokens_are_refused(shape):
    with pytest.raises(ValueError, match="do not fit"):
        heatmap([" a", " b"], [" a", " b"] if shape != (0, 0) else [], np.zeros(shape))


@pytest.mark.parametrize("dark", [False, True])
def test_text_stays_text_in_the_browser(new_page, tmp_path, dark):
    n = len(HOSTILE)
    page = new_page(dark=dark)
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    figure = heatmap(HOSTILE, HOSTILE, np.full((n, n), 0.1234567), title="<b>L2</b>")
    figure.write_html(tmp_path / "figure.html", include_plotlyjs=True)
    page.goto((tmp_path / "figure.html").as_uri())
    page.locator(".heatmaplayer image").wait_for(state="attached")

    written = page.locator(".xtick").all_text_contents()
    assert written[0] == "<b>bold</b>" and written[3:] == ["$x^2$", "&lt;", "a<br>c", "%{z}", "U+D800"]
    assert page.locator(".gtitle").text_content() == "<b>L2</b>"
    assert page.locator(".main-svg a").count() == 0 and not dialogs

    box = page.locator(".nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5 / n, box["y"] + box["height"] * 1.5 / n)
    page.locator(".hoverlayer text").first.wait_for()
    said = page.locator(".hoverlayer").text_content()
    assert said == 'from “ <a href="http://x.invalid/">go</a>” (1) to “<b>bold</b>” (0): 12.3 %'
