"""Work beside the page: who waits, what is kept, what is told, with works that go on until a test lets them."""

from __future__ import annotations

import importlib
import itertools
import os
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from models.errors import Cancelled
from models.training.turns import NICE, stand_back
from ui.memory import jobs, limits
from ui.memory.jobs import AWAY, ERRORS_STAY, PATIENCE, Jobs, size_of

LONG = 60  # seconds; a test that waits so long has failed
gates: list[threading.Event] = []  # of the works of one test


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Slow:
    """Work that reports all the while and ends when told to."""

    def __init__(self, gives: object = "done"):
        self.gives, self.runs = gives, 0
        self.began, self.gate, self.stopped = threading.Event(), threading.Event(), threading.Event()
        gates.append(self.gate)

    def __call__(self, report):
        self.runs += 1
        self.began.set()
        try:
            while not self.gate.wait(0.002):
                report(0.5, "half of it")
        except Cancelled:
            self.stopped.set()
            raise
        return self.gives


@pytest.fixture(autouse=True)
def no_work_is_left_running() -> Iterator[None]:
    """Python waits at its end for the threads of works, so a test that fails must not leave a work that nothing ends."""
    yield
    for gate in gates:
        gate.set()
    gates.clear()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(clock) -> Jobs:
    return Jobs(2, count=3, size=1000, clock=clock)


def ended(job):
    assert job.ended.wait(LONG)
    return job


def test_two_who_ask_for_the_same_share_one_job(pool):
    work = Slow()
    first, second = pool.ask("key", work, "Working", "anna"), pool.ask("key", work, "Working", "ben")
    assert first is second
    work.gate.set()
    assert ended(first).value == "done"
    assert pool.ask("key", work, "Working", "carol").value == "done"
    assert work.runs == 1


def test_it_tells_how_far_it_is(pool):
    work = Slow()
    job = pool.ask("key", work, "Working", "anna")
    assert work.began.wait(LONG)
    while job.words != "half of it":
        pass
    assert job.share == 0.5
    work.gate.set()
    ended(job)


@given(st.floats())
@settings(max_examples=50, deadline=None)
def test_a_share_is_never_outside_0_to_1(share):
    job = Jobs(1).ask("key", lambda report: report(share, "…") or "done", "Working", "anna")
    assert ended(job).value == "done"
    assert 0 <= job.share <= 1


def test_it_goes_on_while_one_of_two_waits_and_stops_when_both_have_left(pool):
    work = Slow()
    job = pool.ask("key", work, "Working", "anna")
    pool.ask("key", work, "Working", "ben")
    assert work.began.wait(LONG)
    pool.leave("key", "anna")
    assert not work.stopped.wait(0.05)
    pool.leave("key", "ben")
    assert work.stopped.wait(LONG)
    assert ended(job).stopped and pool.known("key") is None


def test_whose_page_is_drawn_without_it_wants_it_no_more(pool, clock):
    work = Slow()
    job = pool.ask("key", work, "Working", "anna")
    assert work.began.wait(LONG)
    for _ in range(3):
        clock.now += PATIENCE * 0.9
        pool.drawing("anna")
        assert pool.ask("key", work, "Working", "anna") is job
    clock.now += PATIENCE * 0.9
    pool.drawing("anna")
    clock.now += PATIENCE * 0.9
    assert not work.stopped.wait(0.05)
    clock.now += PATIENCE * 0.2
    assert work.stopped.wait(LONG)


def test_a_tab_in_the_background_keeps_all_its_work_though_it_looks_once_a_minute(pool, clock):
    works = [Slow(), Slow()]
    pool.drawing("anna")
    jobs_asked = [pool.ask(key, work, "Working", "anna") for key, work in enumerate(works)]
    assert all(work.began.wait(LONG) for work in works)
    for _ in range(3):
        clock.now += 61
        pool.drawing("ben")
        for key, work in enumerate(works):
            assert not works[1].stopped.wait(0.02)
            assert pool.ask(key, work, "Working", "anna") is jobs_asked[key]
    clock.now += AWAY * 0.9
    assert not works[0].stopped.wait(0.05)
    clock.now += AWAY * 0.2
    assert all(work.stopped.wait(LONG) for work in works), "a tab that was closed is gone some time"


def test_what_was_stopped_begins_anew_when_asked_for_again(pool):
    work = Slow()
    job = pool.ask("key", work, "Working", "anna")
    assert work.began.wait(LONG)
    pool.leave("key", "anna")
    ended(job)
    work.gate.set()
    assert ended(pool.ask("key", work, "Working", "anna")).value == "done"
    assert work.runs == 2


def test_what_nobody_waits_for_when_its_turn_comes_never_begins(clock):
    pool, first, second = Jobs(1, clock=clock), Slow(), Slow()
    pool.ask("first", first, "Working", "anna")
    assert first.began.wait(LONG)
    waiting = pool.ask("second", second, "Sorting", "anna")
    assert "waiting for its turn" in waiting.words
    pool.leave("second", "anna")
    first.gate.set()
    assert ended(waiting).stopped and second.runs == 0


def test_an_error_is_told_to_all_and_forgotten_after_a_while(pool, clock):
    runs = []

    def work(report):
        runs.append(1)
        raise ValueError("Too few points: type more.")

    for who in ("anna", "ben"):
        assert str(ended(pool.ask("key", work, "Working", who)).error) == "Too few points: type more."
    assert len(runs) == 1
    clock.now += ERRORS_STAY + 1
    ended(pool.ask("key", work, "Working", "anna"))
    assert len(runs) == 2


def test_an_error_lets_go_of_what_was_at_work(pool):
    import weakref

    held = []

    def work(report):
        array = np.zeros(10)
        held.append(weakref.ref(array))
        raise ValueError("no")

    ended(pool.ask("key", work, "Working", "anna"))
    assert held[0]() is None


def test_work_that_gives_nothing_is_an_error(pool):
    assert isinstance(ended(pool.ask("key", lambda report: None, "Working", "anna")).error, TypeError)


@given(st.lists(st.integers(0, 600), min_size=1, max_size=12))
@settings(max_examples=40, deadline=None)
def test_what_is_kept_is_bounded_and_the_newest_stays(sizes):
    clock = Clock()
    pool = Jobs(1, count=3, size=1000, clock=clock)
    for number, size in enumerate(sizes):
        ended(pool.ask(number, lambda report, size=size: np.zeros(size, dtype=np.uint8), "Working", "anna"))
        assert pool.known(number)
        pool.leave(number, "anna")
    clock.now += 2 * AWAY
    ended(pool.ask("last", lambda report: "x", "Working", "anna"))
    known_numbers = [number for number in range(len(sizes)) if pool.known(number)]
    assert len(known_numbers) <= 2 and sum(sizes[number] for number in known_numbers) < 1000
    assert known_numbers == list(range(len(sizes)))[len(sizes) - len(known_numbers) :]


def test_a_result_does_not_leave_before_who_waits_has_seen_it(clock):
    pool = Jobs(1, count=1, clock=clock)
    ended(pool.ask("first", lambda report: "one", "Working", "anna"))
    ended(pool.ask("second", lambda report: "two", "Working", "ben"))
    assert pool.known("first") and pool.known("second")


def test_the_least_used_leaves_first(clock):
    pool = Jobs(1, count=2, clock=clock)
    for key in ("a", "b", "a", "c"):
        ended(pool.ask(key, lambda report, key=key: key, "Working", "anna"))
        pool.leave(key, "anna")
    assert [key for key in "abc" if pool.known(key)] == ["a", "c"]


def test_sizes_are_those_of_the_arrays():
    import pandas as pd

    array = np.zeros(100, dtype=np.float32)
    table = pd.DataFrame({"number": np.zeros(50)})
    assert size_of({"one": [array, (array[:50],)], "same": array}) == 400 + 200 + 7
    assert 400 <= size_of(table) < 1000
    itself: list = [array]
    itself.append(itself)
    assert size_of(itself) == 400


# On a page


def page():
    import streamlit as st

    from ui.memory.jobs import result
    from ui.show import picture

    key = st.session_state["key"]
    with picture("The picture"):
        results = result(("test", key), st.session_state["work"], "Drawing the picture")
        if results is not None:
            st.markdown(f"The picture shows {results}.")


numbers = itertools.count()


@pytest.fixture
def opened(monkeypatch):
    """`opened(work)`: a page that asks for it, as a visitor of its own who is patient enough for a test."""
    importlib.import_module("torch")  # which the first work would wait for, on a busy machine longer than the page for the work
    monkeypatch.setattr(jobs, "PATIENCE", LONG)

    def open_(work: Slow, key: str = "") -> AppTest:
        app = AppTest.from_function(page, default_timeout=2 * LONG)
        app.session_state["key"], app.session_state["work"] = key or f"key {next(numbers)}", work
        return app.run()

    return open_


def let(work: Slow, monkeypatch) -> None:
    """Let a work end, and the page's next run wait until it has."""
    monkeypatch.setattr(jobs, "AT_ONCE", LONG)
    work.gate.set()


def test_what_is_quick_is_there_at_once(opened, monkeypatch):
    work = Slow("a dog")
    let(work, monkeypatch)
    app = opened(work)
    assert [element.value for element in app.markdown] == ["The picture shows a dog."]
    assert not app.button


def test_a_page_shows_progress_and_then_the_result(opened, monkeypatch):
    work = Slow("a dog")
    app = opened(work)
    assert not app.markdown and [button.label for button in app.button] == ["Cancel"]
    let(work, monkeypatch)
    app.run()
    assert [element.value for element in app.markdown] == ["The picture shows a dog."]
    assert work.runs == 1


def test_cancelled_stays_cancelled_until_started_again(opened, monkeypatch):
    work = Slow("a dog")
    app = opened(work)
    app.button[0].click().run()
    assert work.stopped.wait(LONG)
    assert [element.value for element in app.caption] == ["Cancelled."] and [button.label for button in app.button] == [
        "Start again"
    ]
    app.run()
    assert work.runs == 1 and [button.label for button in app.button] == ["Start again"]
    let(work, monkeypatch)
    app.button[0].click().run()
    assert work.runs == 2 and [element.value for element in app.markdown] == ["The picture shows a dog."]


def test_who_cancels_does_not_take_it_from_the_other(opened, monkeypatch):
    work = Slow("a dog")
    anna, ben = opened(work, "shared"), opened(work, "shared")
    anna.button[0].click().run()
    assert not work.stopped.wait(0.05)
    let(work, monkeypatch)
    assert [element.value for element in ben.run().markdown] == ["The picture shows a dog."]
    assert work.runs == 1
    assert [element.value for element in anna.run().markdown] == ["The picture shows a dog."]  # it costs nothing any more


def test_an_error_becomes_a_sentence_where_the_picture_would_be(opened, monkeypatch):
    class Wrong(Slow):
        def __call__(self, report):
            super().__call__(report)
            raise ValueError("Too few points: type more.")

    work = Wrong()
    app = opened(work)
    let(work, monkeypatch)
    app.run()
    assert [element.value.replace("\\", "") for element in app.error] == [
        "The picture could not be drawn. Too few points: type more."
    ]
    assert app.run().error and work.runs == 1


def test_one_network_fills_the_queue_and_another_one_s_work_begins_at_once(clock):
    pool, flood, mine = Jobs(2, clock=clock), [Slow() for _ in range(jobs.OF_NETWORK)], Slow()
    for number, work in enumerate(flood):
        pool.ask(number, work, "Working", f"cookie {number}", "attacker")
    assert flood[0].began.wait(LONG) and flood[1].began.wait(LONG)
    with pytest.raises(jobs.TooMuch, match="can wait for your network now"):
        pool.ask("one more", Slow(), "Working", "another cookie", "attacker")
    job = pool.ask("mine", mine, "Working", "me", "home")
    assert mine.began.wait(LONG), "while two of the others are under way and all else of theirs waits"
    assert sum(work.runs for work in flood) == 2 and pool.under_way() == (jobs.OF_NETWORK - 2, 3)
    mine.gate.set()
    assert ended(job).value == "done"
    for work in flood:
        work.gate.set()
    for number in range(len(flood)):
        ended(pool.ask(number, flood[number], "Working", "me", "attacker"))


def test_the_server_as_a_whole_takes_so_many(clock, monkeypatch):
    monkeypatch.setattr(jobs, "IN_ALL", 5)
    pool, works = Jobs(1, clock=clock), [Slow() for _ in range(5)]
    for number, work in enumerate(works):
        pool.ask(number, work, "Working", "anna", f"network {number}")
    with pytest.raises(jobs.TooMuch, match="can wait on this server now"):
        pool.ask("one more", Slow(), "Working", "ben", "another")
    for work in works:
        work.gate.set()


def test_a_class_of_sixty_waits_for_four_each_behind_one_address():
    assert 60 * limits.ON_A_PUBLIC_HOST[limits.JOBS] <= jobs.OF_NETWORK < jobs.IN_ALL


@pytest.mark.skipif(sys.platform != "linux", reason="Elsewhere a single thread has no niceness of its own")
def test_long_work_stands_back_for_those_who_type():
    pool = Jobs(1, initializer=stand_back)
    job = ended(pool.ask("niceness", lambda report: os.getpriority(os.PRIO_PROCESS, 0), "", "who"))
    assert job.value == min(19, os.getpriority(os.PRIO_PROCESS, os.getpid()) + NICE)
