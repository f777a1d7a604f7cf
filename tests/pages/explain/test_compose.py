"""Page Explain is composed without Streamlit: any thread composes the same boards as a run of the page mounts."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import models
from pages.explain import state as page_state
from pages.explain.asked import TITLES, Request, request_of
from pages.explain.boards import methods
from pages.explain.boards.methods import explanations_of
from pages.explain.compose import HERE, compose
from pages.explain.settings import Agreed, Asked, Compared, Costs, Doubted, Explained, Reading, Settings, Tokens
from tests.pages.mounting import assert_mounted, on_a_plain_thread
from tests.pages.opening import open_link, unmarked
from tests.pages.test_compose import folders, look, open_page, pairs_of, traces  # noqa: F401
from ui.believe.compose import compose as compose_trial
from ui.believe.compose import opens_on
from ui.choices.word import token_of
from ui.look import Choices, Look, look_of
from ui.memory import jobs, loaded
from ui.picture.board import Board, Draft, Table
from ui.picture.picture import Picture
from viz.figures.style import on_page

TEXT, METHODS, BELIEVE = page_state.EXPLAIN.values
FEW = {("decoder", "beginner", TEXT), ("encoder", "intermediate", TEXT), ("encoder-decoder", "expert", TEXT)}


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[Hashable, Any]:
    """Return the results of the page's jobs by their keys: a second calculation has taken another time."""
    result, values = jobs.result, dict[Hashable, Any]()

    def keep(key: Hashable, *given: Any, **options: Any) -> Any:
        if (value := result(key, *given, **options)) is not None:
            values[key] = value
        return value

    monkeypatch.setattr(jobs, "result", keep)
    return values


def answer(answers: dict[Hashable, Any], *beginning: Any) -> Any:
    """The answer of the one job whose key begins so."""
    (value,) = (value for key, value in answers.items() if isinstance(key, tuple) and key[: len(beginning)] == beginning)
    return value


def assert_drawn(app: AppTest, board: Board) -> None:
    """A page has the figures of a board."""
    specs = [figure(json.loads(chart.proto.spec)) for chart in app.get("plotly_chart")]
    for picture in (part for part in board.contents.values() if isinstance(part, Picture)):
        assert figure(json.loads(on_page(picture.drawn, dark=False).to_json())) in specs


def figure(spec: dict[str, Any]) -> dict[str, Any]:
    """A figure without its template: Streamlit brings one of its own."""
    return spec | {"layout": {name: value for name, value in spec["layout"].items() if name != "template"}}


def readings(request: Request, view: str, answers: dict[Hashable, Any]) -> Iterator[Reading]:
    """What the boards of a view show, from what the page's jobs gave."""
    yield Tokens()
    if view == TEXT and request.look.level != "expert":
        yield Asked()
    if view == TEXT:
        explanation = answer(answers, *request.key, page_state.EXPLAIN_BY.default)
        yield Explained(explanation)
        if request.look.beginner:
            yield Doubted(explanation, answer(answers, "faithful", *request.key))
    if view == METHODS:
        every = answer(answers, *request.key, "every")
        yield Agreed(every)
        yield Compared(every)
        if request.look.level == "expert":
            yield Costs(explanations_of(every), answer(answers, *request.key, "spread"))


@pytest.mark.parametrize(("kind", "level", "view"), pairs_of(page_state.EXPLAIN.values, FEW))
def test_explain_composes_what_a_run_mounts(folders, traces, answers, kind, level, view):  # noqa: F811
    if level == "beginner" and view != TEXT:
        pytest.skip("beginners have one view")
    short = {} if view == TEXT else {"text": "The dog ran"}  # each method reads many versions of it
    app = open_page("explain", kind, folders[kind], f"level={level}&explain={view.replace(' ', '+')}", **short)
    seen = look(kind, folders[kind], traces[-1], app, {"level": level})
    assert_every_board(app, seen, Settings(), view, answers)


def assert_every_board(
    app: AppTest, seen: Look, settings: Settings, view: str, answers: dict[Hashable, Any], opens: str = "leave-one-out"
) -> None:
    """The page has every board of a view. opens: the method of the first view, whose order is tried first."""
    request = request_of(seen, settings)
    for reading in readings(request, view, answers):
        if isinstance(reading, Doubted):
            board = on_a_plain_thread(partial(compose, seen, settings, reading))
            assert board.beside and {note.text for note in board.beside} <= {caption.value for caption in app.caption}
        else:
            assert_drawn(app, assert_mounted(app, partial(compose, seen, settings, reading)))
    if view == BELIEVE:
        trial = replace(request.trial(explanations_of(answer(answers, *request.key, "every"))), opens=opens)
        evidence = answer(answers, "faithful", *request.key)
        chosen = opens_on(trial, evidence)
        board = assert_mounted(app, partial(compose_trial, seen, trial, evidence, chosen))
        assert_drawn(app, board)
        (whole,) = tables(board)
        narrow = tables(compose_trial(replace(seen, narrow=True), trial, evidence, chosen))
        assert len(narrow) == (3 if seen.level == "expert" else 2) and pd.concat(narrow, axis=1).equals(whole), "on a telephone"


def tables(board: Board) -> list[pd.DataFrame]:
    """The tables of a board that do not scroll."""
    return [part.rows for part in board.contents.values() if isinstance(part, Table) and not part.scrolls]


@pytest.mark.parametrize("view", [TEXT, pytest.param(BELIEVE, marks=pytest.mark.thorough)])
def test_explain_composes_with_all_that_is_chosen(folders, traces, answers, view):  # noqa: F811
    """A contrast at a token, by another method, against the token embedding alone, and without special tokens."""
    model, method = loaded.model(folders["decoder"]), "gradient × input"
    words = {token: word for word in ("the", "cat", "and", "sat", "on") if (token := token_of(model, word, ())) is not None}
    first, second = list(words)[:2]
    chosen = f"explain-word={words[first]}&explain-against={words[second]}&token=3&special=false&explain-tokens=true"
    more = f"level=expert&explain={view.replace(' ', '+')}&{chosen}&explain-by={TITLES[method]}"
    app = open_page("explain", "decoder", folders["decoder"], more)
    assert not app.warned
    seen = look("decoder", folders["decoder"], traces[-1], app, {"level": "expert", "token": 3, "special": False})
    settings = Settings(first, second, tokens_alone=view == TEXT)
    if view == BELIEVE:
        return assert_every_board(app, seen, settings, view, answers, method)
    explanation = answers[(*request_of(seen, settings).key, method, True)]
    board = assert_mounted(app, partial(compose, seen, settings, Explained(explanation)))
    assert "embedding alone" in unmarked(board.beside[0].text)


def test_explain_says_why_nothing_can_be_asked(folders, traces):  # noqa: F811
    app = open_link("explain", f"model={folders['decoder']}&level=intermediate&text=")
    seen = look("decoder", folders["decoder"], traces[-1], app, {"level": "intermediate"})
    board = assert_mounted(app, partial(compose, seen, Settings(), Asked()))
    assert not board.data


@pytest.mark.parametrize("highest", [0.9, 0.2])
def test_methods_that_are_alike_stand_beside_random_orders(monkeypatch, highest):
    """Of three random orders of ten tokens, the most alike pair reaches about 0.30."""
    ranks = np.array([[1, highest, -0.1], [highest, 1, 0.1], [-0.1, 0.1, 1]])
    monkeypatch.setattr(methods, "agreement", lambda explanations, units: ranks)
    explanations = [SimpleNamespace(method=method) for method in ("lime", "shap", "rollout")]
    writer = models.load("writer")
    draft = Draft(HERE, look_of(writer, writer.trace("dog"), "", Choices(level="intermediate")))
    methods.say_extremes(draft, SimpleNamespace(question=SimpleNamespace(units=range(10))), explanations)
    words = unmarked(str(draft.contents["extremes"].text))
    assert "LIME and SHAP" in words and f"({highest:.2f})" in words and "3 random orders" in words
    assert ("more alike than chance would" in words) == (highest < 0.3) and "0.30" in words and "−0.28" in words
