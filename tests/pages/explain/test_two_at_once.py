"""Page Explain for two visitors who start long calculations at the same time."""

from __future__ import annotations

import pytest

import models
from analysis import attributions, explain
from pages.explain import request
from pages.explain.request import TITLES
from tests.pages.held import Held
from tests.pages.opening import finish, is_at_work, open_link, press, words_on
from viz.numbers import decimal

LONG = 60  # seconds; a test that waits so long has failed


def ask(text: str, method: str):
    """Return the page of a visitor of its own, who has asked and waits."""
    app = open_link("explain", f"level=expert&explain-by={TITLES[method]}&text={text.replace(' ', '+')}", finished=False)
    assert is_at_work(app) and not app.dataframe
    return app


def is_answered(app, text: str, method: str) -> bool:
    """Return whether the page has the numbers of that text by that method."""
    values = finish(app).dataframe[0].value.iloc[:, 1].tolist()
    return values == [decimal(score) for score in attributions(models.load("writer"), text, method, keep_last=True)]


@pytest.fixture
def held(monkeypatch) -> dict[str, Held]:
    """The calculation of each method, held back until it is released."""
    works = {method: Held(explain) for method in ("lime", "shap")}
    monkeypatch.setattr(request, "explain", lambda question, method, **options: works[method](question, method, **options))
    return works


def test_each_gets_the_own_answer_and_who_cancels_does_not_stop_the_other(held):
    anna, ben = ask("The cow gave milk to", "lime"), ask("The duck swam in the", "shap")
    assert all(work.begun.wait(LONG) for work in held.values()), "both are under way at once"
    press(anna, "Cancel")
    assert held["lime"].stopped.wait(LONG) and not held["shap"].stopped.is_set()
    held["shap"].let.set()
    assert is_answered(ben, "The duck swam in the", "shap")
    assert "Cancelled." in words_on(anna.run()) and not anna.dataframe
    held["lime"].let.set()
    assert is_answered(press(anna, "Start again"), "The cow gave milk to", "lime")


def test_who_asks_the_same_shares_the_work_and_who_cancels_leaves_it_to_the_other(held):
    anna, ben = (ask("The goat ate the", "lime") for _ in range(2))
    press(anna, "Cancel")
    assert not held["lime"].stopped.wait(0.1) and "Cancelled." in words_on(anna)
    held["lime"].let.set()
    assert is_answered(ben, "The goat ate the", "lime")
