"""The continuations of all visitors are bounded together; a visitor whose own was dropped sees the same again."""

from __future__ import annotations

import time

import pytest
from streamlit import runtime

from models.generation.strategy import Strategy
from pages.generate import memory
from pages.generate.continuation import Beginning, Continuation
from tests.pages.generate.test_generate import LINK, ids, press
from tests.pages.opening import PATIENCE, open_link
from ui.memory import loaded, visitors


@pytest.fixture(autouse=True)
def alone():
    memory.store.clear()
    yield
    memory.store.clear()


def grow(text: str, count: int = 3) -> Continuation:
    continuation = Continuation(Beginning("writer", text))
    continuation.lines = [list(loaded.model("writer").generate(text, Strategy(), count))]
    return continuation


def test_what_nobody_has_shown_for_longest_is_let_go_where_all_take_too_much_and_not_while_it_is_shown(monkeypatch):
    cat, dog, sea = map(grow, ("The cat", "The dog", "The sea"))
    monkeypatch.setattr(memory.store, "bytes", 2 * max(each.bytes for each in (cat, dog, sea)) + 1)
    memory.keep("one", cat)
    memory.keep("two", dog)
    memory.keep("one", cat)  # shown again
    dog_ids = [step.token.id for step in dog.steps]
    memory.keep("three", sea)
    assert cat.steps and sea.steps and dog.bytes == 0 and dog.saved_ids and dog.saved_ids.lines == [dog_ids]
    with cat.used:
        memory.keep("two", grow("The dog"))
    assert cat.steps and cat.saved_ids is None


def test_who_has_gone_leaves_nothing(monkeypatch):
    cat = grow("The cat")
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: type("Nobody", (), {"is_active_session": lambda self, visitor: False})())
    memory.keep("one", cat)
    visitors.let_go()
    assert cat.bytes == 0 and not memory.store.owners


def test_a_text_that_was_let_go_is_there_again_with_its_branches_when_it_is_shown_again():
    app = press(open_link("generate", f"{LINK}&level=intermediate&generate-temperature=1.3&generate-tokens=5"), "run")
    continuation = app.session_state["generated"]
    continuation.branch(
        2, next(int(id) for id in continuation.steps[2].logits.argsort()[::-1] if id != continuation.steps[2].token.id)
    )
    press(app, "next")
    before, ids_on_screen = [[step.token.id for step in line] for line in continuation.lines], ids(app)
    continuation.let_go()
    assert continuation.bytes == 0
    until = time.monotonic() + PATIENCE
    app.run()
    while app.get("progress") and time.monotonic() < until:
        time.sleep(0.05)
        app.run()
    assert (
        [[step.token.id for step in line] for line in continuation.lines] == before
        and ids(app) == ids_on_screen
        and not app.exception
    )
