"""The base of what learns beside the pages: it can be started, paused and resumed, and takes turns with the others."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod

from models.errors import is_short_of_memory
from models.training.turns import shared

REST = 0.15  # share of each step's time to sleep after it, for others


class Paced(ABC):
    """Something that learns step by step. state: "paused" | "running" | "done" | "stopped" | "diverged" | "failed".

    step: the steps taken; seconds: of computing; says: the reason for its end, in a sentence.
    """

    def __init__(self) -> None:
        self.step, self.seconds, self.state, self.says = 0, 0.0, "paused", ""
        self._wanted = threading.Event()
        self.lock = threading.RLock()  # held while it is started, paused or stopped

    @abstractmethod
    def _run_step(self) -> bool:
        """Run one step; return whether there is another one."""

    def start(self) -> None:
        """Begin, or resume after a pause. Errors: RuntimeError where the system gives no thread for it."""
        with self.lock:
            if self.state != "paused":
                return
            self.state = "running"
            self._wanted.set()
            try:
                shared.ask(self)
            except RuntimeError:
                self.state = "paused"
                raise

    def pause(self) -> None:
        with self.lock:
            self._wanted.clear()
            shared.leave(self)
            if self.state == "running":
                self.state = "paused"

    def advance(self, steps: int) -> None:
        """Run so many steps, on the thread of the caller."""
        for _ in range(steps):
            if not self._run_step():
                break

    def take_turn(self) -> bool:
        """Run one step, and rest; return whether another one is wanted."""
        began = time.monotonic()
        try:
            goes_on = self._run_step()
        except Exception as error:
            why = "the server has too little memory for it now." if is_short_of_memory(error) else error
            self.state, self.says = "failed", f"It stopped at step {self.step}: {why}"
            raise
        if goes_on:
            time.sleep(REST * (time.monotonic() - began))  # no other one has its turn meanwhile
        return goes_on and self._wanted.is_set()

    def end(self, state: str, says: str) -> bool:
        """Note how it ended; there is no further step."""
        self.says, self.state = says, state  # in this order: who sees that it has ended finds the reason
        return False
