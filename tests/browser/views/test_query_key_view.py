"""The query-key view in a real browser: its numbers are the forward's, and pointer and keyboard reach all of them."""

from __future__ import annotations

import base64
from types import SimpleNamespace

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import viz
from viz import View, percent
from viz.views.query_key_view import query_key_view

NASTY = "<img src=x onerror=\"document.title='caught'\"></script>" * 60


def made(keys: int, dims: int, query: int | None = None, seed: int = 0) -> dict:
    """Random queries and keys, and what follows from them by the formula."""
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=dims).astype(np.float32), rng.normal(size=(keys, dims)).astype(np.float32)
    raw = k @ q
    mask = np.where(np.arange(keys) > (keys - 1 if query is None else query), -np.inf, 0)
    raised = np.exp(raw * dims**-0.5 + mask)
    lengths = rng.uniform(0.2, 2, keys)
    return {
        "q": q,
        "k": k,
        "raw": raw,
        "scale": dims**-0.5,
        "score": raw * dims**-0.5,
        "weight": raised / raised.sum(),
        "mask": mask,
        "v_norm": lengths,
    }


def view_of(parts: dict, texts: list[str] | None = None, **choices) -> View:
    texts = texts or [f" t{i}" for i in range(len(parts["raw"]))]
    tokens = [SimpleNamespace(text=text, special=False, fragment=False) for text in texts]
    query = tokens[-1] if tokens else SimpleNamespace(text="q", special=False, fragment=False)
    return query_key_view(query, tokens, **parts, **({"title": "L5 H1"} | choices))


def number_of(text: str) -> float:
    return float(text.replace("−", "-").replace("+", "").replace("±", "").replace("\u00a0%", "e-2"))


def pieces(page: Page) -> dict[str, str]:
    """The formula: what stands above each caption."""
    result = page.locator(".piece").evaluate_all(
        "all => all.map((one) => [one.lastChild.textContent, one.firstChild.textContent])"
    )
    return dict(result)


def exponents(formula: dict[str, str]) -> list[float]:
    """Return the exponents of the softmax, "e… / e…"."""
    return [float(power.removeprefix("e")) for power in formula["softmax"].replace("−", "-").split(" / ")]


def test_float32_comes_out_as_it_went_in(draw):
    parts = made(5, 3)
    parts["weight"] = np.array([0.1, 1e-38, 1.0, 0.0, 2 / 3], dtype=np.float32)
    page = draw(view_of(parts))
    origin = page.evaluate(
        "text => [...headlight.unpack(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))).arrays.weight.data]",
        base64.b64encode(view_of(parts).data).decode(),
    )
    assert np.array_equal(np.array(origin, dtype=np.float32), parts["weight"])


def test_each_row_carries_its_own_numbers(draw):
    parts = made(9, 16)
    page = draw(view_of(parts, position=8))
    expect(page.locator(".title")).to_have_text("L5 H1 from (query) ·t88")
    expect(page.locator(".row")).to_have_count(9)
    share = parts["weight"] * parts["v_norm"] / (parts["weight"] * parts["v_norm"]).sum()
    for key in range(9):
        cells = page.locator(".row").nth(key)
        expect(cells.locator("bdi")).to_have_text(f"·t{key}")
        assert number_of(cells.locator(".sum").inner_text()) == pytest.approx(parts["raw"][key], abs=0.006)
        assert number_of(cells.locator(".score").inner_text()) == pytest.approx(parts["score"][key], abs=0.006)
        expect(cells.locator(".weight .number")).to_have_text(percent(np.float32(parts["weight"][key])))
        assert number_of(cells.locator(".value .number").inner_text()) == pytest.approx(share[key], rel=0.006)
    wide = page.locator(".row .weight i:first-child").evaluate_all("all => all.map((bar) => bar.getBoundingClientRect().width)")
    full = max(parts["weight"].max(), share.max())
    np.testing.assert_allclose(np.array(wide) / max(wide), parts["weight"] / parts["weight"].max(), atol=0.01)
    assert max(wide) / page.locator(".track").first.bounding_box()["width"] == pytest.approx(
        parts["weight"].max() / full, abs=0.01
    )


def test_the_formula_holds_for_the_key_one_points_at(draw):
    parts = made(9, 16)
    page = draw(view_of(parts))
    best = int(np.argmax(parts["weight"]))
    for key in (best, 4, 7):
        if key != best:
            page.locator(".row").nth(key).hover()
        expect(page.locator(".piece.to bdi")).to_have_text(f"·t{key}")
        shown_pieces = pieces(page)
        assert number_of(shown_pieces["q·k"]) == pytest.approx(parts["raw"][key], abs=0.006)
        places = len(shown_pieces["score"].partition(".")[2])
        assert number_of(shown_pieces["score"]) == round(
            number_of(shown_pieces["q·k"]) * number_of(shown_pieces["scale"]), places
        ), "as one finds who multiplies"
        score, total = exponents(shown_pieces)
        assert percent(np.exp(score - total)) == shown_pieces["weight"] == percent(np.float32(parts["weight"][key]))
    page.mouse.move(640, 790)
    expect(page.locator(".piece.to bdi")).to_have_text(f"·t{best}")


def test_cap_bias_and_sink_stand_in_the_formula(draw):
    parts = made(6, 16)
    bias = np.linspace(-2, 1, 6)
    score = 2 * np.tanh(parts["raw"] * parts["scale"] / 2) + bias
    raised = np.exp(score)
    parts |= {"score": score, "weight": raised / (raised.sum() + np.exp(0.5)), "bias": bias, "softcap": 2.0, "sink": 0.5}
    page = draw(view_of(parts, chosen=0))
    shown_pieces = pieces(page)
    assert number_of(shown_pieces["scaled"]) == pytest.approx(parts["raw"][0] * 0.25, abs=0.006)
    assert abs(number_of(shown_pieces["soft cap ±2.00"])) <= 2
    assert number_of(shown_pieces["soft cap ±2.00"]) - number_of(shown_pieces["position bias"]) == pytest.approx(
        number_of(shown_pieces["score"]), abs=0.02
    )
    assert number_of(shown_pieces["weight"]) == pytest.approx(parts["weight"][0], rel=0.006)
    left = 1 - parts["weight"].sum()
    expect(page.locator(".notes")).to_contain_text(f"takes {percent(left)}")


def test_the_key_to_the_colours_stands_above_the_cells(draw):
    page = draw(view_of(made(8, 4)))
    legend, first_row = page.locator(".legend").bounding_box(), page.locator(".row").first.bounding_box()
    assert legend["y"] + legend["height"] <= first_row["y"]


def test_what_is_masked_says_so_and_weighs_nothing(draw):
    page = draw(view_of(made(8, 4, query=2)))
    numbers = page.locator(".row .weight .number").all_inner_texts()
    assert numbers[3:] == ["masked"] * 5 and "masked" not in numbers[:3]
    score, total = exponents(pieces(page))
    assert np.exp(score - total) == pytest.approx(number_of(pieces(page)["weight"]), rel=0.02)
    page.locator(".row").nth(5).hover()
    assert pieces(page)["weight"] == "0\u00a0%"
    expect(page.locator(".piece").filter(has_text="masked")).to_be_visible()
    expect(page.locator(".notes")).to_contain_text("5 keys are masked")


def test_dimensions_are_told_and_their_rest_adds_up(draw):
    parts = made(5, 16)
    page = draw(view_of(parts, chosen=3))
    products = parts["q"] * parts["k"][3]
    strongest = np.argsort(-np.abs(products))
    readout = page.locator(".readout")
    text = readout.inner_text()
    sum_, terms = text.split(": dimension ")
    named, rest = terms.split("; the other 13 together ")
    pairs = [pair.split() for pair in named.split(", ")]
    assert [int(dim) for dim, _ in pairs] == strongest[:3].tolist()
    assert sum(number_of(value) for _, value in pairs) + number_of(rest) == pytest.approx(
        number_of(sum_.split("= ")[1]), abs=0.03
    )
    canvas = page.locator(".bars canvas").bounding_box()
    page.mouse.move(canvas["x"] + canvas["width"] * 2.5 / 16, canvas["y"] + 20)
    expect(readout).to_contain_text(f"Dimension {strongest[2]}: q ")
    q, k, product = [
        number_of(number) for number in readout.inner_text().split(": q ")[1].replace("× k", "").replace("=", "").split()
    ]
    dim = strongest[2]
    assert (q, k, product) == pytest.approx((parts["q"][dim], parts["k"][3, dim], products[dim]), abs=0.006)
    page.get_by_role("group", name="Order of the dimensions").get_by_text("in order").click()
    page.mouse.move(canvas["x"] + canvas["width"] * 2.5 / 16, canvas["y"] + 20)
    expect(readout).to_contain_text("Dimension 2: q ")


CELL = """([row, column, columns]) => {
  const canvas = document.querySelector(".pane canvas"), ratio = devicePixelRatio;
  const x = (column + 0.4) * (canvas.width / columns), y = (row * 24 + 12) * ratio;
  return [...canvas.getContext("2d").getImageData(x, y, 1, 1).data]; }"""


def test_a_cell_is_red_above_zero_blue_below_and_stronger_where_the_product_is_larger(draw):
    parts = made(4, 8)
    parts["q"] = np.ones(8)
    parts["k"] = np.tile([[0.0], [1.0], [-1.0], [0.4]], 8)
    parts["raw"] = parts["k"].sum(-1)
    page = draw(view_of(parts, chosen=0))
    page.get_by_role("group", name="Order of the dimensions").get_by_text("in order").click()
    none, up, down, weak = [np.array(page.evaluate(CELL, [row, 3, 8])[:3]) for row in range(4)]
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert none.tolist() == paper
    assert up[0] > up[2] + 60 and down[2] > down[0] + 60
    assert 0 < np.abs(weak - none).sum() < np.abs(up - none).sum()


def test_keys_by_weight_stand_strongest_first_and_masked_last(draw):
    parts = made(40, 8, query=30)
    page = draw(view_of(parts))
    page.get_by_role("group", name="Order of the keys").get_by_text("by weight").click()
    page.locator(".box").evaluate("box => (box.scrollTop = 0)")
    shown = [int(text) for text in page.locator(".row:visible .key small").all_inner_texts()]
    assert shown[:10] == np.argsort(-parts["weight"][:31])[:10].tolist()
    page.locator(".box").evaluate("box => (box.scrollTop = 1e6)")
    expect(page.locator(".row:visible .weight .number").last).to_have_text("masked")


def test_a_press_tells_the_key_and_orders_the_dimensions_by_it(draw):
    parts = made(6, 16)
    page = draw(view_of(parts, chosen=0))
    page.locator(".row").nth(4).click()
    expect(page.locator(".row[aria-selected=true] .key small")).to_have_text("4")
    page.mouse.move(640, 790)
    first = np.argmax(np.abs(parts["q"] * parts["k"][4]))
    canvas = page.locator(".bars canvas").bounding_box()
    page.mouse.move(canvas["x"] + 3, canvas["y"] + 20)
    expect(page.locator(".readout")).to_contain_text(f"Dimension {first}: ")
    assert [(event["name"], event["value"]) for event in page.evaluate("told")] == [("chosen", {"key": 4})]


def test_the_keyboard_reaches_every_key_and_dimension(draw):
    parts = made(300, 16)
    page = draw(view_of(parts, chosen=0))
    page.keyboard.press("Tab")
    for _ in range(4):
        page.keyboard.press("Tab")
    box = page.get_by_role("listbox")
    expect(box).to_be_focused()
    page.keyboard.press("End")
    expect(page.locator(".piece.to bdi")).to_have_text("·t299")
    page.keyboard.press("ArrowUp")
    active = page.locator("#" + box.get_attribute("aria-activedescendant"))
    expect(active).to_be_in_viewport()
    expect(active).to_have_accessible_name(
        f"·t298, 299 of 300: q·k {active.locator('.sum').inner_text()}, score "
        f"{active.locator('.score').inner_text()}, weight "
        f"{active.locator('.weight').inner_text().strip()}, with the length of its value "
        f"{active.locator('.value').inner_text().strip()}"
    )
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    second = np.argsort(-np.abs(parts["q"] * parts["k"][0]))[1]
    expect(page.locator(".readout")).to_contain_text(f"Dimension {second}: ")
    expect(page.locator("[aria-live]")).to_contain_text(f"Dimension {second}: ")
    page.keyboard.press("Enter")
    assert page.evaluate("told.map((one) => one.value)") == [{"key": 298}]
    page.keyboard.press("Home")
    expect(page.locator(".piece.to bdi")).to_have_text("·t0")
    page.keyboard.press("PageDown")
    expect(page.locator(".piece.to bdi")).not_to_have_text("·t0")


def test_the_tables_behind_have_every_number(draw):
    parts = made(5, 6, query=3)
    page = draw(view_of(parts, chosen=2))
    tables = page.get_by_role("table")
    expect(tables.nth(1)).to_have_accessible_name("Dimensions of ·t2")
    expect(tables.nth(0).locator("tbody tr")).to_have_count(5)
    expect(tables.nth(0).locator("tbody tr").nth(4)).to_contain_text("masked")
    expect(tables.nth(1).locator("tbody tr")).to_have_count(6)
    cells = tables.nth(1).locator("tbody td").all_inner_texts()
    numbers = np.array([number_of(cell) for cell in cells]).reshape(6, 3)
    np.testing.assert_allclose(numbers, np.stack([parts["q"], parts["k"][2], parts["q"] * parts["k"][2]], 1), atol=0.006)


def test_the_dials_say_how_each_pair_was_turned(draw):
    """Hands turned by position: the table behind has the angles, and what the pair adds to q·k before and after."""
    parts = made(6, 4, query=5)
    frequencies, pairs, places = np.array([1.0, 0.01]), np.array([[0, 2], [1, 3]]), np.arange(6)

    def back(x, places):
        angles = np.asarray(places)[:, None] * frequencies
        first, second = x[:, pairs[:, 0]], x[:, pairs[:, 1]]
        cos, sin = np.cos(angles), np.sin(angles)
        return np.stack([first * cos + second * sin, second * cos - first * sin], axis=-1)  # [position, pair, 2]

    q, k = back(parts["q"][None], [5])[0], back(parts["k"], places)
    unturned = (q * k).sum((-1, -2))
    view = view_of(parts | {"unturned": unturned, "frequencies": frequencies, "pairs": pairs}, position=5, chosen=2)
    page = draw(view)
    expect(page.locator(".dials")).to_contain_text("q turned by 5 steps, k by 2; only their distance, 3, counts")
    rows = page.locator("table").nth(2).locator("tbody tr")
    expect(rows).to_have_count(2)  # tables are filled when the pointer rests
    cells = rows.evaluate_all("rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent))")
    assert [row[0] for row in cells] == ["0, 2", "1, 3"]
    after = (parts["q"][pairs] * parts["k"][2][pairs]).sum(-1)
    for row, frequency, before, now in zip(cells, frequencies, (q * k[2]).sum(-1), after, strict=True):
        np.testing.assert_allclose(
            [number_of(text) for text in row[1:]], [frequency, 5 * frequency, 2 * frequency, before, now], rtol=6e-3, atol=6e-3
        )
    assert page.locator(".dials canvas").evaluate(
        "one => one.getContext('2d').getImageData(0, 0, one.width, one.height).data.some(Boolean)"
    )
    page.locator("[role=listbox]").focus()
    page.keyboard.press("Home")
    expect(page.locator(".dials")).to_contain_text("k by 0; only their distance, 5, counts")


def test_without_rotary_positions_there_are_no_dials(draw):
    page = draw(view_of(made(6, 4, query=5), position=5))
    expect(page.locator(".piece").first).to_be_visible()
    expect(page.locator(".dials")).to_be_hidden()


@pytest.mark.parametrize(("keys", "dims"), [(12, 64), (64, 128), (1024, 128), (40, 256)], ids=str)
def test_it_fits_a_phone_and_says_how_many_dimensions_are_shown(draw, keys, dims):
    parts = made(keys, dims)
    page = draw(view_of(parts), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    shown = int(page.locator(".head .cells").inner_text().split("the ")[1].split(" ")[0])
    assert 20 <= shown < dims
    canvas = page.locator(".bars canvas").bounding_box()
    page.mouse.move(canvas["x"] + canvas["width"] - 2, canvas["y"] + 20)
    best = int(np.argmax(parts["weight"]))
    last = np.argsort(-np.abs(parts["q"] * parts["k"][best]))[shown - 1]
    expect(page.locator(".readout")).to_contain_text(f"Dimension {last}: ")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function("document.querySelector('.bars canvas').getBoundingClientRect().width > 300")


def test_a_thousand_keys_cost_only_those_in_sight(draw):
    page = draw(view_of(made(1024, 128), chosen=700))
    expect(page.locator(".row[aria-selected=true] .key small")).to_have_text("700")
    assert page.locator(".row").count() < 20
    page.locator(".box").evaluate("box => (box.scrollTop = 1e6)")
    expect(page.locator(".row:visible .key small").last).to_have_text("1023")
    assert page.locator(".row").count() < 20


def test_new_data_on_the_same_node_keeps_what_the_reader_set(draw, redraw):
    page = draw(view_of(made(30, 16)))
    page.get_by_text("by weight").click()
    parts = made(20, 8, seed=1)
    redraw(page, view_of(parts, title="L0 H0"))
    expect(page.locator(".title b")).to_have_text("L0 H0")
    expect(page.get_by_text("by weight")).to_have_attribute("aria-pressed", "true")
    best = int(np.argmax(parts["weight"]))
    expect(page.locator(".row:visible .key small").first).to_have_text(str(best))
    expect(page.locator(".piece.to bdi")).to_have_text(f"·t{best}")
    page.locator(".row").nth(3).click()
    assert len(page.evaluate("told")) == 1, "listeners were attached twice"


def test_views_of_one_link_point_together(draw):
    page = draw(view_of(made(9, 4), link="text", chosen=0))
    page.evaluate("window.heard = []; addEventListener('headlight:point', ({ detail }) => heard.push(detail.position))")
    page.locator(".row").nth(6).hover()
    assert page.evaluate("heard") == [6]
    send = "link => dispatchEvent(new CustomEvent('headlight:point', { detail: { link, position: 2 } }))"
    page.evaluate(send, "other")
    expect(page.locator(".piece.to bdi")).to_have_text("·t6")
    page.evaluate(send, "text")
    expect(page.locator(".piece.to bdi")).to_have_text("·t2")


def test_text_stays_text_and_long_names_do_not_widen_the_page(draw):
    page = draw(view_of(made(3, 8), [NASTY, "\x00", "\ud800"], chosen=0, title=NASTY[:60]), width=390)
    expect(page.locator(".row bdi")).to_have_text([NASTY, "␀", "U+D800"])
    assert page.locator("img").count() == 0 and page.title() != "caught"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("width", [390, 1280])
def test_broken_little_and_no_numbers_are_drawn_without_an_error(draw, width, redraw):
    page = draw(view_of(made(1, 1)), width=width)
    expect(page.locator(".piece.weight b")).to_have_text("100 %")
    broken = made(6, 8)
    broken["k"][2] = np.nan
    for name in ("raw", "score", "weight"):
        broken[name][:] = np.nan
    redraw(page, view_of(broken))
    expect(page.locator(".piece.weight b")).to_have_text("–")
    redraw(page, view_of(made(0, 8), []))
    expect(page.locator(".row:visible")).to_have_count(0)
    redraw(page, view_of(made(4, 8)))
    expect(page.locator(".row:visible")).to_have_count(4)


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_axe_finds_nothing_grave(draw, width, dark):
    page = draw(view_of(made(40, 64, query=30)), width=width, dark=dark)
    expect(page.get_by_role("table")).to_have_count(2)
    faults = Axe().run(page).response["violations"]
    assert [fault["id"] for fault in faults if fault["impact"] in ("serious", "critical")] == []


def test_in_a_board_it_tells_the_same(draw):
    page = draw(viz.board([viz.Card([viz.Part("products", view_of(made(6, 16)))])]))
    page.get_by_role("option").nth(2).click()
    value = page.evaluate("told[0].value")
    assert (value["part"], value["value"]) == ("products", {"key": 2})


DRAWN = "() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"


def test_the_rows_stay_where_they_are_while_one_points(draw):
    parts = made(30, 16)
    page = draw(view_of(parts, ["i" if i % 2 else "m" * 40 for i in range(30)], chosen=1))
    grew = 0
    for width in range(400, 700, 25):  # at some of them a long name takes the formula one line more
        page.mouse.move(10, 990)
        page.set_viewport_size({"width": width, "height": 1000})
        page.wait_for_function("width => document.querySelector('.box').getBoundingClientRect().right <= width", arg=width)
        page.evaluate(DRAWN)  # also without the row that was pointed at
        tops = [page.locator(".box").bounding_box()["y"]]
        for i in (3, 4, 3, 4):
            page.locator(".row:visible").nth(i).hover()
            page.evaluate(DRAWN)
            tops.append(page.locator(".box").bounding_box()["y"])
        grew += len(set(tops)) > 1
        assert len(set(tops[3:])) == 1
    assert grew, "no width tried this at all"
