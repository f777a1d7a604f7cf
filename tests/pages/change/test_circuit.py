"""Experiment "Circuit": the numbers on screen are those of the analysis, and the circuit opens under "Switch off"."""

from __future__ import annotations

import re

import numpy as np
import pytest

import models
from analysis import edit_numbers, find_circuit
from models.edits import Edit
from pages.change.circuit.recipes import Wiring, path_lines, strongest_path
from tests.grids import grid
from tests.pages.opening import finish, open_link, words_on
from tests.pages.taking import offered
from viz import percent
from viz.numbers import signed

TEXT = "The girl took her bag and said that"
CIRCUIT = "experiment=Circuit&text=The+girl+took+her+bag+and+said+that&change-word=she&change-against=he"

LINES = re.compile(r"(\d+) lines are drawn: the widest, and those of the path below; (\d+) more of at least 1\s% are left out")


@pytest.fixture(scope="module")
def writer():
    return models.load("writer")


def test_what_is_shown_is_what_the_analysis_finds(monkeypatch, writer):
    pictures = offered(monkeypatch, "change", f"{CIRCUIT}&level=intermediate&circuit-keep=70")
    she, he = (writer.tokenize(word)[-1].id for word in (" she", " he"))
    expected = find_circuit(writer, writer.trace(TEXT), she, against=he, keep=0.7, leads=True)
    names = [node.name for node in expected.members]
    lost = pictures["circuit-lost"].numbers()
    assert lost["share_lost"].names["part"] == names
    np.testing.assert_allclose(lost["share_lost"].values, expected.share - expected.without, atol=1e-4)
    assert lost["share_with_only_the_set"].values[0] == pytest.approx(expected.share, abs=1e-4)
    edges = pictures["circuit-graph"].numbers()["edges"].values
    assert edges.shape == (len(names), len(names)) and np.isnan(edges[np.tril_indices(len(names))]).all()  # nothing goes down


@pytest.mark.thorough
def test_below_the_table_and_the_bars_stands_what_their_shares_are_shares_of(writer):
    words = words_on(open_link("change", f"{CIRCUIT}&level=intermediate&circuit-keep=70"))
    she, he = (writer.tokenize(word)[-1].id for word in (" she", " he"))
    circuit = find_circuit(writer, writer.trace(TEXT), she, against=he, keep=0.7, leads=True)
    ends = [f"{value:+.2f}".replace("-", "−") for value in (circuit.nothing, circuit.whole)]
    assert f"from {ends[0]} to {ends[1]}. The circuit does {signed(circuit.share)} of that." in words
    total = float((circuit.share - circuit.without).sum())
    assert len(circuit.members) > 1 and f"The bars add up to {signed(total)}" in words
    reason = "although the circuit has only" if total > circuit.share else "less than the"
    assert f"{reason} {signed(circuit.share)}" in words


@pytest.mark.thorough
@pytest.mark.parametrize(("chosen", "fill"), grid([("zeros", "zero"), ("their+mean", "mean")], [("their+mean", "mean")]))
def test_the_circuit_opens_under_switch_off_and_leaves_there_the_share_that_was_said(writer, chosen, fill):
    app = open_link("change", f"{CIRCUIT}&level=expert&circuit-fill={chosen}&circuit-keep=70")
    she, he = (writer.tokenize(word)[-1].id for word in (" she", " he"))
    expected = find_circuit(writer, writer.trace(TEXT), she, against=he, keep=0.7, fill=fill, leads=True)
    before = words_on(app)
    (button,) = [button for button in app.button if button.label == "Open it under “Switch off”"]
    button.click().run()
    assert app.session_state["experiment"] == "Switch off" and not app.exception
    trace = writer.trace(TEXT)
    edits = [edit_numbers.fill(Edit.parse(change), writer, trace) for change in app.session_state["changes"].split(",")]
    removed = [node for node in expected.nodes if node not in expected.members]
    assert [(edit.layer, getattr(edit, "head", None)) for edit in edits] == [(node.layer, node.head) for node in removed]
    logits = writer.trace(TEXT, edits=edits).logits_at(-1)
    share = (float(logits[she] - logits[he]) - expected.nothing) / (expected.whole - expected.nothing)
    assert share == pytest.approx(expected.share, abs=1e-3)
    assert signed(expected.share) in before


@pytest.mark.thorough
@pytest.mark.parametrize(("keep", "word", "enough"), [(50, "", True), (90, "", True), (90, "boy", False)])
def test_enough_is_said_only_where_the_word_still_wins(writer, keep, word, enough):
    text = "Once upon a time there was a little"
    link = f"experiment=Circuit&level=expert&text={text.replace(' ', '+')}&circuit-keep={keep}&change-word={word}"
    words = words_on(open_link("change", link.removesuffix("&change-word=")))
    token = writer.tokenize(f" {word}")[-1].id if word else None
    circuit = find_circuit(writer, writer.trace(text), token, keep=keep / 100, leads=True)
    (best,), chance = writer.top(circuit.alone, 0, 1), writer.chances(circuit.alone)[circuit.token]
    assert circuit.wins == enough and percent(float(chance)) in words and percent(best.probability) in words
    assert (f"**Enough for “{word or 'girl'}”**" in words) == enough
    if not enough:
        assert f"the likeliest is “{best.text.strip()}”" in words
    assert f"**{circuit.share_rank} of 21**" in words and f"**{circuit.left_rank} of 21**" in words


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("text=The+girl+took+her+bag+and+said+that&change-word=he&change-against=she", "nothing that a circuit could keep"),
        ("model=filler&text=The+cat+sat", "no prediction to compare"),
        ("text=The+cat+sat&circuit-fill=another+text", "as many tokens"),
        ("text=The+cat+sat&circuit-fill=another+text&circuit-other=The", "must have as many"),
        pytest.param(
            "text=The+cat+sat+on+the&circuit-fill=another+text&circuit-other=The+dog+ran+on+the",
            "parts (its heads and feed-forwards)",
            marks=pytest.mark.thorough,
        ),
        pytest.param("model=translator&text=The+cat+sat&target=Le", "The encoder stays whole", marks=pytest.mark.thorough),
        pytest.param("text=The+cat+sat+on+the&changes=h2.3", "are left out here", marks=pytest.mark.thorough),
    ],
)
def test_what_cannot_be_asked_is_said_and_what_is_left_out(link, expected):
    app = open_link("change", f"experiment=Circuit&level=intermediate&{link}")
    assert expected in words_on(app).replace("\\", "") and not app.warned


def test_a_model_that_attends_in_its_own_way_has_a_circuit_without_lines(monkeypatch, tmp_path):
    from tests.models.networks import network, tokenizer
    from ui.memory import allowed, loaded

    monkeypatch.setattr(allowed, "folders", lambda: allowed.roots(address="localhost"))
    network("Falcon").save_pretrained(tmp_path)
    tokenizer("decoder").save_pretrained(tmp_path)
    loaded.model(str(tmp_path))
    words = words_on(open_link("change", f"experiment=Circuit&model={tmp_path}&level=intermediate&text=The+cat+sat+on"))
    assert "can only be set to zero" in words and ("there are no lines" in words or "nothing that a circuit" in words)


def test_what_takes_long_says_what_it_costs_and_waits_for_a_press(monkeypatch):
    from pages.change.circuit import choose

    monkeypatch.setattr(choose, "WAIT", 0.0)
    app = open_link("change", f"{CIRCUIT}&level=intermediate&circuit-keep=65")
    assert "readings of your text" in words_on(app) and not app.table
    (button,) = [button for button in app.button if button.label.startswith("Look for the circuit")]
    button.click().run()
    assert not app.exception


def test_the_strongest_path_begins_with_the_widest_line_between_two_parts_and_follows_the_widest():
    edges = np.full((4, 4), np.nan)
    edges[0, 1], edges[0, 2], edges[1, 3], edges[2, 3] = 0.3, 0.1, -0.5, 0.2
    direct = np.array([0.4, 0.05, 0.1, 0.6])
    assert strongest_path(Wiring(None, edges, direct)) == [(0, 0.3), (1, 0.05)]
    edges[1, 3] = 0.2
    assert strongest_path(Wiring(None, edges, direct)) == [(0, 0.3), (1, 0.2), (3, 0.6)]
    assert path_lines(Wiring(None, edges, direct)) == [(0, 1), (1, 3), (3, 4)]
    assert strongest_path(Wiring(None, np.full((2, 2), np.nan), np.array([0.1, 0.7]))) == [(1, 0.7)]
    assert strongest_path(Wiring(None, np.full((2, 2), np.nan), np.array([-0.1, 0.001]))) == []
    assert strongest_path(Wiring(None)) == []


def test_the_strongest_path_is_said_in_words():
    words = words_on(open_link("change", f"{CIRCUIT}&level=intermediate&circuit-keep=70"))
    assert (
        "**A path of strong lines**, which begins with the widest between two parts" in words
        and "writes straight towards" in words
        and "orange" not in words
    )


@pytest.mark.thorough
def test_a_few_lines_are_drawn_at_first_and_it_is_said_how_many_are_left_out():
    link = "experiment=Circuit&level=intermediate&text=Tom+had+a+ball,+and+his+dog+ran+after+the"
    app = finish(open_link("change", link))
    drawn, left = map(int, LINES.search(words_on(app)).groups())
    assert 12 <= drawn <= 16 and left > 0
    app.segmented_control(key="circuit-lines").set_value("the 40 widest")
    app = finish(app.run())
    more = LINES.search(words_on(app))
    assert sum(map(int, more.groups())) == drawn + left and int(more[1]) >= 40
    assert "Why this is not the list of “What wrote it”" in words_on(app) and not app.exception
