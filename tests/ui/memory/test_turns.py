"""Runs take turns: never more at once than there are cores, and who came first is first."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ui.memory import turns


@pytest.fixture(autouse=True)
def two_turns(monkeypatch):
    monkeypatch.setattr(turns, "_free", 2)


def wait_for(count: int) -> None:
    """Until so many wait for a turn."""
    while len(turns._waiting) < count:
        time.sleep(0.001)


def test_never_more_at_once_than_there_are_turns():
    inside, most, lock = 0, 0, threading.Lock()

    def work(_: int) -> None:
        nonlocal inside, most
        with turns.turn():
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.002)
            with lock:
                inside -= 1

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, range(60)))
    assert (most, turns._free) == (2, 2)


def test_who_came_first_is_first_but_for_who_goes_before_all(monkeypatch):
    monkeypatch.setattr(turns, "_free", 1)
    order: list[str] = []

    def work(name: str) -> None:
        with turns.turn(first=name == "d"):
            order.append(name)

    with ThreadPoolExecutor(4) as pool, turns.turn():
        for place, name in enumerate("abcd"):
            pool.submit(work, name)
            wait_for(place + 1)
    assert order == ["d", "a", "b", "c"]


def test_an_error_hands_the_turn_on():
    with pytest.raises(ZeroDivisionError), turns.turn():
        1 / 0  # noqa: B018
    assert turns._free == 2


def test_who_waits_too_long_begins_without_a_turn_and_hands_none_on(monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE", 0.01)
    with turns.turn(), turns.turn():
        with turns.turn() as waited:
            assert waited >= 0.01
        assert turns._free == 0 and not turns._waiting
    assert turns._free == 2
