"""A small transformer that learns while somebody watches: it can be paused, gone on with and stopped, and shows itself."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from models.recorder import recording
from models.scratch.config import TransformerConfig
from models.scratch.optimisation import IGNORED, DivergedError, adamw, smoothed_loss, update
from models.scratch.recipe import Schedule
from models.scratch.tasks import Task
from models.scratch.transformer import build

LARGEST = 5_000_000  # parameters
REST = 0.15  # of each step's time is left to others


@dataclass(frozen=True)
class Budget:
    """How long and how fast: steps, rows a step, the highest learning rate, steps of warm-up, and seconds at the most."""

    steps: int = 1500
    rows: int = 32
    rate: float = 3e-3
    warmup: int = 50
    every: int = 25  # steps between two snapshots
    seconds: float = 300.0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The model at one step, on a fixed example. accuracy: share of the answers' characters that it holds likeliest.

    attention: float16 [layers, heads, query, key]; entropy: float32 [layers, heads], nats, the mean over the queries.
    previous, induction: float32 [layers, heads], mean weight on the token before, and on what followed the token's last copy.
    """

    step: int
    loss: float
    accuracy: float
    attention: np.ndarray
    entropy: np.ndarray
    previous: np.ndarray
    induction: np.ndarray


@dataclass(eq=False)
class Curves:
    """What is noted at every step, in step."""

    loss: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    norm: list[float] = field(default_factory=list)  # of the gradient, before clipping


class Training:
    """One training on a thread of its own. state: "running" | "paused" | "done" | "stopped" | "diverged" | "failed".

    says: why it ended, in a sentence.

    Errors: ValueError for a model that is too large or whose context is shorter than an example.
    """

    def __init__(self, task: Task, config: TransformerConfig, budget: Budget):
        if config.kind != "decoder":
            raise ValueError(f'Here a decoder learns what comes next; kind is "{config.kind}".')
        if config.context < task.length or config.vocabulary < 129:
            raise ValueError(
                f"An example takes {task.length} positions and 129 tokens; there are {config.context} and {config.vocabulary}."
            )
        torch.manual_seed(budget.seed)
        self.task, self.config, self.budget = task, config, budget
        self.network = build(config)
        size = sum(parameter.numel() for parameter in self.network.parameters())
        if size > LARGEST:
            raise ValueError(f"This model has {size:,} parameters; at most {LARGEST:,} are trained here. Make it smaller.")
        self.optimizer = adamw(self.network, budget.rate)
        self.schedule = Schedule(budget.steps, round(0.7 * budget.steps), budget.warmup)
        self.curves, self.snapshots = Curves(), []
        self.step, self.seconds, self.state, self.says = 0, 0.0, "paused", ""
        self._generator = np.random.default_rng([budget.seed, 1])
        self._probe = task.batch(np.random.default_rng([budget.seed, 2]), 64)
        self._good = self._weights()
        self._wanted = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._look(float("nan"))

    @property
    def probe(self) -> str:
        """The example that the snapshots' attention is of."""
        return bytes(self._probe[0][0].tolist()).decode("ascii")

    def start(self) -> None:
        """Begin, or go on after a pause."""
        with self._lock:
            if self.state != "paused":
                return
            self.state = "running"
            self._wanted.set()
            self._thread = threading.Thread(target=self._run, name="live training", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        self._wanted.clear()
        if self._thread is not None:
            self._thread.join()

    def stop(self) -> None:
        """End it here; what was learned stays."""
        self.pause()
        if self.state == "paused":
            self.state, self.says = "stopped", f"Stopped after {self.step} steps."

    def advance(self, steps: int) -> None:
        """So many steps, on the thread of the caller."""
        for _ in range(steps):
            if not self._one():
                break

    def _run(self) -> None:
        torch.set_num_threads(1)
        try:
            while self._wanted.is_set():
                began = time.monotonic()
                if not self._one():
                    return
                time.sleep(REST * (time.monotonic() - began))
            self.state = "paused"
        except Exception as error:
            self.state, self.says = "failed", f"It stopped at step {self.step}: {error}"
            raise

    def _one(self) -> bool:
        """One step; whether there is another one."""
        if self.step >= self.budget.steps:
            self.state, self.says = "done", f"Done: {self.step} steps in {self.seconds:.0f} seconds."
            return False
        if self.seconds > self.budget.seconds:
            self.state, self.says = "done", f"The time is up, after {self.step} steps in {self.seconds:.0f} seconds."
            return False
        began = time.monotonic()
        ids, known = self.task.batch(self._generator, self.budget.rows)
        self.network.train()
        rate = self.budget.rate * self.schedule.rate(self.step)
        try:
            logits = self.network(inputs(ids))
            loss = smoothed_loss(logits, torch.from_numpy(np.where(known, ids, IGNORED)))
            norm = update(self.network, self.optimizer, loss, rate)
        except DivergedError:
            self._keep(self._good)
            self.state = "diverged"
            self.says = (
                f"At step {self.step} the loss was no number any more: the learning rate {self.budget.rate:g} is too high. The "
                "weights of the last snapshot are kept. Choose a lower one and begin again."
            )
            return False
        for name, value in (("loss", loss.item()), ("rate", rate), ("norm", norm)):
            getattr(self.curves, name).append(value)
        self.step += 1
        if self.step % self.budget.every == 0 or self.step == self.budget.steps:
            self._look(loss.item())
        self.seconds += time.monotonic() - began
        return True

    def _look(self, loss: float) -> None:
        """A snapshot of the model as it is, on examples that it does not learn from."""
        ids, known = self._probe
        self.network.eval()
        with torch.inference_mode():
            right = self.network(inputs(ids)).argmax(-1).numpy() == ids
            with recording() as record:
                self.network(inputs(ids[:1]))
        attention = np.stack([call.weights().numpy() for call in record.calls])  # [layers, heads, query, key]
        looks = looked(attention, ids[0])
        entropy = -(attention * np.log(np.where(attention > 0, attention, 1))).sum(-1).mean(-1)
        self.snapshots.append(
            Snapshot(
                self.step, loss, float(right[known].mean()), attention.astype(np.float16), entropy.astype(np.float32), *looks
            )
        )
        self._good = self._weights()

    def _weights(self) -> dict[str, Tensor]:
        return {name: weight.detach().clone() for name, weight in self.network.state_dict().items()}

    def _keep(self, weights: dict[str, Tensor]) -> None:
        self.network.load_state_dict(weights)


START = 128  # the token before the text: no character of ASCII


def inputs(codes: np.ndarray) -> Tensor:
    """What the model reads to foresee each character of `codes` [rows, length]: the start token, then all but the last."""
    return torch.from_numpy(np.concatenate([np.full((len(codes), 1), START), codes[:, :-1]], axis=1))


def looked(attention: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean weight of each head on the token before, and on what followed the last copy of the token: 2 x float32 [layers, heads].

    attention: [layers, heads, query, key] over the start token and `codes` but the last. NaN where no character comes again.
    """
    previous = np.diagonal(attention, -1, axis1=2, axis2=3).mean(-1)
    tokens, induced = [START, *codes[:-1].tolist()], []
    for query, token in enumerate(tokens):
        earlier = [place for place in range(query) if tokens[place] == token]
        if earlier:
            induced.append(attention[:, :, query, earlier[-1] + 1])
    induction = np.mean(induced, axis=0) if induced else np.full(previous.shape, np.nan)
    return previous.astype(np.float32), np.asarray(induction, dtype=np.float32)
