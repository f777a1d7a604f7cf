"""The neurons on page Inside: whatever feed-forward a model has, their pictures are drawn, and what is not known is said."""

from __future__ import annotations

import re

import numpy as np
import pytest

from analysis import inside
from pages.inside import recipes
from pages.inside.boards.neurons import BOARD, CURVE, SAMPLE, TOP, key_of
from pages.inside.compose import compose
from pages.inside.neurons import panel
from pages.inside.neurons import recipes as neuron_recipes
from pages.inside.opened import open_stage
from pages.inside.settings import Experts, Firings, Neurons, Reading, Settings
from pages.inside.spots import Selection
from tests.analysis import test_inside_models as seen
from tests.grids import grid
from tests.pages.opening import open_link, words_on
from tests.pages.taking import assert_made_again, offered
from ui import state
from ui.look import Look
from ui.picture.board import Note
from ui.picture.picture import Picture
from viz.figures.activation import activation_curve
from viz.view import View
from viz.views.prediction_bars import value_bars

LINK = "text=The+cat+sat&stage=feed-forward"
FAMILIES = {  # the pictures of each stack, and words about what is missing
    "GPT-2": ({"neurons", "towards", "away"}, ""),
    "Llama, grouped-query": ({"neurons", "towards", "away"}, ""),
    "BERT": ({"neurons", "towards", "away"}, ""),
    "BERT without a head": ({"neurons"}, "no language-model head"),
    "Mixtral": ({"neurons", "towards", "away"}, "experts take different tokens"),
    "T5": ({"neurons", "towards", "away"}, ""),
}


def drawn(name: str, way: inside.Way) -> tuple[list[Picture], str]:
    """The pictures of the neurons, and all that is said about them."""
    kind = "cross" if way.stack == "decoder" else way.stack
    look = Look(seen.model(name), seen.trace(name), kind, "intermediate", picked=(way.layer, 1))
    here = open_stage(look, way, recipes.stage_of(way, "feed-forward"), Selection("feed-forward"))
    listed = neuron_recipes.strongest(way, here.place[0], TOP[look.level], None)
    neuron = neuron_recipes.one_of(way, here.place[0], *key_of(listed.neurons[0]))
    readings: list[Reading] = [Neurons(here, listed, neuron)]
    if way.fired is not None:
        readings.append(Firings(here, neuron, inside.sampled(look.model, way.stack, way.layer, way.fired)))
    if listed.experts:
        readings.append(Experts(here, listed))
    boards = [compose(look, Settings(), reading) for reading in readings]
    contents = [content for board in boards for content in board.contents.values()]
    words = [
        content.data.decode("utf-8", "replace") if isinstance(content, View) else content.text
        for content in contents
        if isinstance(content, View | Note)
    ]
    return [picture for board in boards for picture in board.pictures], "\n".join(words)


@pytest.mark.parametrize("name", grid(FAMILIES, ["GPT-2", "BERT without a head"]))
def test_every_feed_forward_shows_its_neurons(name):
    parts, missing = FAMILIES[name]
    for way in seen.ways(name):
        pictures, words = drawn(name, way)
        wanted = parts - {"towards", "away"} if way.stack == "encoder" else parts
        assert {drawing.part for drawing in pictures if drawing.part} == wanted
        assert missing in words and not re.search(r"\{[a-z_]+\}", words)
        for drawing in pictures:
            assert drawing.drawn is not None and all(np.isfinite(each.values).any() for each in drawing.numbers().values())
        assert any(drawing.key == "inside-curve" for drawing in pictures)
        assert any(drawing.key == "inside-sample" for drawing in pictures) == (name != "Mixtral")
        assert any(drawing.key == "inside-experts" for drawing in pictures) == (name == "Mixtral")


def test_a_neuron_is_read_from_a_link_and_back():
    assert panel.parse("321") == (None, 321) and panel.parse("2.321") == (2, 321)
    assert panel.parse(None) is panel.parse("") is panel.parse("x") is panel.parse("1.2.3") is panel.parse("-1") is None


@pytest.mark.parametrize("level", state.LEVELS)
def test_the_neuron_of_a_link_is_looked_at_and_one_that_is_not_there_is_told_of(level):
    app = open_link("inside", f"{LINK}&level={level}&neuron=7")
    assert not app.warned and app.session_state["neuron"] == "7" and " 7 " in words_on(app)
    for wrong in ("9999", "cat"):
        assert any(wrong in warning for warning in open_link("inside", f"{LINK}&level={level}&neuron={wrong}").warned)


def test_one_token_has_neurons():
    assert not open_link("inside", "text=&level=intermediate&stage=feed-forward").warned


def test_a_notebook_makes_the_pictures_again(monkeypatch):
    pictures = offered(monkeypatch, "inside", f"{LINK}&level=intermediate&neuron=7")
    ours = [drawing for name, drawing in pictures.items() if name.split()[0] in (BOARD, CURVE, SAMPLE)]
    assert len(ours) == 5
    for drawing in ours:
        assert_made_again(drawing)


def test_the_curve_is_drawn_where_the_function_is_and_the_point_lies_on_it():
    figure = activation_curve(np.tanh, "tanh", 9.0)
    line, point = figure.data
    np.testing.assert_allclose(line.y, np.tanh(line.x))
    assert (point.x[0], point.y[0]) == (9.0, pytest.approx(np.tanh(9.0))) and min(line.x) < 9 < max(line.x)


def test_bars_of_numbers_need_a_number_for_each_label():
    assert b"below" in value_bars(["one", "two"], [1.0, -2.0], ("neuron", "fires")).data
    with pytest.raises(ValueError, match="2 values for 1 labels"):
        value_bars(["one"], [1.0, 2.0], ("neuron", "fires"))
