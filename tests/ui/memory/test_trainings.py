"""Trainings that are kept: each visitor has their own, a link finds it, none that runs leaves, what was trained may be opened."""

from __future__ import annotations

import pytest
import streamlit as st
from hypothesis import given
from hypothesis import strategies as st_
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

import models
from models.errors import ModelError
from models.scratch.config import TransformerConfig
from models.scratch.live import VOCABULARY, Budget, Training
from models.scratch.tasks import TASKS
from ui import state
from ui.choices import boxes
from ui.memory import allowed, trainings

SMALL = {"vocabulary": VOCABULARY, "context": 32, "d_model": 16, "layers": 1, "heads": 2, "d_ff": 16}


def training() -> Training:
    return Training(TASKS["copy"](), TransformerConfig(**SMALL), Budget(steps=100_000, rows=1))


@pytest.fixture
def visit(monkeypatch):
    """visit(browser): a new session of somebody with that browser."""

    def new(browser: str = "") -> None:
        monkeypatch.setattr(st, "session_state", {})
        monkeypatch.setattr(trainings, "browser", lambda: browser)

    monkeypatch.setattr(trainings, "_kept", type(trainings._kept)())
    new()
    return new


def test_a_visitor_comes_back_to_his_training_and_others_to_theirs(visit):
    mine, theirs = training(), training()
    visit("one")
    assert trainings.mine() == ("", None)
    trainings.keep("mine", mine)
    visit("two")
    assert trainings.mine() == ("", None)
    trainings.keep("theirs", theirs)
    assert trainings.mine() == ("theirs", theirs)
    visit("one")
    assert trainings.mine() == ("mine", mine), "a browser finds its own after a reload"


def test_without_cookies_a_training_is_that_of_its_session(visit):
    mine = training()
    trainings.keep("mine", mine)
    assert trainings.mine() == ("mine", mine)
    visit()
    assert trainings.mine() == ("", None)


def test_what_is_let_go_of_stops_and_nobody_elses_does(visit):
    mine, theirs = training(), training()
    visit("two")
    trainings.keep("theirs", theirs)
    theirs.start()
    visit("one")
    trainings.keep("mine", mine)
    mine.start()
    assert trainings.running() == 2
    trainings.forget()
    assert (mine.state, theirs.state) == ("stopped", "running") and trainings.mine() == ("", None)
    theirs.stop()


def test_none_that_runs_is_thrown_out_and_one_too_many_is_refused(visit):
    kept = []
    try:
        for number in range(trainings.KEPT):
            visit(f"{number}")
            kept.append(training())
            trainings.keep(f"{number}", kept[-1])
            kept[-1].start()
        visit("late")
        with pytest.raises(trainings.Full, match=f"{trainings.KEPT} trainings run on this server at the moment"):
            trainings.keep("late", training())
        assert trainings.mine() == ("", None) and trainings.running() == trainings.KEPT
        kept[3].pause()
        kept[5].stop()
        while trainings.running() > trainings.KEPT - 2:
            pass
        trainings.keep("late", training())
        assert trainings.running() == trainings.KEPT - 2
        visit("5")
        assert trainings.mine() == ("", None), "what has ended leaves first"
        trainings.keep("another", training())
        assert "3" not in trainings._kept and kept[3].state == "stopped", "then what is paused"
        assert all(one.state == "running" for number, one in enumerate(kept) if number not in (3, 5))
    finally:
        for one in [*kept, *(one for _, one in trainings._kept.values())]:
            one.stop()


def test_what_was_trained_may_be_opened_though_folders_may_not(visit, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", "")
    mine = training()
    mine.advance(2)
    folder = trainings.written("mine", mine)
    allowed.check_folder(str(folder))
    assert models.load(str(folder)).info.layers == 1
    for outside in (folder.parent.parent, folder / ".." / ".."):
        with pytest.raises(ModelError, match="cannot be opened here"):
            allowed.check_folder(str(outside))
    mine.advance(1)
    assert trainings.written("mine", mine) != folder, "what was written stays as it was"


def test_a_trained_model_offers_examples_of_its_own_task(visit):
    mine = training()
    mine.advance(1)
    info = models.load(str(trainings.written("mine", mine))).info
    own = boxes.examples(info)
    assert own[0] == "".join(mine.probe)[:-1] and 1 < len(own) <= trainings.EXAMPLES
    assert all(len(one) == mine.task.length - 1 for one in own)
    assert boxes.examples(models.load("writer").info)[0] == state.DEFAULT_TEXT


@given(st_.binary(min_size=16, max_size=16))
def test_a_browser_is_known_by_its_token_whatever_the_mask(token):
    """Streamlit sends the same token under another mask each time."""
    cookies = {generate_xsrf_token_string(token) for _ in range(3)}
    assert {trainings.unmasked(cookie) for cookie in cookies} == {token.hex()} and len(cookies) == 3
    assert trainings.unmasked("") == trainings.unmasked("2|xyz|12|3") == ""
