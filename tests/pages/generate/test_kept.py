"""What visitors have let grow is bounded over all of them; who comes back after it was let go is shown the same again."""

from __future__ import annotations

import time

import pytest
from streamlit import runtime

from models.strategy import Strategy
from pages.generate import kept
from pages.generate.grown import Beginning, Grown
from tests.pages.generate.test_generate import LINK, ids, press
from tests.pages.opening import PATIENCE, open_link
from ui.memory import loaded, visitors


@pytest.fixture(autouse=True)
def alone():
    kept.store.clear()
    yield
    kept.store.clear()


def grown(text: str, count: int = 3) -> Grown:
    found = Grown(Beginning("writer", text))
    found.lines = [list(loaded.model("writer").generate(text, Strategy(), count))]
    return found


def test_what_nobody_has_shown_for_longest_is_let_go_where_all_take_too_much_and_not_while_it_is_shown(monkeypatch):
    one, two, three = map(grown, ("The cat", "The dog", "The sea"))
    monkeypatch.setattr(kept.store, "bytes", 2 * max(each.bytes for each in (one, two, three)) + 1)
    kept.keep("one", one)
    kept.keep("two", two)
    kept.keep("one", one)  # shown again
    said = [step.token.id for step in two.steps]
    kept.keep("three", three)
    assert one.steps and three.steps and two.bytes == 0 and two.lost and two.lost.lines == [said]
    with one.used:
        kept.keep("two", grown("The dog"))
    assert one.steps and one.lost is None


def test_who_has_gone_leaves_nothing(monkeypatch):
    one = grown("The cat")
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: type("Nobody", (), {"is_active_session": lambda self, visitor: False})())
    kept.keep("one", one)
    visitors.let_go()
    assert one.bytes == 0 and not kept.store.owners


def test_a_text_that_was_let_go_is_there_again_with_its_branches_when_it_is_shown_again():
    app = press(open_link("generate", f"{LINK}&level=intermediate&generate-temperature=1.3&generate-tokens=5"), "run")
    mine = app.session_state["generated"]
    mine.branch(2, next(int(id) for id in mine.steps[2].logits.argsort()[::-1] if id != mine.steps[2].token.id))
    press(app, "next")
    before, shown = [[step.token.id for step in line] for line in mine.lines], ids(app)
    mine.let_go()
    assert mine.bytes == 0
    until = time.monotonic() + PATIENCE
    app.run()
    while app.get("progress") and time.monotonic() < until:
        time.sleep(0.05)
        app.run()
    assert [[step.token.id for step in line] for line in mine.lines] == before and ids(app) == shown and not app.exception
