"""Trainings share a few threads: each has its step in turn, none has two at once, and who leaves has none."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.training import turns as turns_module
from models.training.turns import Turns

LONG = 60  # seconds; a test that waits so long has failed


class Steps:
    """So many steps to do, each noted by name. act: what a step does besides."""

    def __init__(self, name: str, count: int, done: list[str], act: Callable[[], object] = lambda: None) -> None:
        self.name, self.count, self.done, self.act = name, count, done, act
        self.over = threading.Event()
        self.inside = threading.Lock()

    def take_turn(self) -> bool:
        assert self.inside.acquire(blocking=False), "it has two turns at once"
        try:
            self.act()
            self.done.append(self.name)
            self.count -= 1
            return self.count > 0
        finally:
            self.inside.release()
            if self.count <= 0:
                self.over.set()


def wait_until_all_threads_have_ended(turns: Turns) -> None:
    with turns._changed:
        assert turns._changed.wait_for(lambda: not turns._running and not turns._waiting, LONG)
    for thread in threading.enumerate():
        if thread.name == "live training":
            thread.join(LONG)


def test_each_has_a_step_in_turn():
    done, gate = list[str](), threading.Event()
    turns = Turns(1)
    turns.ask(Steps("gate", 1, done, lambda: gate.wait(LONG)))
    all_steps = [Steps(name, count, done) for name, count in (("a", 3), ("b", 1), ("c", 2))]
    for steps in all_steps:
        turns.ask(steps)
    gate.set()
    assert all(steps.over.wait(LONG) for steps in all_steps)
    assert done == ["gate", "a", "b", "c", "a", "c", "a"]


def test_one_whose_steps_are_long_has_no_more_time_than_the_others(monkeypatch):
    monkeypatch.setattr(turns_module, "SHARE", 0.02)
    done = list[str]()
    turns = Turns(1)
    large = Steps("large", 2, done, lambda: time.sleep(0.5))
    small = Steps("small", 30, done, lambda: time.sleep(0.005))
    for steps in (large, small):
        turns.ask(steps)
    assert all(steps.over.wait(LONG) for steps in (large, small))
    assert done == ["large", *["small"] * 30, "large"]


def test_one_that_fails_takes_no_turn_from_another_and_is_in_the_log(caplog):
    done = list[str]()
    turns, other = Turns(1), Steps("other", 2, done)
    turns.ask(Steps("fails", 5, done, lambda: 1 / 0))
    turns.ask(other)
    assert other.over.wait(LONG) and done == ["other", "other"]
    wait_until_all_threads_have_ended(turns)
    assert [record.exc_info[0] for record in caplog.records] == [ZeroDivisionError]


def test_who_leaves_waits_for_the_end_of_its_own_step_and_not_for_those_of_others():
    done, gate, begun = list[str](), threading.Event(), threading.Event()
    turns = Turns(1)
    runs, waits = Steps("runs", 9, done, lambda: (begun.set(), gate.wait(LONG))), Steps("waits", 9, done)
    turns.ask(runs)
    assert begun.wait(LONG)
    turns.ask(waits)
    turns.leave(waits)
    leaving = threading.Thread(target=turns.leave, args=(runs,))
    leaving.start()
    leaving.join(0.05)
    assert leaving.is_alive() and not done
    gate.set()
    leaving.join(LONG)
    count = len(done)
    assert not leaving.is_alive() and set(done) == {"runs"}
    wait_until_all_threads_have_ended(turns)
    assert len(done) == count and turns._alive == 0


@pytest.mark.parametrize("threads", [1, 3])
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=30))
def test_whoever_asks_and_leaves_in_whatever_order_has_one_turn_at_a_time_and_ends(threads, story):
    turns, done = Turns(threads), list[str]()
    everyone = [Steps(str(number), 5, done) for number in range(4)]
    asked = set[int]()
    for number, asks in story:
        if asks and number not in asked and everyone[number].count > 0:
            turns.ask(everyone[number])
            asked.add(number)
        elif not asks and number in asked:
            turns.leave(everyone[number])
            asked.remove(number)
            assert everyone[number] not in turns._waiting and everyone[number] not in turns._running
    for number in asked:
        assert everyone[number].over.wait(LONG)
    wait_until_all_threads_have_ended(turns)
    assert turns._alive == 0 and all(0 <= steps.count <= 5 for steps in everyone)


def test_a_thread_that_does_not_start_or_fails_at_its_beginning_keeps_nobody_waiting_for_ever(monkeypatch):
    done, fails = list[str](), [True, True]
    turns = Turns(1, lambda: 1 / (not fails.pop() if fails else 1))
    first, second = Steps("first", 2, done), Steps("second", 2, done)
    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr(threading.Thread, "start", lambda thread: (_ for _ in ()).throw(RuntimeError("can't start new thread")))
        turns.ask(first)
    turns.ask(second)
    assert second.over.wait(LONG) and done == ["second", "second"]
    wait_until_all_threads_have_ended(turns)
    assert turns._alive == 0
