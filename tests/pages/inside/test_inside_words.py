"""What page Inside says of the text in words: no mark is left over, counts are those of what is shown, and values agree."""

from __future__ import annotations

import re

import numpy as np
import pytest

import models
from analysis import inside
from analysis.scopes import typed
from pages.inside import ending, recipes
from pages.inside.compose import HERE
from pages.inside.opened import open_stage
from pages.inside.spots import Selection
from tests.models.huggingface.families import folder
from tests.models.networks import network
from tests.models.pieces.test_pieces import KINDS
from tests.pages.opening import open_link, words_on
from ui import state
from ui.look import Look
from ui.memory import allowed, loaded
from ui.picture.board import Draft
from viz.numbers import whole_percent
from viz.views.board import Part

TEXTS = {"writer": ("Here are 3 $ signs_ *.", ""), "filler": ("Once upon a [MASK].", ""), "translator": ("The cat sleeps.", "Le")}


def last_parts(monkeypatch: pytest.MonkeyPatch, name: str, level: str) -> list[Part]:
    """The parts of the last stage’s own board."""
    cards = []
    monkeypatch.setattr(Draft, "add_cards", lambda draft, key, board_cards, label: cards.extend(board_cards))
    model = models.load(name)
    trace = model.trace(*TEXTS[name])
    look = Look(model, trace, "cross" if trace.target else "self", level, picked=(1, 2))
    way = inside.follow(model, trace, 1, stack="decoder" if trace.target else "self", around=look.token)
    here = open_stage(look, way, recipes.stage_of(way, "choice"), Selection("choice"))
    ending.add(Draft(HERE, look), here)
    return [part for card in cards for part in card.parts]


def guess(monkeypatch: pytest.MonkeyPatch, name: str, level: str) -> str:
    """The words of the last stage at its own board."""
    return "\n".join(part.above + part.below for part in last_parts(monkeypatch, name, level))


@pytest.mark.parametrize("level", state.LEVELS)
@pytest.mark.parametrize("name", TEXTS)
def test_the_guess_has_no_marks_left_over_and_says_where_it_is_made(monkeypatch, name, level):
    guess_text = guess(monkeypatch, name, level)
    assert "\\" not in guess_text.replace(r"\*", "*") and "{" not in guess_text
    assert ("In the place of “[MASK]”" in guess_text) == (name == "filler") == ("After “" not in guess_text)


def test_the_sentence_of_the_guess_says_its_chance_as_the_bar_does(monkeypatch):
    best = models.load("filler").predict(TEXTS["filler"][0], top=1)[0]
    assert f"**{whole_percent(best.probability)}**" in guess(monkeypatch, "filler", "beginner")


@pytest.mark.parametrize("level", state.LEVELS)
@pytest.mark.parametrize("name", TEXTS)
def test_the_pieces_that_are_counted_are_those_of_the_text_that_is_read(name, level):
    text, target = TEXTS[name]
    trace = models.load(name).trace(text, target)
    text_on_page = words_on(open_link("inside", f"model={name}&text={text}&target={target}&level={level}&stage=pieces"))
    (count,) = re.findall(r"into (\d+) (?:pieces|tokens)[.,]", text_on_page)
    assert int(count) == len(typed(trace.tokens)) < len(trace.tokens)
    assert "which nobody typed" in text_on_page
    assert f"{len(text)} " in words_on(open_link("inside", f"model={name}&text={text}&target={target}&level={level}&stage=text"))


@pytest.mark.parametrize("name", TEXTS)
def test_the_score_that_opens_first_is_that_of_the_token_that_the_model_chooses(name):
    model = models.load(name)
    trace = model.trace(*TEXTS[name])
    look = Look(model, trace, "cross" if trace.target else "self", "expert", picked=(1, 2))
    way = inside.follow(model, trace, 1, stack="decoder" if trace.target else "self", around=look.token)
    logits = trace.logits_at(look.token)
    for stage in ("logits", "probabilities"):
        here = open_stage(look, way, recipes.stage_of(way, stage), Selection(stage))
        assert here.index[-1] == np.argmax(logits)


def test_a_beginner_reads_which_of_the_heads_is_shown():
    heads, text = models.load("writer").info.heads, words_on(open_link("inside"))
    shown = re.search(
        rf"Where tokens look, you see L(\d) H(\d) \(layer (\d), head (\d); counting begins at 0\), one of the {heads} heads", text
    )
    assert shown and shown.groups()[:2] == shown.groups()[2:]


def test_every_head_of_a_model_whose_heads_share_keys_is_shown(monkeypatch, tmp_path):
    monkeypatch.setattr(allowed, "folders", lambda: allowed.roots(address="localhost"))
    grouped = network("Llama, grouped-query")
    tokenizer = KINDS["bytes for the unknown"](folder(tmp_path))
    grouped.resize_token_embeddings(max(len(tokenizer), grouped.config.vocab_size))
    grouped.save_pretrained(tmp_path / "grouped")
    tokenizer.save_pretrained(tmp_path / "grouped")
    info = loaded.model(str(tmp_path / "grouped")).info  # so that the page need not be seen waiting for it
    assert info.kv_heads < info.heads
    for stage in ("keys", "values", "weights"):
        link = f"model={tmp_path / 'grouped'}&text=the+cat+sat&level=expert&head=H{info.heads - 1}&stage={stage}"
        app = open_link("inside", link)
        assert not app.warned and f"H{info.heads - 1}" in words_on(app) and app.session_state["stage"] == stage


@pytest.mark.parametrize("level", state.LEVELS)
def test_the_number_of_a_token_in_the_vocabulary_is_not_for_beginners(monkeypatch, level):
    names = [part.name for part in last_parts(monkeypatch, "writer", level)]
    assert "bars" in names and ("cell" in names) == (level != "beginner")
