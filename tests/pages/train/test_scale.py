"""Sweeps on page Train: the laws and verdicts are those of the runs, and stand beside what chance gives."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

from analysis import sweep as sweeps
from analysis.sweep import Run, Size
from pages.train import scale
from tests.pages.opening import finish, open_link, words_on

TEXTS = tuple(Size(1, width, learned) for learned in (4_000, 8_000) for width in (8, 16, 32))
DEPTHS = (Size(1, 16, 8_000), Size(2, 8, 8_000))


@pytest.fixture
def few_steps(monkeypatch):
    """Sweeps of two steps of tiny models."""
    monkeypatch.setattr(sweeps, "SWEEPS", {"size and text": TEXTS, "depth or width": DEPTHS})
    monkeypatch.setattr(sweeps, "sweep", partial(sweeps.sweep, steps=2))


def tried(level: str, **choices: str):
    """The page after the sweep was asked for, and has ended."""
    link = "&".join(f"{name}={value}" for name, value in choices.items())
    app = open_link("train", f"level={level}&{link}")
    (button,) = (button for button in app.button if re.match(r"Train \d+ small models", button.label))
    return finish(button.click().run())


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_the_law_on_screen_is_fitted_to_the_runs(few_steps, level):
    app = tried(level)
    words, runs = words_on(app), sweeps.sweep(TEXTS)
    largest = [run for run in runs if run.size.learned == 8_000]
    law = sweeps.fit([run.parameters for run in largest], [run.losses[-1] for run in largest])
    facts = scale.facts_of(law)
    assert not app.exception and f"^{facts['exponent']}**" in words and f"{facts['low']} to {facts['high']}" in words
    assert facts["clear"] in words and ("no clear trend" in facts["clear"]) == (law.low <= 0 <= law.high)
    by_operations = scale.facts_of(sweeps.fit(*sweeps.frontier(largest)))
    assert f"^{by_operations['exponent']}" in words


def test_depths_have_a_table_and_a_verdict_beside_chance(few_steps):
    app = tried("intermediate", sweep="Depth+or+width")
    (table,) = (table.value for table in app.table)
    assert list(table.index) == ["1 layer", "2 layers"] and list(table["Width"]) == [16, 8]
    words = words_on(app)
    assert ("are best here" in words) != ("No verdict" in words) and "in 33 of 100" in words


def run(layers: int, loss: float, seed: int = 0) -> Run:
    return Run(Size(layers, 8, 4_000), seed, 100, np.array([1.0]), np.array([loss]), 1.0)


@pytest.mark.parametrize(("losses", "heading"), [((1.0, 1.1, 2.0, 2.1), "best"), ((1.0, 2.05, 2.0, 2.1), "none")])
def test_a_depth_is_best_only_where_each_of_its_runs_beats_all_others(monkeypatch, losses, heading):
    sentences = []
    monkeypatch.setattr(scale, "say", lambda here, name, **facts: sentences.append((name, facts)))
    scale.say_depth(scale.Path(), [run(1 + i // 2, loss, i % 2) for i, loss in enumerate(losses)])
    ((name, facts),) = sentences
    assert name == f"scale depth {heading}" and facts["layers"] == 1 and facts["luck"] == "33"


def test_beginners_are_offered_no_sweep():
    app = open_link("train", "level=beginner")
    assert not [button for button in app.button if "small models" in button.label]
