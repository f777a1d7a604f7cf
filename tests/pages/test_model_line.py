"""The line on page "Type" that says what the chosen model is, and what it has read."""

from __future__ import annotations

import json
import re

import pytest

import models
from models.catalog import WEIGHTS
from models.info import ModelInfo
from models.numbers.sizes import count
from pages.type import model_line
from pages.type.model_line import heading_of, parameters_in
from tests.models.networks import network, tokenizer
from tests.pages.levels import read
from tests.pages.opening import open_link
from tests.serving import ROOT
from ui.lexicon.marks import sections
from ui.memory import loaded
from ui.state import LEVELS


@pytest.mark.parametrize("name", models.names())
def test_a_model_that_ships_has_a_line_of_its_own_at_every_level(name):
    for level in LEVELS:
        of_level = sections(ROOT / "pages" / "type" / f"{level}.md")
        assert heading_of(loaded.model(name).info) in of_level and "has read" in of_level[f"model {name}"]


def test_the_line_has_the_number_of_parameters():
    words = read(open_link("type", "text=The+cat"))
    assert f"It has {count(models.load('writer').info.parameters)} numbers" in words and "has read stories" in words


@pytest.mark.parametrize("name", models.names())
def test_the_number_is_known_before_the_model_is_loaded(name):
    assert parameters_in(WEIGHTS / name / "model.safetensors") == models.load(name).info.parameters


def test_the_line_has_the_number_while_the_writer_loads(monkeypatch):
    monkeypatch.setattr(loaded, "info", lambda name: ModelInfo(name, "decoder", 0, 0, 0, 0, 0, None, 0, ""))
    lines = []
    monkeypatch.setattr(model_line.st, "caption", lines.append)
    model_line.place()
    assert "It has 6.92 million numbers" in lines[0]


def test_a_model_from_elsewhere_is_named_by_its_kind(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))
    network("GPT-2").save_pretrained(tmp_path)
    tokenizer("decoder").save_pretrained(tmp_path)
    loaded.model(str(tmp_path))
    words = read(open_link("type", f"model={tmp_path}&text=The+cat"))
    assert (
        re.search(r"continues text\. It has [\d,.]+ .*numbers", words) and "Its own page or folder says what it has read" in words
    )


@pytest.mark.parametrize("name", models.names())
def test_the_line_names_facts_where_the_training_had_some(name):
    figures = json.loads((WEIGHTS / name / "figures.json").read_text(encoding="utf-8"))
    had_facts = any(recipe.get("facts") for recipe in (figures["recipe"], *figures.get("more", ())))
    assert had_facts == (name in ("writer", "filler"))
    for level in LEVELS:
        line = sections(ROOT / "pages" / "type" / f"{level}.md")[f"model {name}"]
        assert ("stories" in line and "simple facts" in line) == had_facts
