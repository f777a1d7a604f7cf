"""A model that takes long leaves a thread to the others, and nothing is done for who has gone."""

from __future__ import annotations

import threading
import time

import pytest

from models.errors import Cancelled
from ui.memory import lanes, visitors
from ui.memory.lanes import REMEMBERED, Lanes


def work_long() -> bool:
    begun = time.thread_time()
    while time.thread_time() - begun <= 0.1:
        pass
    return True


def test_models_that_take_long_leave_a_thread_to_the_others(monkeypatch):
    monkeypatch.setattr(lanes, "LONG", 0.05)
    now = [0.0]
    both = Lanes(2, lambda: None, clock=lambda: now[0])
    assert both.run("slow", work_long) and both.is_slow("slow") and not both.is_slow("quick")
    enough = threading.Event()
    waiting = [threading.Thread(target=both.run, args=("slow", enough.wait)) for _ in range(6)]
    for thread in waiting:
        thread.start()
    try:
        assert both.run("quick", lambda: "answered") == "answered", "while six wait for the other"
        assert not both.is_slow("quick")
    finally:
        enough.set()
        for thread in waiting:
            thread.join()
    now[0] += REMEMBERED
    assert not both.is_slow("slow"), "which has been quick for a while"


def test_nothing_is_done_for_who_has_gone(monkeypatch):
    here = {"a", ""}
    monkeypatch.setattr(visitors, "is_here", here.__contains__)
    done = []
    both = Lanes(1, lambda: None)
    for visitor in ("a", "b", ""):
        monkeypatch.setattr(visitors, "me", lambda visitor=visitor: visitor)
        if visitor == "b":
            with pytest.raises(Cancelled):
                both.run("writer", done.append, visitor)
        else:
            both.run("writer", done.append, visitor)
    assert done == ["a", ""]
