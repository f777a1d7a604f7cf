"""What the JavaScript of the views calculates, held to Python and to what must be so; it runs in Node, without a page."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.node import printed
from viz.numbers import percent
from viz.palette import DARK, HEADS, LIGHT, LINES, sequential, shade
from viz.triangle import lower


def called(module: str, name: str, *arguments: Sequence) -> list:
    """What a function of a module gives for each list of arguments."""
    script = f'import {{ {name} }} from "./{module}";\nfor (const each of {json.dumps(arguments)}) '
    return [json.loads(line) for line in printed(script + f"console.log(JSON.stringify({name}(...each)));").splitlines()]


def test_weights_are_shaded_as_in_python():
    weights = np.linspace(-0.2, 1.2, 50).tolist()
    np.testing.assert_allclose(
        called("shared/colours.js", "shade", *[[weight] for weight in weights]), [shade(weight) for weight in weights]
    )


def test_the_even_scale_is_plotlys_cividis():
    from plotly.colors import sample_colorscale, unlabel_rgb

    parts = np.linspace(0, 1, 21).tolist()
    ours = called("shared/colours.js", "cividis", *[[part] for part in parts])
    theirs = [unlabel_rgb(colour) for colour in sample_colorscale("cividis", parts)]
    np.testing.assert_allclose(ours, theirs, atol=4)  # Plotly's has the same colours at its own eleven steps


def test_a_picture_that_has_left_the_page_has_colours_all_the_same():
    script = """
import { colours } from "./shared/colours.js";
const styles = { there: "rgb(1, 2, 3)", left: "" };
const style = (name) => ({ color: name, caretColor: name, columnRuleColor: name, floodColor: name, lightingColor: name });
globalThis.getComputedStyle = (node) => style(styles[node]);
console.log(JSON.stringify([colours("there").accent, colours("left").accent]));"""
    assert json.loads(printed(script)) == [[1, 2, 3], [0, 0, 0]]


def test_text_on_a_shade_can_be_read():
    """4.5 to 1 (WCAG 2.2), on whatever colours a theme mixes."""
    script = """
import { contrast, inkOn, mix } from "./shared/colours.js";
let seed = 1;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
const colour = () => [0, 1, 2].map(() => Math.floor(256 * random()));
let worst = Infinity;
for (let i = 0; i < 3000; i++) {
  const [ink, accent, paper, opacity] = [colour(), colour(), colour(), random()];
  const said = inkOn({ ink, accent, paper }, opacity);
  const text = { "": ink, "#000": [0, 0, 0], "#fff": [255, 255, 255] }[said];
  worst = Math.min(worst, contrast(text, mix(paper, accent, opacity)));
}
console.log(contrast([0, 0, 0], [255, 255, 255]), contrast([9, 9, 9], [9, 9, 9]), worst);"""
    most, least, worst = map(float, printed(script).split())
    assert (most, least) == (21, 1) and worst >= 4.5


SAID = {
    "number": {
        (0.12345,): "0.123",
        (1234.5,): "1235",
        (12,): "12",
        (-0.5, "nats"): "−0.500 nats",
        (0.0004,): "under 0.001",
        (0.25, "%"): "25.0\u00a0%",
        (None,): "–",
    },
    "tick": {
        (0.35, "%"): "35\u00a0%",
        (1, "%"): "100\u00a0%",
        (3.5, "steps"): "3.5 steps",
        (1, "steps"): "1 step",
        (0, "nats"): "0 nats",
        (-0.5,): "−0.5",
        (0.30000000000000004,): "0.3",
        (1250,): "1250",
        (0.0004,): "under 0.001",
    },
    "exactly": {
        (0.00012345,): "0.00012",
        (0.0123,): "0.0123",
        (0.5,): "0.500",
        (12.3456,): "12.35",
        (123.45,): "123.5",
        (12345.6,): "12346",
        (-0.001,): "−0.00100",
        (-1e-9,): "0.00000",
        (0.9997,): "0.99970",
        (0.9999999,): "1.000",
    },
    "figure": {(263,): "263", (-3,): "−3", (0,): "0", (0.5,): "0.500", (73.513,): "73.51"},
    "signed": {(0.5,): "+0.500", (-0.5,): "−0.500", (0,): "+0.00", (0.126, 2): "+0.13", (-0.001, 2): "+0.00"},
    "roughly": {(0.0019,): "<0.2\u00a0%", (0.0994,): "9.9\u00a0%", (0.5,): "50\u00a0%", (1,): "100\u00a0%"},
    "counted": {(1, "line", "lines"): "1 line", (1234, "line", "lines"): "1,234 lines"},
}


@pytest.mark.parametrize("name", SAID)
def test_numbers_as_people_read_them(name):
    assert called("shared/number.js", name, *SAID[name]) == [*SAID[name].values()]


def test_who_redoes_the_formula_of_a_score_with_the_digits_shown_comes_to_the_same():
    rng, cases = np.random.default_rng(0), []
    for _ in range(300):
        raw, others = rng.normal(0, 40), np.exp(rng.normal(0, 2))
        score = raw * 32**-0.5
        weight = np.exp(score) / (np.exp(score) + others)
        facts = {"raw": raw, "scale": 32**-0.5, "bias": 0, "cap": None, "score": score, "added": 0, "weight": weight}
        cases.append(facts | {"bottom": np.log(np.exp(score) + others)})
    all_places = called("views/query_key_view/digits.js", "placesOf", *[[case] for case in cases])
    assert set(all_places) > {2, 3}
    for case, places in zip(cases, all_places, strict=True):
        raw, score, bottom = (round(case[name], places) for name in ("raw", "score", "bottom"))
        assert round(raw * round(case["scale"], places + 2), places) == score
        share = np.exp(score - bottom)
        assert percent(share) == percent(case["weight"]) or min(share, case["weight"]) >= 0.9995


def test_what_was_sent_in_half_comes_out_whole():
    maps = np.tril(np.random.default_rng(0).integers(0, 256, (3, 7, 7))).astype(np.uint8)
    script = f"""import {{ fromRows }} from "./shared/bytes.js";
const sent = Uint8Array.from({lower(maps).ravel().tolist()});
console.log(JSON.stringify([...fromRows(sent, 3, 7)]));"""
    assert json.loads(printed(script)) == maps.ravel().tolist()


def test_an_echo_is_no_news_and_what_comes_from_elsewhere_is():
    script = """import { makeEcho } from "./shared/echo.js";
const echo = makeEcho();
const said = [echo.isNews([0]), echo.isNews([0])];
echo.told([1]);
echo.told([2]);
said.push(echo.isNews([1]), echo.isNews([2]), echo.isNews([5]), echo.isNews([2]), echo.isNews([2]));
console.log(JSON.stringify(said));"""
    assert json.loads(printed(script)) == [True, False, False, False, True, True, False]


def test_a_view_points_in_all_others_of_its_link_that_are_on_the_page():
    script = """
const events = new EventTarget();
globalThis.addEventListener = events.addEventListener.bind(events);
globalThis.removeEventListener = events.removeEventListener.bind(events);
globalThis.dispatchEvent = events.dispatchEvent.bind(events);
const { onPoint, point } = await import("./shared/link.js");
const heard = [];
const view = (name, link, isConnected = true) => ({ name, link, root: { isConnected } });
const views = [view("chips", "a"), view("heads", "a"), view("left", "a", false), view("others", "b"), view("alone", "")];
for (const each of views) onPoint(each, (position) => heard.push([each.name, position]));
point(views[0], 3);
point(views[4], 4);
console.log(JSON.stringify(heard));"""
    assert json.loads(printed(script)) == [["heads", 3]]


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 6))
@example(1_224_632_340, 33, 2)  # 13 / 41 * 41 is less than 13
def test_of_too_many_lines_the_strongest_are_drawn(seed, most, levels):
    rng = np.random.default_rng(seed)
    planes = rng.integers(0, levels + 1, (2, 5, 6)) * 40
    script = f"""import {{ gather, scan }} from "./views/head_view/gather.js";
const planes = {json.dumps(planes.reshape(2, -1).tolist())}.map((data) => ({{ data: Uint8Array.from(data) }}));
const state = {{ planes, header: {{ shape: [2, 5, 6], causal: false }}, options: {{ least: 1, top: 0, pairs: "all" }} }};
const list = gather(state, (act) => scan(state, act), {most});
const lines = Array.from(list.value, (value, i) => [list.plane[i], list.from[i], list.to[i], value]);
console.log(JSON.stringify([list.count, list.total, lines]));"""
    count, total, lines = json.loads(printed(script))
    there = np.sort(planes[planes > 0])
    assert (count, total) == (min(most, len(there)), len(there))
    assert [value for *_, value in lines] == there[len(there) - count :].tolist()  # from weak to strong
    assert all(planes[plane, row, column] == value for plane, row, column, value in lines)
    assert len({tuple(line[:3]) for line in lines}) == count


@pytest.mark.parametrize("top", [0, 3])
@pytest.mark.parametrize("causal", [True, False])
def test_a_line_leads_to_every_token_that_a_query_sees_also_to_itself(causal, top):
    script = f"""import {{ scan }} from "./views/head_view/gather.js";
const planes = [{{ data: new Uint8Array(9).fill(85) }}];
const options = {{ least: 1, top: {top}, pairs: "all" }};
const header = {{ shape: [1, 3, 3], causal: {json.dumps(causal)} }};
const lines = [];
scan({{ planes, header, options }}, (plane, row, column) => lines.push([row, column]));
console.log(JSON.stringify(lines));"""
    assert json.loads(printed(script)) == [[row, column] for row in range(3) for column in range(row + 1 if causal else 3)]


def test_commas_inside_brackets_part_nothing():
    gradient = "linear-gradient(to right, rgb(1, 2, 3), rgba(0, 0, 0, 0.5))"
    assert called("views/export/gradients.js", "commas", [f"{gradient}, none"], [""], ["a"]) == [[gradient, "none"], [], ["a"]]


@pytest.mark.parametrize(("of", "to"), [(LIGHT, DARK), (DARK, LIGHT)], ids=["to dark", "to light"])
def test_what_plotly_drew_takes_the_colours_of_the_other_page_and_data_keeps_its_own(of, to):
    from plotly.colors import get_colorscale, unlabel_rgb, validate_colors

    def translated(*arguments: tuple) -> list:
        script = 'import { translator } from "./views/export/look.js";\n'
        script += f"const translate = translator({json.dumps(of)}, {json.dumps(to)});\n"
        return json.loads(
            printed(script + f"console.log(JSON.stringify({json.dumps(arguments)}.map((one) => translate(...one))));")
        )

    def scale(theme: dict) -> list:
        return [unlabel_rgb(colour.replace("rgba", "rgb"))[:3] for _, colour in sequential(theme["accent"])]

    rgb = {name: [list(bytes.fromhex(theme[name][1:])) for theme in (of, to)] for name in ("ink", "paper")}
    assert translated(*((each[0], True) for each in rgb.values())) == [each[1] for each in rgb.values()]
    np.testing.assert_allclose(translated(*((colour, False) for colour in scale(of))), scale(to), atol=4)
    grey = [[180, 182, 190], [60, 64, 70], [0, 0, 0], [255, 255, 255]]
    data = [list(bytes.fromhex(colour[1:])) for colour in (*HEADS, *LINES) if colour != of["accent"]] + grey
    for name in ("cividis", "RdBu_r"):
        data += [
            [round(v) for v in unlabel_rgb(colour)] for colour in validate_colors([c for _, c in get_colorscale(name)], "rgb")
        ]
    assert translated(*((colour, False) for colour in data)) == data


def test_a_place_on_a_chart_is_found_again_on_one_of_another_size():
    frame, other = {"left": 10, "top": 20, "width": 400, "height": 200}, {"left": 0, "top": 0, "width": 800, "height": 600}
    places = called(
        "views/room/charts.js", "placeIn", *[[frame, {"clientX": x, "clientY": 70}] for x in (9, 10, 110, 409.9, 410)]
    )
    assert [place % 1000 if place >= 0 else None for place in places] == [None, 0, 250, 999, None]
    spots = called("views/room/charts.js", "spotOf", *[[other, place] for place in places[1:4]])
    np.testing.assert_allclose([[spot["clientX"], spot["clientY"]] for spot in spots], [[0, 150], [200, 150], [800, 150]], atol=1)


def test_who_leads_points_at_a_chart_and_who_follows_sees_the_same_place():
    """Two pages with two charts each; what one tells is sent to the other, as a room does, and is not told on."""
    script = """
import { joinCharts } from "./views/room/charts.js";
globalThis.MouseEvent = class extends Event {
  constructor(kind, { clientX, clientY }) {
    super(kind);
    Object.assign(this, { clientX, clientY });
  }
};
const page = (width) => {
  const heard = [];
  const plots = [0, 1].map((i) => ({
    closest: () => plots[i],
    getBoundingClientRect: () => ({ left: 0, top: 300 * i, width, height: width / 2 }),
    dispatchEvent: (event) => heard.push([i, event.type, Math.round(event.clientX ?? -1), Math.round(event.clientY ?? -1)]),
  }));
  return { plots, heard, window: new EventTarget(), sent: [] };
};
const on = (page) => {
  globalThis.document = { querySelectorAll: () => page.plots };
  for (const name of ["addEventListener", "dispatchEvent"]) globalThis[name] = page.window[name].bind(page.window);
};
const [lead, follower] = [page(400), page(200)];
for (const each of [lead, follower]) {
  on(each);
  each.window.addEventListener("headlight:point", ({ detail }) => detail.led || each.sent.push(detail));
  joinCharts();
}
on(lead);
const move = (target, clientX, clientY) => {
  const event = Object.assign(new Event("pointermove"), { clientX, clientY });
  Object.defineProperty(event, "target", { value: target });
  lead.window.dispatchEvent(event);
};
move(lead.plots[1], 100, 400);
move({ closest: () => null }, 0, 0);
on(follower);
for (const detail of lead.sent)
  follower.window.dispatchEvent(new CustomEvent("headlight:point", { detail: { ...detail, led: true } }));
console.log(JSON.stringify([lead.sent.map((one) => [one.link, one.position >= 0]), follower.heard, follower.sent]));"""
    sent, heard, told_on = json.loads(printed(script))
    assert sent == [["chart 1", True], ["chart 1", False]] and told_on == []
    assert heard == [[1, "mousemove", 50, 350], [1, "mouseout", -1, -1]]
