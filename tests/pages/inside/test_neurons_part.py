"""The neurons on page Inside: whatever feed-forward a model has, their pictures are drawn, and what is not known is said."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import inside
from pages.inside import choose, detail, neurons, recipes
from tests.analysis import test_inside_models as seen
from tests.pages.opening import open_link, said
from tests.pages.taking import assert_made_again, offered
from ui import state
from ui.look import Look
from ui.picture.picture import Picture
from viz.figures.activation import activation_curve
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


def drawn(monkeypatch: pytest.MonkeyPatch, name: str, way: inside.Way) -> tuple[list[Picture], str]:
    """The pictures of the neurons, and all that is said about them."""
    sentences: list[str] = []

    def note(cards, label=""):
        sentences.extend(part.above for card in cards for part in card.parts)

    monkeypatch.setattr(state, "level", lambda: "intermediate")
    monkeypatch.setattr(neurons, "board", note)
    for function in ("show", "show_chart"):
        monkeypatch.setattr(neurons, function, lambda *rest: None)
    monkeypatch.setattr(
        neurons, "say", lambda folder, heading, **values: sentences.append(neurons.words(folder, heading, **values))
    )
    monkeypatch.setattr(neurons.jobs, "result", lambda key, work, doing: work(lambda share, words: None))
    kind = "cross" if way.stack == "decoder" else way.stack
    look = Look(seen.model(name), seen.trace(name), kind, "intermediate", picked=(way.layer, 1))
    here = detail.open_stage(look, way, recipes.stage_of(way, "feed-forward"), choose.Selection("feed-forward"))
    return neurons.draw(here), "\n".join(sentences)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_feed_forward_shows_its_neurons(monkeypatch, name):
    parts, missing = FAMILIES[name]
    for way in seen.ways(name):
        pictures, words = drawn(monkeypatch, name, way)
        wanted = parts - {"towards", "away"} if way.stack == "encoder" else parts
        assert {drawing.part for drawing in pictures if drawing.part} == wanted
        assert missing in words and "{" not in words
        for drawing in pictures:
            assert drawing.drawn is not None and all(np.isfinite(each.values).any() for each in drawing.numbers().values())
        assert any(drawing.key == "inside-curve" for drawing in pictures)
        assert any(drawing.key == "inside-sample" for drawing in pictures) == (name != "Mixtral")
        assert any(drawing.key == "inside-experts" for drawing in pictures) == (name == "Mixtral")


def test_a_neuron_is_read_from_a_link_and_back():
    assert neurons.parse("321") == (None, 321) and neurons.parse("2.321") == (2, 321)
    assert neurons.parse(None) is neurons.parse("") is neurons.parse("x") is neurons.parse("1.2.3") is neurons.parse("-1") is None


@pytest.mark.parametrize("level", state.LEVELS)
def test_the_neuron_of_a_link_is_looked_at_and_one_that_is_not_there_is_told_of(level):
    app = open_link("inside", f"{LINK}&level={level}&neuron=7")
    assert not app.warned and app.session_state["neuron"] == "7" and " 7 " in said(app)
    for wrong in ("9999", "cat"):
        assert any(wrong in warning for warning in open_link("inside", f"{LINK}&level={level}&neuron={wrong}").warned)


def test_one_token_has_neurons():
    assert not open_link("inside", "text=&level=intermediate&stage=feed-forward").warned


def test_a_notebook_makes_the_pictures_again(monkeypatch):
    pictures = offered(monkeypatch, "inside", f"{LINK}&level=intermediate&neuron=7")
    ours = [drawing for name, drawing in pictures.items() if name.split()[0] in (neurons.BOARD, neurons.CURVE, neurons.SAMPLE)]
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
