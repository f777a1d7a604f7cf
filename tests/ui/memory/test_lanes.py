"""A model that takes long leaves a thread to the others, and nothing is done for who has gone."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from models.errors import Cancelled
from ui.memory import lanes, turns, visitors
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


class Held:
    """Work that multiplies by ten; its first round lasts until `go_on` is set. rounds: what was given at once."""

    def __init__(self) -> None:
        self.begun, self.go_on, self.rounds = threading.Event(), threading.Event(), list[list[int]]()

    def __call__(self, given: list[int]) -> list[int | Exception]:
        self.rounds.append(given)
        self.begun.set()
        assert self.go_on.wait(60)
        return [ValueError(f"{number} is bad") if number < 0 else 10 * number for number in given]


def ask_behind(both: Lanes, held: Held, numbers: list[int], askers: ThreadPoolExecutor) -> list:
    """Ask for 0, and for these numbers while that is being worked on; the futures of all."""
    asked = [askers.submit(both.run_together, "writer", held, 0, "kind")]
    assert held.begun.wait(60)
    for count, number in enumerate(numbers, 1):
        asked.append(askers.submit(both.run_together, "writer", held, number, "kind"))
        while len(both._waiting["kind"]) < count:
            time.sleep(0.001)
    return asked


def test_what_comes_meanwhile_is_done_together_and_each_gets_their_own():
    both, held = Lanes(2, lambda: None), Held()
    with ThreadPoolExecutor(8) as askers:
        asked = ask_behind(both, held, [1, 2, -3, 4], askers)
        assert both.run_together("writer", lambda given: given, "at once", "another kind") == "at once"
        held.go_on.set()
        assert [each.result(60) for each in asked if each is not asked[3]] == [0, 10, 20, 40]
        with pytest.raises(ValueError, match="-3 is bad"):
            asked[3].result(60)
    assert held.rounds == [[0], [1, 2, -3, 4]] and not both._waiting
    assert both.run_together("writer", held, 5, "kind") == 50 and held.rounds[-1] == [5]


def test_so_many_wait_that_they_are_done_in_several_rounds(monkeypatch):
    monkeypatch.setattr(lanes, "AT_ONCE", 3)
    both, held = Lanes(1, lambda: None), Held()
    with ThreadPoolExecutor(9) as askers:
        asked = ask_behind(both, held, list(range(1, 8)), askers)
        held.go_on.set()
        assert [each.result(60) for each in asked] == [10 * number for number in range(8)]
    assert held.rounds == [[0], [1, 2, 3], [4, 5, 6], [7]]


def test_who_leaves_while_they_wait_harms_nobody(monkeypatch):
    gone = set[str]()
    monkeypatch.setattr(visitors, "me", lambda: threading.current_thread().name)
    monkeypatch.setattr(visitors, "is_here", lambda visitor: visitor not in gone)
    both, held = Lanes(2, lambda: None), Held()
    with ThreadPoolExecutor(8, thread_name_prefix="asker") as askers:
        asked = ask_behind(both, held, [1, 2, 3], askers)
        gone.add("asker_2")
        held.go_on.set()
        assert [asked[number].result(60) for number in (0, 1, 3)] == [0, 10, 30]
        with pytest.raises(Cancelled):
            asked[2].result(60)
    assert held.rounds == [[0], [1, 3]]


def test_work_that_fails_answers_all_who_wait_and_the_next_begins_again():
    def fail(given: list[int]) -> list[int]:
        raise MemoryError

    both = Lanes(1, lambda: None)
    for _ in range(2):
        with pytest.raises(MemoryError):
            both.run_together("writer", fail, 1, "kind")
    assert both.run_together("writer", lambda given: given, 1, "kind") == 1


def test_runs_that_wait_hand_their_turn_on_so_that_more_texts_come_together(monkeypatch):
    monkeypatch.setattr(turns, "_free", 2)
    both, held = Lanes(2, lambda: None), Held()

    def run(number: int) -> int:
        with turns.turn():
            return both.run_together("writer", held, number, "kind")

    with ThreadPoolExecutor(5) as runs:
        asked = [runs.submit(run, 0)]
        assert held.begun.wait(60)
        asked += [runs.submit(run, number) for number in (1, 2, 3, 4)]
        while len(both._waiting["kind"]) < 4:
            time.sleep(0.001)
        held.go_on.set()
        assert [each.result(60) for each in asked] == [0, 10, 20, 30, 40]
    assert [sorted(numbers) for numbers in held.rounds] == [[0], [1, 2, 3, 4]] and turns._free == 2
