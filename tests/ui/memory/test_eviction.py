"""The shelf of models: who waits, what leaves, what is told, with models that are only a number of bytes."""

from __future__ import annotations

import gc
import threading
import weakref
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import Cancelled, ModelError
from models.files.progress import Progress
from ui.memory import addresses
from ui.memory.eviction import OF_NETWORK, PATIENCE, Shelf

LONG = 60  # seconds; a test that waits so long has failed


class Fake:
    """A model that holds itself in a circle, as networks do."""

    def __init__(self, name: str, size: int):
        self.info = SimpleNamespace(name=name, parameters=size // 4)
        self.bytes = size
        self.itself = self


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Loader:
    """Loads "name:bytes" at once; a name that begins with "slow" waits until `let(name)`, reporting all the while."""

    def __init__(self):
        self.loads: list[str] = []
        self.began: dict[str, threading.Event] = {}
        self.gates: dict[str, threading.Event] = {}

    def gate(self, name: str) -> threading.Event:
        return self.gates.setdefault(name, threading.Event())

    def start(self, name: str) -> threading.Event:
        return self.began.setdefault(name, threading.Event())

    def __call__(self, name, report):
        self.loads.append(name)
        size = int(name.partition(":")[2] or 1)
        if name.startswith("slow"):
            report(Progress("read", 0, size))
            self.start(name).set()
            while not self.gate(name).wait(0.005):
                report(Progress("read", 1, size))
        if name.startswith("bad"):
            raise ModelError("This model is broken.")
        if name.startswith("odd"):
            raise KeyError("a secret path")
        return Fake(name, size)


@pytest.fixture
def loader() -> Loader:
    return Loader()


def shelf_of(loader, limit=100, **more) -> Shelf:
    return Shelf(loader, lambda: limit, **more)


def ended(job):
    assert job.ended.wait(LONG)
    return job


def test_what_is_kept_of_a_model_that_leaves_goes_with_it(loader):
    shelf, data_of_models = shelf_of(loader), {}
    shelf.leaving.append(lambda model: data_of_models.pop(model.info.name))
    data_of_models["a:60"] = shelf.get("a:60")
    gone = weakref.ref(data_of_models["a:60"])
    data_of_models["b:60"] = shelf.get("b:60")
    assert list(data_of_models) == ["b:60"] and gone() is None


def test_a_model_is_loaded_once_for_all_who_ask(loader):
    shelf = shelf_of(loader)
    jobs = [shelf.ask("slow:1", visitor) for visitor in "abc"]
    assert loader.start("slow:1").wait(LONG)
    loader.gate("slow:1").set()
    assert len({ended(job) for job in jobs}) == 1 and jobs[0].done and jobs[0].error is None
    assert shelf.get("slow:1") is shelf.get("slow:1")
    assert loader.loads == ["slow:1"]


def test_two_models_load_at_the_same_time_while_a_third_is_read_with(loader):
    shelf = shelf_of(loader)
    shelf.get("here:1")
    jobs = [shelf.ask("slow a", 1), shelf.ask("slow b", 2)]
    assert all(loader.start(job.name).wait(LONG) for job in jobs), "one loading waited for the other"
    with shelf.reading("here:1") as model:
        assert model.info.name == "here:1"
    for job in jobs:
        assert not job.done
        loader.gate(job.name).set()
    assert all(ended(job).done for job in jobs)


def test_the_least_recently_used_model_leaves_first(loader):
    shelf = shelf_of(loader, limit=100)
    for name in ("a:40", "b:40"):
        shelf.get(name)
    shelf.get("a:40")
    shelf.get("c:40")
    assert "a:40" in shelf and "b:40" not in shelf and "c:40" in shelf


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 60)), min_size=1, max_size=12))
def test_the_bytes_are_never_above_the_limit_and_the_last_model_is_there(wanted):
    shelf = shelf_of(Loader(), limit=100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda: 0)  # slow beside torch, and nothing here counts what it frees
        for letter, size in wanted:
            shelf.get(f"{letter}:{size}")
            assert shelf.bytes <= 100
            assert f"{letter}:{size}" in shelf


def test_a_model_that_is_read_with_stays_and_leaves_afterwards(loader):
    shelf = shelf_of(loader, limit=100)
    with shelf.reading("a:60"):
        shelf.get("b:60")
        assert ("a:60" in shelf and "b:60" not in shelf) or "a:60" in shelf
    assert shelf.bytes <= 100


def test_what_left_is_freed_though_it_holds_itself_in_a_circle(loader):
    shelf = shelf_of(loader, limit=100)
    left = weakref.ref(shelf.get("a:60"))
    shelf.get("b:60")
    assert left() is None
    gc.unfreeze()


def test_those_that_stay_never_leave_and_do_not_count(loader):
    shelf = shelf_of(loader, limit=100, stay=("writer:900",))
    shelf.get("writer:900")
    shelf.get("a:90")
    assert "writer:900" in shelf and "a:90" in shelf and shelf.bytes == 90


def test_room_is_made_before_the_weights_are_read(loader):
    shelf = shelf_of(loader, limit=100)
    shelf.get("a:60")
    job = shelf.ask("slow:60", 1)
    assert loader.start("slow:60").wait(LONG)
    assert "a:60" not in shelf
    loader.gate("slow:60").set()
    assert ended(job).done and shelf.bytes == 60


@pytest.mark.parametrize("name", ["slow:201", "quick:101"])
def test_a_model_that_can_never_fit_is_refused_with_both_figures(loader, name):
    shelf = shelf_of(loader, limit=100_000_000)
    size = {"slow:201": 201_000_000, "quick:101": 101_000_000}[name]
    job = ended(shelf.ask(name.replace(name.partition(":")[2], str(size)), 1))
    assert f"{size // 10**6} MB" in job.error and "100 MB" in job.error and "HEADLIGHT_MODEL_BYTES" in job.error
    assert shelf.bytes == 0


def test_a_broken_model_tells_why_and_can_be_tried_again(loader):
    shelf = shelf_of(loader)
    assert ended(shelf.ask("bad", 1)).error == "This model is broken."
    with pytest.raises(ModelError, match="This model is broken"):
        shelf.get("bad")
    assert loader.loads == ["bad", "bad"] and "bad" not in shelf


def test_what_nobody_foresaw_is_told_without_its_details(loader, caplog):
    job = ended(shelf_of(loader).ask("odd", 1))
    assert "odd" in job.error and "secret" not in job.error
    assert "secret" in caplog.text, "the log must say what happened"


def test_one_visitor_leaving_does_not_stop_what_another_waits_for(loader):
    shelf = shelf_of(loader)
    job = shelf.ask("slow", "a")
    shelf.ask("slow", "b")
    assert loader.start("slow").wait(LONG)
    shelf.leave(job, "a")
    assert not job.ended.wait(0.1)
    shelf.leave(job, "b")
    assert ended(job).stopped and not job.done and "slow" not in shelf


def test_a_visitor_who_no_longer_looks_is_gone(loader):
    clock = Clock()
    shelf = shelf_of(loader, clock=clock)
    job = shelf.ask("slow", "closed tab")
    assert loader.start("slow").wait(LONG)
    clock.now = PATIENCE - 1
    assert shelf.look(job, "closed tab") is job
    clock.now = 2 * PATIENCE - 2
    assert not job.ended.wait(0.1)
    clock.now = 2 * PATIENCE
    assert ended(job).stopped


def test_who_comes_back_to_a_stopped_job_gets_a_new_one(loader):
    shelf = shelf_of(loader)
    job = shelf.ask("slow", "a")
    assert loader.start("slow").wait(LONG)
    shelf.leave(job, "a")
    ended(job)
    again = shelf.look(job, "a")
    assert again is not job
    loader.gate("slow").set()
    assert ended(again).done and "slow" in shelf


def test_who_reads_waits_for_the_job_that_others_began_and_keeps_it_alive(loader):
    shelf, result = shelf_of(loader), []
    job = shelf.ask("slow", "a")
    assert loader.start("slow").wait(LONG)
    reader = threading.Thread(target=lambda: result.append(shelf.get("slow")))
    reader.start()
    while len(job.waiters) < 2:
        threading.Event().wait(0.001)
    shelf.leave(job, "a")
    assert not job.ended.wait(0.1)
    loader.gate("slow").set()
    reader.join(LONG)
    assert result and loader.loads == ["slow"]


def test_cancelled_by_the_loader_itself_is_no_error():
    def load(name, report):
        raise Cancelled

    job = ended(Shelf(load, lambda: 1).ask("a", 1))
    assert job.stopped and job.error is None


def test_one_network_loads_a_few_models_at_a_time_and_another_one_s_is_loaded_meanwhile(loader, monkeypatch):
    shelf, jobs = shelf_of(loader, limit=1000, stay=("writer",)), []
    monkeypatch.setattr(addresses, "mine", lambda: "attacker")
    names = [f"slow{number}" for number in range(20)]
    for number, name in enumerate(names):
        jobs.append(shelf.ask(name, f"cookie {number}"))
    for name in names[:OF_NETWORK]:
        assert loader.start(name).wait(LONG)
    monkeypatch.setattr(addresses, "mine", lambda: "home")
    assert ended(shelf.ask("mine:1", "me")).done and ended(shelf.ask("writer", "me")).done
    assert sorted(loader.loads) == sorted(["mine:1", "writer", *names[:OF_NETWORK]]), "all else of theirs waits"
    for name in names:
        loader.gate(name).set()
    assert all(ended(job).done for job in jobs) and shelf.bytes == 21


def test_who_has_gone_before_their_turn_has_nothing_loaded(loader):
    shelf = shelf_of(loader)
    first = [shelf.ask(f"slow{number}", "flood") for number in range(OF_NETWORK)]
    waiting = shelf.ask("mine:1", "me")
    shelf.leave(waiting, "me")
    for number in range(OF_NETWORK):
        loader.gate(f"slow{number}").set()
    assert ended(waiting).stopped and all(ended(job).done for job in first) and "mine:1" not in loader.loads
