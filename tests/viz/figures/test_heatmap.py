import base64
import json

import numpy as np
import pytest

from viz.figures.comparison import comparison
from viz.figures.heatmap import difference, heatmap, heatmap_grid
from viz.figures.style import on_page
from viz.palette import DARK, LIGHT, sequential

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


def test_pointing_at_the_empty_half_says_nothing():
    tokens, weights = [" a", " b", " c"], causal(3)
    weights[np.triu_indices(3, 1)] = np.nan
    for figure in (
        heatmap(tokens, tokens, weights),
        heatmap_grid(tokens, tokens, np.stack([weights, weights])),
        comparison(tokens, tokens, weights, weights, ("one", "two")),
    ):
        assert all(cells.hoverongaps is False for cells in figure.data)


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


@pytest.mark.parametrize(("theme", "dark"), [(LIGHT, False), (DARK, True)], ids=["light", "dark"])
def test_attention_has_the_accent_of_its_page_and_a_difference_keeps_its_own_scale(theme, dark):
    weights, wanted = np.full((2, 2), 0.4), sequential(theme["accent"])
    assert on_page(heatmap("ab", "ab", weights), dark).data[0].colorscale == wanted
    assert on_page(heatmap_grid("ab", "ab", weights[None]), dark).layout.coloraxis.colorscale == wanted
    both = on_page(comparison("ab", "ab", weights, weights.T), dark)
    assert both.layout.coloraxis.colorscale == wanted and both.data[0].colorscale != wanted
    again = on_page(on_page(heatmap("ab", "ab", weights), not dark), dark)
    assert again.data[0].colorscale == wanted, "a page can change its colours"


def test_on_a_phone_a_finger_moves_the_page_and_no_room_is_left_below_squares():
    wide, narrow = (on_page(heatmap(["a"] * 30, ["a"] * 30, causal(30), "L0"), False, narrow, narrow) for narrow in (False, True))
    assert narrow.layout.dragmode is False and wide.layout.dragmode is None
    assert narrow.layout.height < wide.layout.height
    above = [(1 - figure.data[0].colorbar.y) * figure.layout.height for figure in (wide, narrow)]
    assert above[0] == pytest.approx(above[1]), "the colour bar is as far from the top"
    assert len(narrow.layout.xaxis.ticktext) == len(narrow.layout.yaxis.tickvals) == 15, "names do not lie on each other"
    for rows, columns in ((4, 40), (90, 30)):  # never more than before, and never nothing
        texts = ["a"] * rows, ["a"] * columns
        plain, on_phone = (on_page(heatmap(*texts, np.ones((rows, columns))), False, False, narrow) for narrow in (False, True))
        inside = on_phone.layout.height - on_phone.layout.margin.t
        assert inside > 100 and on_phone.layout.height <= plain.layout.height


@pytest.mark.parametrize("n", [41, 128, 256, 1000])
def test_tick_text_is_thinned_so_that_it_can_be_read(n):
    figure = heatmap([f"w{i}" for i in range(n)], [f"w{i}" for i in range(n)], np.eye(n))
    axis = figure.layout.xaxis
    assert 20 <= len(axis.ticktext) <= 40 and next(iter(axis.tickvals)) == 0
    for cell, text in zip(axis.tickvals, axis.ticktext, strict=True):
        assert figure.data[0].x[cell].startswith(f"“{text}” ("), "a tick names the token that its cell begins with"


@pytest.mark.parametrize("n", [257, 1024])
def test_a_long_text_has_cells_that_hold_their_largest_weight_and_say_so(n):
    words, weights = [f"w{i}" for i in range(n)], np.where(np.tri(n), causal(n), np.nan)
    figure = heatmap(words, words, weights)
    cells, starts = figure.data[0], [int(name.split("(")[1].split(")")[0]) for name in figure.data[0].x]
    assert cells.z.shape == (256, 256) and "the largest of" in cells.colorbar.title.text
    ends = [*starts[1:], n]
    for row, column in [(0, 0), (0, 255), (255, 0), (100, 17), (255, 255)]:
        block = 100 * weights[starts[row] : ends[row], starts[column] : ends[column]]
        expected = np.nan if np.isnan(block).all() else np.nanmax(block)
        np.testing.assert_allclose(cells.z[row, column], expected, atol=1e-4)
    other = difference(words, words, weights, np.roll(weights, 1)).data[0].z
    points = 100 * (weights - np.roll(weights, 1))[starts[200] : ends[200], starts[9] : ends[9]]
    assert other[200, 9] == pytest.approx(points.flat[np.nanargmax(np.abs(points))], abs=1e-4)
    assert "largest" not in (heatmap(words[:256], words[:256], weights[:256, :256]).data[0].colorbar.title.text or "")


def test_a_part_of_a_text_keeps_the_positions_that_it_has_there():
    for figure in (
        heatmap("ab", "cde", np.ones((2, 3)), starts=(100, 7)),
        difference("ab", "cde", np.ones((2, 3)), np.ones((2, 3)), starts=(100, 7)),
        heatmap_grid("ab", "cde", np.ones((1, 2, 3)), starts=(100, 7)),
    ):
        assert list(figure.data[0].y) == ["“a” (100)", "“b” (101)"]
        assert list(figure.data[0].x) == ["“c” (7)", "“d” (8)", "“e” (9)"]


def test_a_large_head_travels_as_bytes_not_as_numbers():
    sent = json.loads(heatmap([" a"] * 256, [" a"] * 256, causal(256)).to_json())["data"][0]["z"]
    assert sent["dtype"] == "f4" and len(base64.b64decode(sent["bdata"])) == 4 * 256 * 256


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2,), (0, 0)])
def test_weights_that_do_not_fit_the_tokens_are_refused(shape):
    with pytest.raises(ValueError, match="do not fit"):
        heatmap([" a", " b"], [" a", " b"] if shape != (0, 0) else [], np.zeros(shape))


def test_a_difference_is_in_percentage_points_on_a_scale_with_zero_in_the_middle():
    a, b = causal(6, 1), causal(6, 2)
    cells = difference([" t"] * 6, [" t"] * 6, a, b, ("L0 H1", "L2 H3")).data[0]
    np.testing.assert_allclose(cells.z, 100 * (a - b), atol=1e-4)
    assert cells.zmin == -cells.zmax and cells.zmax == pytest.approx(np.abs(100 * (a - b)).max(), abs=1e-4)
    assert cells.colorbar.title.text.startswith("L0 H1 − L2 H3")
    other = difference([" t"] * 6, [" t"] * 6, b, a).data[0]
    np.testing.assert_array_equal(other.z, -cells.z)


def test_no_difference_is_white_and_what_is_masked_stays_blank():
    a = np.where(np.tri(3), 0.5, np.nan)
    cells = difference("abc", "abc", a, a).data[0]
    assert cells.zmax > 0 and (cells.z[np.tri(3, dtype=bool)] == 0).all() and np.isnan(cells.z[0, 1])


def test_a_grid_has_every_head_on_one_scale():
    weights = np.stack([causal(5, seed) / (seed + 1) for seed in range(6)])
    figure = heatmap_grid([" t"] * 5, [" t"] * 5, weights, columns=4)
    assert len(figure.data) == 6
    for head, cells in enumerate(figure.data):
        np.testing.assert_allclose(cells.z, 100 * weights[head], atol=1e-4)
        assert cells.coloraxis == "coloraxis"
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 100)
    own = heatmap_grid([" t"] * 5, [" t"] * 5, weights / 10, scale="own").layout.coloraxis
    assert own.cmax == pytest.approx(10 * weights.max(), abs=1e-3)
    boxes = [(figure.layout[f"xaxis{i}"].domain, figure.layout[f"yaxis{i}"].domain) for i in ("", 2, 3, 4, 5, 6)]
    for i, (x, y) in enumerate(boxes):
        assert all(x[0] >= u[1] or u[0] >= x[1] or y[0] >= v[1] or v[0] >= y[1] for u, v in boxes[:i]), "heads overlap"


def test_a_large_head_in_a_grid_keeps_its_spike_and_says_that_cells_cover_several():
    weights = np.zeros((2, 130, 130))
    weights[1, 77, 20] = 1
    figure = heatmap_grid([f" q{i}" for i in range(130)], [f" k{i}" for i in range(130)], weights)
    assert figure.data[0].z.max() == 0 and (figure.data[1].z == 100).sum() == 1
    row, column = np.argwhere(figure.data[1].z == 100)[0]
    first, last = (int(part.split("(")[1].rstrip(")")) for part in figure.data[1].y[row].split(" … "))
    assert first <= 77 <= last
    first, last = (int(part.split("(")[1].rstrip(")")) for part in figure.data[1].x[column].split(" … "))
    assert first <= 20 <= last
    assert "largest of 2 or 3 × 2 or 3" in figure.layout.annotations[0].text
    assert "largest" not in heatmap_grid("ab", "ab", np.ones((1, 2, 2))).layout.annotations[0].text


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: heatmap_grid("ab", "ab", np.ones((2, 2))),
        lambda: heatmap_grid("ab", "ab", np.ones((1, 3, 2))),
        lambda: heatmap_grid("ab", "ab", np.ones((0, 2, 2))),
        lambda: heatmap_grid("ab", "ab", np.ones((1, 2, 2)), names=["a", "b"]),
        lambda: difference("ab", "ab", np.ones((2, 2)), np.ones((3, 3))),
    ],
)
def test_what_does_not_fit_a_grid_or_a_difference_is_refused(wrong):
    with pytest.raises(ValueError, match=r"fit|names"):
        wrong()


def test_a_grid_is_drawn_and_says_which_head_one_points_at(new_page, tmp_path):
    n = len(HOSTILE)
    page = new_page()
    weights = np.stack([np.eye(n), np.full((n, n), 0.1234567)])
    figure = heatmap_grid(HOSTILE, HOSTILE, weights, columns=2, names=["<b>H0</b>", "H1 %{z}"])
    figure.write_html(tmp_path / "figure.html", include_plotlyjs=True)
    page.goto((tmp_path / "figure.html").as_uri())
    page.locator(".heatmaplayer image").nth(1).wait_for(state="attached")
    assert page.locator(".xtitle").text_content() == "<b>H0</b>"
    assert page.locator(".cbaxis").count() == 1
    box = page.locator(".nsewdrag").nth(1).bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5 / n, box["y"] + box["height"] * 1.5 / n)
    page.locator(".hoverlayer text").first.wait_for()
    hover = page.locator(".hoverlayer").text_content()
    assert hover == 'H1 %{z}, from “ <a href="http://x.invalid/">go</a>” (1) to “<b>bold</b>” (0): 12.3 %'


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
    hover = page.locator(".hoverlayer").text_content()
    assert hover == 'from “ <a href="http://x.invalid/">go</a>” (1) to “<b>bold</b>” (0): 12.3 %'


def test_where_two_heads_agree_is_white_on_a_light_page_and_dark_on_a_dark_one():
    weights = np.full((2, 2), 0.5)
    middles = []
    for dark in (False, True):
        scale = on_page(difference("ab", "ab", weights, weights), dark).data[0].colorscale
        middles.append(next(colour for place, colour in scale if place == 0.5))
    assert middles == ["rgb(247,247,247)", DARK["card"]]
