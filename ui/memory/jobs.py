"""Long calculations in the background: run once for all who ask, with progress, and cancellable."""

from __future__ import annotations

import hashlib
import math
import os
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from traceback import clear_frames
from typing import Any, TypeVar

import streamlit as st

from models.errors import Cancelled, is_short_of_memory, panics_caught
from models.training.turns import stand_back
from ui import state
from ui.memory import addresses, limits, visitors
from ui.memory.fair import Fair

T = TypeVar("T")
Report = Callable[[float, str], None]
"""report(share done in 0..1, what is being done): raises Cancelled when nobody wants the work any more."""

AT_ONCE = 0.3  # seconds that a page waits for a result before it shows how far the work is
POLL = 0.3  # seconds between two looks at it
PATIENCE = 2.0  # seconds after which somebody whose page was drawn again without a job wants it no more
AWAY = 90.0  # seconds after which somebody who has not looked is gone: a browser lets a tab in the background look once a minute
ERRORS_STAY = 60.0  # seconds in which work that failed is not tried again
NO_MEMORY_STAYS = 5.0  # and work for which memory was short: others ask for the same, and there may be memory again
KEPT, KEPT_BYTES = 64, 256 * 2**20  # results that are kept, and the bytes of their arrays
OF_NETWORK, IN_ALL = 240, 500  # calculations that wait or run at a time, of a network, which a class may share, and of all
FORGOTTEN = 100  # keys that a visitor cancelled are remembered, the newest ones


class TooMuch(ValueError):
    """More work than one visitor may have done at a time."""


@dataclass(eq=False)
class Job:
    """One piece of work, shared by everybody who looks at it. It ends with a value, with an error, or stopped."""

    key: Hashable
    work: Callable[[Report], Any] | None
    doing: str
    words: str
    share: float = 0.0
    value: Any = None
    error: Exception | None = None
    stopped: bool = False  # nobody wanted it any more
    bytes: int = 0
    until: float = math.inf  # when an error is forgotten
    lookers: dict[Hashable, float] = field(default_factory=dict)  # and when each looked last
    ended: threading.Event = field(default_factory=threading.Event)


class Jobs:
    """Jobs by key, on a few threads of their own. Their results are kept; the least recently used is dropped first.

    threads: how many jobs of one network run at a time; one more thread serves other networks, so that nobody waits for one
    network alone. Networks take turns, and so do their visitors (`fair.Fair`). count, size: results kept, and their bytes. Safe
    to use from many threads.
    """

    def __init__(
        self,
        threads: int = 2,
        count: int = KEPT,
        size: int = KEPT_BYTES,
        clock: Callable[[], float] = time.monotonic,
        initializer: Callable[[], None] | None = None,
    ):
        self._count, self._size, self._clock = count, size, clock
        self._lock = threading.RLock()
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()  # the least used first
        self._drawn: dict[Hashable, float] = {}  # when each visitor's page was begun to be drawn last
        self._turns: Fair[Job] = Fair(threads + 1, threads)
        self._pool = ThreadPoolExecutor(threads + 1, thread_name_prefix="job", initializer=initializer)

    def ask(self, key: Hashable, work: Callable[[Report], Any], doing: str, who: Hashable, network: str = "") -> Job:
        """Return the job of a key, begun if there is none, and note that somebody looks at it. Errors: TooMuch, a sentence."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.stopped or job.until < self._clock():
                self._check_share(who, network)
                job = self._jobs[key] = Job(key, work, doing, f"{doing}: waiting for its turn")
                self._turns.add(job, network, who)
                self._pool.submit(self._turns.work_off, self._run)
            self._jobs.move_to_end(key)
            job.lookers[who] = self._clock()
            return job

    def _check_share(self, who: Hashable, network: str) -> None:
        """Raise TooMuch when this visitor, their network, or everybody together waits for as much work as is allowed."""
        near, every = self._turns.count(network)
        if near >= OF_NETWORK or every >= IN_ALL:
            where = "for your network" if near >= OF_NETWORK else "on this server"
            raise TooMuch(f"No more long calculations can wait {where} now. Try again when some of them have ended.")
        under_way = [job for job in self._jobs.values() if not job.ended.is_set()]
        waits = sum(who in job.lookers and self._looks(who, job.lookers[who]) for job in under_way)
        if waits >= (most := limits.most(limits.JOBS)):
            raise TooMuch(f"This server does at most {most:.0f} long calculations at a time for one page. Wait for one to end.")

    def drawing(self, who: Hashable) -> None:
        """Note that a visitor's page is drawn again: jobs that it does not ask for again are no longer wanted."""
        with self._lock:
            now = self._drawn[who] = self._clock()
            self._drawn = {visitor: then for visitor, then in self._drawn.items() if now <= then + AWAY}

    def under_way(self) -> tuple[int, int]:
        """Return how many jobs wait for their turn, and how many run."""
        with self._lock:
            going = [job for job in self._jobs.values() if not job.ended.is_set()]
        waiting = sum(job.work is not None for job in going)
        return waiting, len(going) - waiting

    def known(self, key: Hashable) -> Job | None:
        """Return the job of a key if it has ended with a value."""
        with self._lock:
            job = self._jobs.get(key)
            return job if job and job.ended.is_set() and not job.stopped and not job.error else None

    def leave(self, key: Hashable, who: Hashable) -> None:
        """Note that a visitor no longer wants a job. When nobody wants it, it stops at its next report."""
        with self._lock:
            if job := self._jobs.get(key):
                job.lookers.pop(who, None)

    def _run(self, job: Job) -> None:
        work, job.work = job.work, None
        assert work is not None, "a job runs once"
        try:
            self._report(job, 0.0, job.doing)  # it may have waited for its turn longer than anybody for it
            with panics_caught():
                value = work(lambda share, words: self._report(job, share, words))
            if value is None:
                raise TypeError("This work gave nothing: None means that it is still under way.")
            job.value, job.bytes = value, size_of(value)
        except Exception as error:
            if not job.stopped:
                clear_frames(error.__traceback__)  # the lines stay, the arrays that were at work go
                stays = NO_MEMORY_STAYS if is_short_of_memory(error) else ERRORS_STAY
                job.error, job.until = error, self._clock() + stays
        with self._lock:
            job.ended.set()
            if job.stopped and self._jobs.get(job.key) is job:
                del self._jobs[job.key]
            self._make_room()

    def _report(self, job: Job, share: float, words: str) -> None:
        with self._lock:
            job.share, job.words = (min(max(float(share), 0.0), 1.0) if math.isfinite(share) else 0.0), words
            if not self._wanted(job):
                job.stopped = True  # under the lock: whoever asks from now on gets a job of their own
                raise Cancelled

    def _wanted(self, job: Job) -> bool:
        return any(self._looks(who, then) for who, then in job.lookers.items())

    def _looks(self, who: Hashable, then: float) -> bool:
        """Return whether somebody who looked at that time still does."""
        now = self._clock()
        return now <= then + AWAY and (then >= self._drawn.get(who, then) or now <= self._drawn[who] + PATIENCE)

    def _make_room(self) -> None:
        """Drop results until the rest fits, but none that somebody still waits for."""
        ended = [job for job in self._jobs.values() if job.ended.is_set()]
        size, count = sum(job.bytes for job in ended), len(ended)
        for job in ended:
            if count <= self._count and size <= self._size:
                break
            if not self._wanted(job):
                del self._jobs[job.key]
                size, count = size - job.bytes, count - 1


def size_of(value: Any) -> int:
    """Return the bytes of the arrays and texts in a value, also inside tuples, lists, dicts, tables and the fields of objects."""
    seen: set[int] = set()

    def size(part: Any) -> int:
        if id(part) in seen:
            return 0
        seen.add(id(part))
        if isinstance(getattr(part, "nbytes", None), int):
            return part.nbytes
        if isinstance(part, str | bytes):
            return len(part)
        if hasattr(part, "memory_usage"):  # a table of pandas
            return int(part.memory_usage(deep=True).sum())
        if isinstance(part, Mapping):
            return sum(size(key) + size(item) for key, item in part.items())
        if isinstance(part, tuple | list | set | frozenset):
            return sum(map(size, part))
        return sum(map(size, vars(part).values())) if hasattr(part, "__dict__") and not isinstance(part, type) else 8

    return size(value)


def _on_one_core(work: Callable[[Report], T]) -> Callable[[Report], T]:
    """Return the same work without numpy's and scikit-learn's own threads: on small arrays they mostly wait for each other, which
    on a busy machine takes ten times as long as the work."""

    def alone(report: Report) -> T:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            return work(report)

    return alone


_jobs = Jobs(max(2, (os.cpu_count() or 2) // 2), initializer=stand_back)


def under_way() -> tuple[int, int]:
    """Return how many jobs wait for their turn, and how many run."""
    return _jobs.under_way()


def _me() -> str:
    if not state.LOOKER.is_set:
        state.LOOKER.set(uuid.uuid4().hex)
    return state.LOOKER.get()


def here() -> None:
    """Note, at the beginning of each run, that a page is drawn again, so that work for its old content stops soon."""
    _jobs.drawing(_me())


def result(
    key: Hashable,
    work: Callable[[Report], T],
    doing: str,
    meanwhile: Callable[[], None] | None = None,
    stop: Callable[[Callable[[], None]], None] | None = None,
    where: str = "",
) -> T | None:
    """Return `work(report)` for this key; None while it is under way or was cancelled.

    The work runs on a thread of its own, once for all visitors who ask for the same key, and must not return None. A quick result
    is returned in the same run; otherwise a progress bar with words (at first `doing`, such as "Arranging the tokens") and a
    button "Cancel" appear here, and the page runs again when the work has ended.
    Work is cancelled at its next report when nobody wants it: the pages of all who asked have been drawn without it for about two
    seconds, because the text has changed, or have not run for a minute and a half. Ask for a key once a run.

    key: everything that the result depends on, such as ("t-sne", model name, text, target, perplexity). meanwhile: called
    repeatedly to draw partial results above the bar. stop: places its own button for cancelling. where: the place (see `place`)
    of the content before and after the work.
    Errors: those of the work, which `ui.show.picture` turns into sentences.
    """
    me = _me()
    if not state.CANCELLED.is_set:
        state.CANCELLED.set({})
    cancelled: dict[Hashable, None] = state.CANCELLED.get()
    name = hashlib.blake2b(repr(key).encode(), digest_size=8).hexdigest()
    if key in cancelled and not _jobs.known(key):
        st.caption("Cancelled.")
        st.button("Start again", key=f"again-{name}", icon=":material/replay:", on_click=cancelled.pop, args=(key, None))
        return None
    cancelled.pop(key, None)

    def cancel() -> None:
        _jobs.leave(key, me)
        cancelled[key] = None
        while len(cancelled) > FORGOTTEN:
            del cancelled[next(iter(cancelled))]

    if stop:
        stop(cancel)
    work = _on_one_core(work)
    network = addresses.mine()
    job = _jobs.ask(key, work, doing, me, network)
    try:
        patience = time.monotonic() + AT_ONCE
        while not job.ended.wait(0.02) and time.monotonic() < patience:
            state.LOOKER.get()  # here Streamlit leaves this run when a newer one is asked for
    except BaseException:
        _jobs.leave(key, me)
        raise
    if job.ended.is_set() and not job.stopped:
        _jobs.leave(key, me)
        if job.error:
            raise job.error
        return job.value

    look = visitors.hold(lambda: _jobs.ask(key, work, doing, me, network))
    meanwhile = meanwhile and visitors.hold(meanwhile)

    def watch() -> None:
        job = None if key in cancelled else look()
        if job is None or job.ended.is_set():
            st.rerun()
        if meanwhile:
            meanwhile()
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.progress(job.share, f"{job.words} · in all … {100 * job.share:.0f}\u00a0%")
            if not stop:
                st.button("Cancel", key=f"cancel-{name}", icon=":material/close:", on_click=cancel)

    with st.container(key=where or f"job-{name}"):
        st.fragment(watch, run_every=POLL)()
    return None


def beside(key: Hashable, work: Callable[[Report], T], meanwhile: Callable[[str], None], where: str) -> T | None:
    """Return an optional result, as `result` does. No run waits for it: the work begins when the page has been at rest for POLL
    seconds, so that it does not slow down typing, and no bar shows its progress. meanwhile: called repeatedly to draw the words
    of the last report. where: the key of the container for this. Work that fails returns None.
    """
    job = _jobs.known(key)
    if job:
        return job.value
    me, network, rested = _me(), addresses.mine(), False
    work = visitors.hold(_on_one_core(work))
    meanwhile = visitors.hold(meanwhile)

    def watch() -> None:
        nonlocal rested
        job = _jobs.ask(key, work, "", me, network) if rested else None
        rested = True
        if job and job.ended.is_set() and not job.error:
            st.rerun()
        meanwhile(job.words if job and job.share else "")

    with st.container(key=where):
        st.fragment(watch, run_every=POLL)()
    return None


@contextmanager
def place(where: str) -> Iterator[None]:
    """Place the content before and after work whose `meanwhile` draws the same, under one name: the browser keeps the drawn parts
    and redraws only the changes."""
    with st.container(key=where), st.container():  # a fragment has a container of its own
        yield
