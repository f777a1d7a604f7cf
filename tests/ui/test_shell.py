"""The frame of every page, in a room that is so full that runs wait for their turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.pages.opening import open_link
from ui import shell
from ui.memory import turns


def test_who_has_typed_while_the_whole_page_waited_for_its_turn_gets_the_page(monkeypatch):
    @contextmanager
    def after_a_while(first: bool = False) -> Iterator[float]:
        yield 2 * shell.LONG

    monkeypatch.setattr(shell, "turn", after_a_while)
    app = open_link("type", "text=The+cat")
    app.session_state["typing"] = True
    app.run()
    assert not app.exception and app.text_input(key="text").value == "The cat"


def test_a_whole_page_has_one_turn_for_all_that_it_runs(monkeypatch):
    app = open_link("attention", "text=The+cat")
    asked, ask, free = [], turns._ask, turns._free
    monkeypatch.setattr(turns, "_ask", lambda first: asked.append(first) or ask(first))
    app.run()
    assert not app.exception and (len(asked), turns._free) == (1, free)
