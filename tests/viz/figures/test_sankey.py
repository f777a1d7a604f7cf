from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz.figures.sankey import GAP, WHOLE, sankey


@dataclass(frozen=True)
class Stream:
    share: float
    from_column: int
    from_token: int
    to_column: int
    to_token: int


TWO = [
    Stream(0.25, 0, 0, 1, 1),
    Stream(0.25, 0, 1, 1, 1),
    Stream(0.5, 0, 0, 1, 0),
    Stream(0.5, 1, 0, 2, 1),
    Stream(0.5, 1, 1, 2, 1),
]
NAMES = ["input", "L0", "L1"]


@st.composite
def layered(draw) -> tuple[list[Stream], int, int]:
    """Streams as a rollout gives them, the smallest left out: shares of all, from column to column, to one state at the end."""
    tokens, layers, seed = draw(st.integers(1, 30)), draw(st.integers(1, 8)), draw(st.integers(0, 999))
    random = np.random.default_rng(seed)
    mass, streams = np.eye(tokens)[draw(st.integers(0, tokens - 1))], []
    for layer in reversed(range(layers)):
        flows = mass[:, None] * random.dirichlet(np.full(tokens, 0.3), size=tokens)
        least = draw(st.sampled_from([0.0, 0.01, 0.03]))
        rows, columns = np.nonzero(flows > least)
        streams += [Stream(float(flows[q, k]), layer, int(k), layer + 1, int(q)) for q, k in zip(rows, columns, strict=True)]
        mass = flows.sum(0)
    return streams, tokens, layers


@settings(max_examples=40, deadline=None)
@given(layered())
def test_no_two_states_touch_and_all_stand_in_the_picture(drawn_streams):
    streams, tokens, layers = drawn_streams
    if not streams:
        return
    figure = sankey([f"w{i}" for i in range(tokens)], streams, [str(i) for i in range(layers + 1)])
    node, height = figure.data[0].node, figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    flows: dict[tuple[int, int], list[float]] = {}
    for stream in streams:
        flows.setdefault((stream.from_column, stream.from_token), [0.0, 0.0])[0] += stream.share
        flows.setdefault((stream.to_column, stream.to_token), [0.0, 0.0])[1] += stream.share
    states = sorted(flows)
    high = {state: WHOLE * max(flows[state]) for state in states}
    middle = dict(zip(states, np.array(node.y) * height, strict=True))
    for column in {column for column, _ in states}:
        each = [state for state in states if state[0] == column]
        for above, below in pairwise(each):
            assert middle[below] - high[below] / 2 - (middle[above] + high[above] / 2) >= GAP - 1
        assert middle[each[0]] - high[each[0]] / 2 >= -1 and middle[each[-1]] + high[each[-1]] / 2 <= height + 1


def test_the_scale_that_plotly_finds_is_the_one_that_is_meant(new_page):
    """In a browser: the state at the end is as high as all that arrives there."""
    figure = sankey(["a", "b"], TWO, NAMES)
    page = new_page()
    page.set_content(figure.to_html(include_plotlyjs=True))
    page.locator(".sankey-node").first.wait_for()
    heights = page.evaluate(
        "[...document.querySelectorAll('.sankey-node rect.node-rect')].map(n => n.getBoundingClientRect().height)"
    )
    expected = [0.75, 0.25, 0.5, 0.5, 1.0]
    np.testing.assert_allclose(sorted(heights), sorted(WHOLE * np.array(expected)), rtol=0.02)
    assert page.get_by_text("input", exact=True).count() == 1


def test_grey_stays_and_orange_is_carried():
    link = sankey(["a", "b"], TWO, NAMES).data[0].link
    same = [stream.from_token == stream.to_token for stream in TWO]
    assert len(set(link.color)) == 2
    assert {colour for colour, stays in zip(link.color, same, strict=True) if stays}.isdisjoint(
        {colour for colour, stays in zip(link.color, same, strict=True) if not stays}
    )


def test_shares_and_texts_are_said_and_nothing_in_them_is_html():
    figure = sankey(["<b>x</b>", "%{label}"], TWO, NAMES)
    text = " ".join([*figure.data[0].link.customdata, *figure.data[0].node.customdata])
    assert "25.0\u00a0%" in text and "75.0\u00a0%" in text and "<b>" not in text
    assert "<b>" not in " ".join(note.text for note in figure.layout.annotations)


def test_the_token_at_the_end_has_its_name_and_large_states_in_between_where_asked():
    def names(named: bool) -> list[str]:
        annotations = sankey(["first", "second"], TWO, NAMES, named).layout.annotations
        return [note.text for note in annotations if note.text in ("first", "second")]

    assert len(names(True)) > len(names(False)) > len({*names(False)}), "once as an input, and once at the end"


def test_what_cannot_be_drawn_is_a_sentence():
    with pytest.raises(ValueError, match="no stream is as large"):
        sankey(["a"], [], NAMES)
    with pytest.raises(ValueError, match="not there"):
        sankey(["a"], TWO, NAMES)
    with pytest.raises(ValueError, match="not there"):
        sankey(["a", "b"], TWO, NAMES[:2])
