"""Trainings that are kept: each visitor has his own, a link finds it, the oldest leaves, and what was trained may be opened."""

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
from ui import allowed, trainings

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


def test_the_oldest_leaves_and_is_stopped(visit):
    first = training()
    visit("one")
    trainings.keep("first", first)
    first.start()
    for number in range(trainings.KEPT):
        trainings.keep(f"{number}", training())
    assert first.state == "stopped"
    visit("three")
    assert trainings.mine() == ("", None)


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


@given(st_.binary(min_size=16, max_size=16))
def test_a_browser_is_known_by_its_token_whatever_the_mask(token):
    """Streamlit sends the same token under another mask each time."""
    cookies = {generate_xsrf_token_string(token) for _ in range(3)}
    assert {trainings.unmasked(cookie) for cookie in cookies} == {token.hex()} and len(cookies) == 3
    assert trainings.unmasked("") == trainings.unmasked("2|xyz|12|3") == ""
