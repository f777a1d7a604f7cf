"""Page Inside with a classifier: its end speaks of labels, named as the model names them, at the token where they are read."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis import inside
from pages.inside import ending, formulas, kept, naming, parts
from pages.inside.compose import HERE
from pages.inside.opened import OpenStage, open_stage
from pages.inside.spots import Selection
from tests.models.classifiers import TEXT, model
from tests.pages.opening import open_link, words_on
from ui import state
from ui.look import Look
from ui.picture.board import Draft

QUESTION = "Did the cat sit"
LAST = ("logits", "probabilities", "choice")


def opened_at(stage: str, level: str = "expert") -> OpenStage:
    sorter = models.load("sorter")
    look = parts.follow_label(Look(sorter, sorter.trace(QUESTION), level=level))
    way = inside.follow(sorter, look.trace, 1, around=look.token)
    return open_stage(look, way, way.stage(stage), Selection(stage))


@pytest.mark.parametrize("level", state.LEVELS)
@pytest.mark.parametrize("stage", LAST)
def test_the_end_of_the_sorter_opens_and_speaks_of_its_labels(level, stage):
    app = open_link("inside", f"model=sorter&text={QUESTION}&level={level}&stage={stage}")
    assert not app.warned and app.session_state["stage"] == stage
    assert "page Type shows them" not in words_on(app), "its way to the labels is followed here"


@pytest.mark.parametrize("level", state.LEVELS)
@pytest.mark.parametrize("stage", LAST)
def test_the_words_of_the_end_count_labels_and_no_tokens(level, stage):
    here = opened_at(stage, level)
    draft = Draft(HERE, here.look)
    name, gist = formulas.first_line(draft, here.stage)
    text = formulas.explanation(
        draft, here.stage, naming.facts(here.look, here.stage, here.index) | {"best": "question", "share": "99 %"}
    )
    assert "label" in f"{gist} {text}" and "{" not in text
    assert not {"2,048", "token:", "tokens**", "vocabulary", "candidate"} & set(f"{name} {gist} {text}".split())


@pytest.mark.parametrize("stage", ["logits", "probabilities"])
def test_what_is_scored_is_called_as_the_model_calls_it(stage):
    here = opened_at(stage)
    assert sorted(naming.columns(here.look, here.stage, here.columns)) == ["question", "statement"]
    assert naming.axes(here.look, here.stage) == ("token", "label")
    assert naming.facts(here.look, here.stage, here.index)["other"] == "“question”"
    assert naming.shape(here.look, here.stage) == "1 × labels = 1 × 2"


def test_the_choice_is_what_the_model_predicts():
    sorter, here = models.load("sorter"), opened_at("choice")
    best = sorter.predict(QUESTION)
    values = here.way.stage("probabilities").rows(np.array([0]))[0]
    assert values[[prediction.id for prediction in best]] == pytest.approx(
        [prediction.probability for prediction in best], abs=1e-5
    )
    assert sorter.outcome(int(here.stage.at((0,)))) == best[0].text == "question"
    assert ending.recipes.choice(sorter, here.look.trace, token=0, top=5, plainly=False) is not None


def test_the_token_at_which_the_label_is_read_is_followed_until_another_is_chosen():
    assert "start" in words_on(open_link("inside", f"model=sorter&text={QUESTION}&level=expert")).partition("You follow ")[2][:20]
    assert "You follow “cat”" in words_on(open_link("inside", f"model=sorter&text={QUESTION}&level=expert&token=3"))


@pytest.mark.parametrize(("name", "at"), [("BERT", "first"), ("GPT-2", "last"), ("BART", "last"), ("BERT, tokens", "newest")])
def test_every_classifier_is_followed_where_it_reads_its_label(name, at):
    network = model(name)
    trace = network.trace(TEXT)
    look = Look(network, trace, "self" if "self" in trace.attention else "decoder")
    assert parts.follow_label(look).token == {"first": 0, "last": len(trace.read) - 1, "newest": look.newest}[at]
    assert name == "BERT, tokens" or parts.follow_label(look).token == network.places(trace)[0]


def test_a_classifier_s_way_is_followed_once_whichever_token_is_chosen():
    sorter = models.load("sorter")
    trace = sorter.trace(QUESTION)
    first = kept.way("someone", sorter, trace, "self", 1, 2)
    assert first.ends == {0}
    assert kept.way("someone", sorter, trace, "self", 1, 4, "logits") is first
    kept.forget(sorter)
