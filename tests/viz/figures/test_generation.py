"""A beam search as a tree, the cache as boxes, and chances before and after controls."""

from __future__ import annotations

import json

import numpy as np
import pytest

from models.generation.beams import Beams, by_length
from viz import prediction_bars
from viz.figures.beams import NAMES, WINDOW, Way, beam_tree
from viz.figures.cache import cache_boxes


def search(steps: int, width: int = 3) -> list[Way]:
    beams, generator = Beams({0}, width, steps, by_length(1.0)), np.random.default_rng(0)
    while not beams.done:
        scores = generator.normal(size=(len(beams.alive), 12))
        beams.grow(scores - np.log(np.exp(scores).sum(-1, keepdims=True)))
    return [Way(beam.number, beam.parent, f" t{beam.id}", beam.length, beam.score, beam.fate) for beam in beams.tree]


@pytest.mark.parametrize("steps", [1, 4, 9])
def test_every_way_of_the_last_tokens_stands_in_the_tree_with_its_fate(steps):
    ways = search(steps)
    figure, last = beam_tree(ways), max(way.length for way in ways)
    drawn = {trace.name: list(trace.x) for trace in figure.data if trace.mode == "markers+text"}
    for fate, name in NAMES.items():
        there = sorted(way.length for way in ways if way.fate == fate and way.length > last - WINDOW)
        assert sorted(drawn[name]) == there


def test_the_likelier_way_stands_higher_and_a_line_leads_from_its_parent():
    ways = search(3)
    figure = beam_tree(ways)
    at = {}
    for trace in figure.data:
        if trace.mode == "markers+text":
            fate = next(fate for fate, name in NAMES.items() if name == trace.name)
            same_fate = [way for way in ways if way.fate == fate]
            at |= {way.number: (x, y) for way, x, y in zip(same_fate, trace.x, trace.y, strict=True)}
    for way in ways:
        assert all(
            at[way.number][1] > at[other.number][1] for other in ways if other.length == way.length and other.score < way.score
        )
    lines = [list(zip(trace.x, trace.y, strict=True)) for trace in figure.data if trace.mode == "lines"]
    edges = {(line[i], line[i + 1]) for line in lines for i in range(0, len(line), 3)}
    assert {(at[way.parent], at[way.number]) for way in ways if way.parent >= 0} <= edges


def test_the_way_that_is_looked_at_stands_out_and_each_has_its_score():
    ways = search(3)
    path = [ways[-1]]
    while path[0].parent >= 0:
        path.insert(0, ways[path[0].parent])
    plain, figure = beam_tree(ways), beam_tree(ways, looked_at=[way.number for way in path])

    def thick(figure) -> int:
        (line,) = (trace for trace in figure.data if trace.mode == "lines" and trace.line.width > 5)
        return len(line.x) // 3

    assert (thick(plain), thick(figure)) == (0, len(path))
    texts = "".join(text for trace in figure.data if trace.mode == "markers+text" for text in trace.text)
    assert all(f"{way.score:.2f}".replace("-", "−") in texts for way in ways)


def test_a_fate_that_there_is_not_is_told_of():
    with pytest.raises(ValueError, match="not 'lost'"):
        beam_tree([Way(0, -1, "a", 1, -1.0, "lost")])


class Token:
    special = False

    def __init__(self, text):
        self.text = text


@pytest.mark.parametrize("count", [1, 3, 70])
def test_there_is_a_box_for_each_token_in_each_layer_and_the_last_read_stand_out(count):
    box = cache_boxes([Token(" a")] * count, layers=4, each=32).data[0]
    assert np.shape(box.z) == (4, count) and len(set(box.x)) == count, "equal tokens have boxes of their own"
    assert np.array_equal(np.argwhere(np.array(box.z)[0] == 1).ravel(), [count - 1])


def test_bars_say_what_was_before_the_controls_what_was_struck_out_and_what_is_chosen():
    view = prediction_bars([" a", " b"], [1.0, 0.0], before=[0.25, 0.75], struck=[False, True], marked=0)
    header = json.loads(view.data[4 : 4 + int.from_bytes(view.data[:4], "little")])
    assert header["befores"] == ["25.0\u00a0%", "75.0\u00a0%"] and header["struck"] == [False, True] and header["marked"] == 0
    with pytest.raises(ValueError, match="1 before for 2 labels"):
        prediction_bars([" a", " b"], [1.0, 0.0], before=[0.25])
