"""Sentences beside numbers say what the numbers are: no more, and in their unit."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import models
from analysis.importance import Pruning
from analysis.statistics import head_statistics
from models.generation.strategy import Strategy
from pages.explain import recipes
from pages.heads import why, worth
from tests.serving import ROOT
from ui import state
from ui.lexicon.marks import sections_at


@pytest.fixture(autouse=True)
def level(monkeypatch):
    monkeypatch.setattr(state, "level", lambda: "intermediate")


def words_of(page: str, heading: str, level: str = "intermediate") -> str:
    return sections_at(ROOT / "pages" / page, level)[heading]


def test_a_head_that_looks_at_the_token_before_looks_one_token_back():
    tokens = models.load("writer").tokenize("The cat sat on the mat")
    weights = np.eye(len(tokens), k=-1)[None, None]
    weights[..., 0, 0] = 1
    table = head_statistics(models.Attention.from_arrays(weights, tokens, tokens))
    assert table["distance"].iloc[0] == pytest.approx(1)
    words = words_of("layers", "distance")
    assert "lie between" not in words and "0 is itself, 1 the token beside it" in words


def test_a_correlation_is_no_share():
    row = pd.Series({"positional": 0.833, "positional_low": -0.1, "positional_high": 0.9, "positional_null": 0.4})
    words = why.numbers_of(row, "positional")
    assert (words["score"], words["low"], words["null"]) == ("0.83", "−0.10", "0.40")
    assert why.numbers_of(row.rename(lambda name: name.replace("positional", "previous")), "previous")["score"].endswith("%")


@pytest.mark.parametrize(("ours", "luck"), [([1.0, 1.2, 2.0], True), ([1.0, 1.0, 2.0], True), ([1.0, 1.0, 1.0], False)])
def test_an_order_that_random_ones_equal_is_called_no_better_than_chance(ours, luck):
    random = np.array([[1.0, 1.05, 2.0], [1.0, 1.3, 2.0]])
    saved = {"effect": np.array([0.0, 10.0, 20.0])}
    words = worth.count_spare_heads(Pruning(np.array([0, 4, 8]), {"effect": np.array(ours)}, random, saved, 100))
    assert (words["low"], words["high"]) == ("0", "4")
    assert (int(words["ours"]) <= int(words["high"])) == luck
    assert "no better than chance" in words_of("heads", "pruned noise")


def test_what_a_chance_falls_by_is_said_in_points_and_not_in_per_cent_of_it():
    writer = models.load("writer")
    trace = writer.trace("The cat sat on the")
    place = len(trace.read) - 1
    logits = trace.logits_at(place)
    token, scores = int(logits.argmax()), np.full(len(trace.read), 0.1)
    groups = [[i] for i in range(len(scores))]
    simple = {"method": "leave-one-out", "position": place, "token": token, "simple": True}
    values, unit = recipes.amounts(writer, trace, scores, groups, **simple)
    chance = float(writer.chances(logits)[token])
    assert unit == "points" and values == pytest.approx(100 * (chance - chance * np.exp(-0.1)))
    assert "{points}" in sections_at(ROOT / "pages" / "explain", "beginner")["amount"]


def test_a_beam_search_looks_at_twice_its_width_of_all_beginnings_together():
    steps = list(models.load("writer").generate("The cat", Strategy(method="beam", beams=3), 3))
    assert all(len(step.search.looked_at) == 2 * 3 for step in steps)
    assert "of all beginnings together, the best 2 · width" in words_of("generate", "tree", "expert")


def test_what_optimizers_take_is_what_was_measured():
    table = re.findall(r"^\| (Muon|AdamW) \| [\d.]+ \|(.+)\|$", (ROOT / "docs" / "training.md").read_text("utf-8"), flags=re.M)
    runs = {
        name: [cell.strip() for of, cells in table if of == name for cell in cells.split("|") if cell.strip()]
        for name, _ in table
    }
    steps = {name: sorted(int(cell.replace(",", "")) for cell in cells if cell[0].isdigit()) for name, cells in runs.items()}
    muon, adamw = steps["Muon"], steps["AdamW"]
    words = words_of("train", "task repeat", "expert")
    assert f"Muon took {muon[0]} to {muon[-1]} steps in {len(runs['Muon'])} runs" in words and len(muon) == len(runs["Muon"])
    assert f"took {adamw[0]} to {adamw[-1]:,} steps in {len(adamw)} of {len(runs['AdamW'])} runs" in words


@pytest.mark.parametrize("level", state.LEVELS)
@pytest.mark.parametrize("verdict", ["better", "worse", "no verdict"])
def test_a_verdict_is_right_english_of_one_random_order_as_of_many(level, verdict):
    words = sections_at(ROOT / "ui" / "believe", level)[verdict].replace("{ahead}", "1").replace("{far}", "1")
    assert re.search(r"\b1\b", words)
    assert not re.search(r"\b1( of \{tries\} random orders)? (do|have|are)\b", words)


@pytest.mark.parametrize("level", state.LEVELS)
def test_no_page_says_what_a_tokenizer_does_not_know_where_that_may_be_nothing(level):
    words = " ".join(sections_at(ROOT / "pages" / "heads", level).values())
    assert "{known} of the" in words and "{unknown}" not in words


CARD = 68  # characters that a line of a card has at 1280 pixels
BOTH = [("change", "board"), ("layers", "previous"), ("type", "next")]
ABOVE = [(*place, level) for place in BOTH for level in ("beginner", "intermediate")]


@pytest.mark.parametrize(("page", "heading", "level"), [*ABOVE, ("change", "board no mean", "intermediate")])
def test_three_lines_at_the_most_stand_above_a_picture(page, heading, level):
    words = re.sub(r"\*\*", "", words_of(page, heading, level))
    assert 0 < len(words) <= 3 * CARD
