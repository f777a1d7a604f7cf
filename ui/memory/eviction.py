"""The models in memory: each is loaded once for everybody, and the least recently used is dropped first."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING

from models.errors import Cancelled, ModelError, is_short_of_memory, panics_caught
from models.files.progress import Progress, Report
from models.numbers.sizes import size
from ui.memory import addresses
from ui.memory.fair import Fair

if TYPE_CHECKING:
    from models.language_model import LanguageModel

# A visitor who has not looked for so long is gone. A browser lets a tab in the background look once a minute.
PATIENCE = 90.0

# Models that are loaded at a time, in all and for one network: a loading may take memory beyond the weights, and a process that
# tries its files. What ships is loaded at once.
LOADINGS, OF_NETWORK = 4, 3
NO_MEMORY = "The server has too little memory for it now. Choose a smaller model, or try again later."


class TooLarge(Cancelled):
    """The model does not fit; raised in a loading's report to stop it."""


class Job:
    """The loading of one model, shared by everybody who waits for it. It ends with a model, with an error, or stopped."""

    def __init__(self, name: str):
        self.name = name
        self.progress: Progress | None = None
        self.error: str | None = None
        self.stopped = False  # nobody wanted it any more
        self.bytes = 0  # of the weights it is reading
        self.ended = threading.Event()
        self.waiters: dict[Hashable, float] = {}

    @property
    def done(self) -> bool:
        """Whether the loading has ended with a model or an error."""
        return self.ended.is_set() and not self.stopped


@dataclass
class Entry:
    """A model on the shelf, with the bytes of its weights and the number of readers that use it right now."""

    model: LanguageModel
    bytes: int
    readers: int = 0


class Shelf:
    """Models in memory by name, at most `limit()` bytes of weights, not counting the names that always `stay`.

    load(name, report): returns a model that is ready to read. Safe to use from many threads.
    """

    def __init__(
        self,
        load: Callable[[str, Report], LanguageModel],
        limit: Callable[[], int],
        stay: tuple[str, ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ):
        self._limit, self._load, self._stay, self._clock = limit, load, stay, clock
        self._lock = threading.RLock()
        self._entries: OrderedDict[str, Entry] = OrderedDict()  # the least recently used first
        self._jobs: dict[str, Job] = {}
        self._turns: Fair[Job] = Fair(LOADINGS, OF_NETWORK)
        self.leaving: list[Callable[[LanguageModel], None]] = []  # told of each model that leaves: what is kept of it goes too

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    @property
    def models(self) -> list[LanguageModel]:
        """All models that are here now."""
        with self._lock:
            return [entry.model for entry in self._entries.values()]

    @cached_property
    def limit(self) -> int:
        """The bytes of weights allowed, computed when the first model that counts is loaded."""
        return self._limit()

    @property
    def bytes(self) -> int:
        """The bytes of weights that count: of models on the shelf, and of those being loaded."""
        with self._lock:
            return sum(entry.bytes for name, entry in self._entries.items() if name not in self._stay) + sum(
                job.bytes for job in self._jobs.values()
            )

    def ask(self, name: str, visitor: Hashable, until: float | None = None) -> Job:
        """Return the job that loads a model, and begin it unless one is under way. The visitor waits for it until `leave`, or
        until they have not called `look` for a while; until the time `until` they wait without calling it."""
        with self._lock:
            job = self._jobs.get(name)
            if job is None or job.stopped:
                job = self._jobs[name] = Job(name)
                begin = partial(self._run, job) if name in self._stay else partial(self._turns.work_off, self._run)
                if name not in self._stay:
                    self._turns.add(job, addresses.mine(), visitor)
                threading.Thread(target=begin, name=f"load {name}", daemon=True).start()
            job.waiters[visitor] = self._clock() + PATIENCE if until is None else until
            return job

    def look(self, job: Job, visitor: Hashable) -> Job:
        """Note that the visitor still waits. Return the job, or its replacement if it was stopped meanwhile."""
        with self._lock:
            if job.stopped:
                return self.ask(job.name, visitor)
            job.waiters[visitor] = self._clock() + PATIENCE
            return job

    def leave(self, job: Job, visitor: Hashable) -> None:
        """Note that the visitor no longer waits; a job without waiting visitors stops."""
        with self._lock:
            job.waiters.pop(visitor, None)

    def get(self, name: str) -> LanguageModel:
        """Return the model of that name, loaded if it is not there. Errors: ModelError, the reason why it cannot be loaded."""
        with self.reading(name) as model:
            return model

    @contextmanager
    def reading(self, name: str) -> Iterator[LanguageModel]:
        """Yield the model of that name, loaded if it is not there; it stays on the shelf inside the `with` block.

        Errors: ModelError, the reason why it cannot be loaded.
        """
        entry = self._take(name)
        try:
            yield entry.model
        finally:
            with self._lock:
                entry.readers -= 1
                crowded = self._crowded()
            if crowded:
                self._make_room()

    def _take(self, name: str) -> Entry:
        while True:
            with self._lock:
                if entry := self._entries.get(name):
                    self._entries.move_to_end(name)
                    entry.readers += 1
                    return entry
                job = self.ask(name, me := object(), until=inf)
            job.ended.wait()
            self.leave(job, me)
            if job.error:
                raise ModelError(job.error)

    def _run(self, job: Job) -> None:
        try:
            self._report(job, Progress("prepare"))  # it may have waited for its turn longer than anybody for it
            with panics_caught():
                model = self._load(job.name, lambda progress: self._report(job, progress))
            self._report(job, Progress("prepare"))
            self._put(job, model)
        except TooLarge:
            weights = job.progress.total if job.progress else 0
            job.error = (
                f"“{job.name}” has {size(weights)} of weights, and at most {size(self.limit)} are kept in "
                "memory here. Choose a smaller model, or start Headlight with a larger HEADLIGHT_MODEL_BYTES."
            )
        except Cancelled:
            job.stopped = True
        except ModelError as error:
            job.error = str(error)
        except Exception as error:
            logging.getLogger(__name__).exception("%s could not be loaded", job.name)
            job.error = f"“{job.name}” could not be loaded; the server’s log says why. Choose another model."
            if is_short_of_memory(error):
                job.error = f"“{job.name}” could not be loaded. {NO_MEMORY}"
        finally:
            with self._lock:
                job.bytes = 0
                if self._jobs.get(job.name) is job:
                    del self._jobs[job.name]
            job.ended.set()

    def _report(self, job: Job, progress: Progress) -> None:
        """Note the progress of a loading. Errors: Cancelled when nobody waits any more; TooLarge."""
        with self._lock:
            job.progress = progress
            if all(until < self._clock() for until in job.waiters.values()):
                job.stopped = True  # under the lock: whoever asks from now on gets a job of their own
                raise Cancelled
            if job.name in self._stay:
                return
            if progress.total > 2 * self.limit:  # files of float32 may be kept in 16 bits
                raise TooLarge
            reads = progress.stage == "read" and progress.total != job.bytes
            if reads:
                job.bytes = progress.total
        if reads:
            self._make_room()

    def _put(self, job: Job, model: LanguageModel) -> None:
        size = getattr(model, "bytes", 4 * model.info.parameters)
        if size > self.limit and job.name not in self._stay:
            job.progress = Progress("read", size, size)
            raise TooLarge
        with self._lock:
            job.bytes = 0
            entry = self._entries[job.name] = Entry(
                model, size, readers=1
            )  # a reader, so that this model is not the one that leaves
        self._make_room()
        gc.collect()
        gc.freeze()  # what stays need not be walked by later collections
        with self._lock:
            entry.readers -= 1

    def _crowded(self) -> bool:
        size = self.bytes
        return size > 0 and size > self.limit

    def _make_room(self) -> None:
        """Drop models that nobody reads with until the rest fits."""
        if self._let_go():  # networks hold themselves in circles, which only a collection of what was frozen lets go
            gc.unfreeze()
            gc.collect()
            gc.freeze()

    def _let_go(self) -> bool:
        """Drop idle models until the rest fits; return whether one was dropped."""
        left = []
        with self._lock:
            while self._crowded():
                idle = [name for name, entry in self._entries.items() if not entry.readers and name not in self._stay]
                if not idle:
                    break
                left.append(self._entries.pop(idle[0]).model)
        for model in left:
            for tell in self.leaving:
                tell(model)
        return bool(left)
