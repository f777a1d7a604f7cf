"""Trainings that are kept: each visitor has his own, a link finds it, the oldest leaves, and what was trained may be opened."""

from __future__ import annotations

import pytest
import streamlit as st

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
    """visit(link): a new session of somebody who opened that link."""

    def new(**link: str) -> None:
        monkeypatch.setattr(st, "session_state", {})
        monkeypatch.setattr(st, "query_params", dict(link))

    monkeypatch.setattr(trainings, "_kept", type(trainings._kept)())
    new()
    return new


def test_a_visitor_comes_back_to_his_training_and_others_to_theirs(visit):
    mine = training()
    trainings.keep("mine", mine)
    assert trainings.mine() == ("mine", mine) and st.query_params == {"training": "mine"}
    visit()
    assert trainings.mine() == ("", None)
    visit(training="mine")
    assert trainings.mine() == ("mine", mine), "a link finds it"
    visit(training="unknown")
    assert trainings.mine() == ("", None)


def test_what_is_let_go_of_stops(visit):
    mine = training()
    trainings.keep("mine", mine)
    mine.start()
    assert trainings.running() == 1
    trainings.forget()
    assert mine.state == "stopped" and trainings.running() == 0 and trainings.mine() == ("", None)
    assert "training" not in st.query_params


def test_the_oldest_leaves_and_is_stopped(visit):
    first = training()
    trainings.keep("first", first)
    first.start()
    for number in range(trainings.KEPT):
        trainings.keep(f"{number}", training())
    assert first.state == "stopped"
    visit(training="first")
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
