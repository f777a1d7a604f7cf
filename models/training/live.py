"""Live training of a small transformer: it can be paused, resumed and stopped, and takes snapshots of itself."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from models.attention.recorder import recording
from models.numbers import sizes
from models.reading.repeats import share_on, what_followed
from models.scratch.config import TransformerConfig
from models.scratch.feedforward import balance, expert_shares
from models.scratch.write_weights import write_weights
from models.training.baselines import BaselineConfig, Config, count_parameters, network_of
from models.training.corpus import byte_tokenizer
from models.training.layer_steps import LayerMeter, LayerStep
from models.training.one_weight import of_layers
from models.training.optimisation import IGNORED, DivergedError, decaying, muon_and_adamw, smoothed_loss, update
from models.training.optimizers import Adam, AdamW, GradientDescent, Optimizer
from models.training.paced import Paced
from models.training.precision import LossScale, autocast
from models.training.schedules import SCHEDULES, rate_share
from models.training.tasks import Task

START = 256  # the token before the text; those below are bytes
VOCABULARY = 257
OPTIMIZERS = ("muon", "adamw", "adam", "sgd")
DECAYS = {"muon": 0.05, "adamw": 0.1, "adam": 0.0, "sgd": 0.0}  # weight decay where none is chosen
MATRICES = 20 / 3  # Muon's learning rate as a multiple of AdamW's, as for the models that ship
PROBES = 64  # examples on which a snapshot counts right answers
LARGEST = 5_000_000  # parameters
MOST_BYTES = 200 * 10**6  # of memory for one training
PART = 60 * 10**6  # bytes of activations at a time: the examples of a larger step are learned from in parts

SIZES = {"vocabulary": VOCABULARY, "context": 64, "d_model": 64, "layers": 2, "heads": 4, "d_ff": 256}  # the defaults


@dataclass(frozen=True)
class Budget:
    """The length and recipe of a training: steps, rows a step, the highest learning rate, steps of warm-up, and most seconds.

    rate: with optimizer "muon" (Jordan et al. 2024) that of AdamW, and the matrices inside the blocks get 20/3 of it from Muon.
    schedule: of `schedules`. decay: of the weights, None for the optimizer's usual one (DECAYS). clip: the largest norm of a
    gradient, 0 for any. smoothing: of the targets, as in `smoothed_loss`. balance: the weight of the loss that keeps experts in
    use alike (`models.scratch.feedforward.balance`), where there are several. precision: one of `precision.PRECISIONS`.
    Errors: ValueError for impossible numbers.
    """

    steps: int = 400
    rows: int = 32
    rate: float = 3e-3
    warmup: int = 20
    every: int = 10  # steps between two snapshots
    seconds: float = 300.0
    optimizer: str = "muon"
    seed: int = 0
    schedule: str = "plateau"
    decay: float | None = None
    clip: float = 1.0
    smoothing: float = 0.0
    balance: float = 0.0
    precision: str = "float32"

    def __post_init__(self) -> None:
        for name in ("steps", "rows", "warmup", "every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; it is {getattr(self, name)}.")
        if not (self.rate > 0 and self.seconds > 0):
            raise ValueError(f"The learning rate and the seconds must be above 0; they are {self.rate} and {self.seconds}.")
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(f"The optimizer must be one of {', '.join(OPTIMIZERS)}; it is {self.optimizer!r}.")
        if self.schedule not in SCHEDULES:
            raise ValueError(f"The schedule must be one of {', '.join(SCHEDULES)}; it is {self.schedule!r}.")
        autocast(self.precision)
        if not (0 <= self.weight_decay < 1 and 0 <= self.clip < math.inf and 0 <= self.smoothing < 1):
            raise ValueError("Weight decay and label smoothing are from 0 to below 1, and clipping is at a norm from 0 on.")
        if not 0 <= self.balance < math.inf:
            raise ValueError(f"The weight of the experts’ balance loss is from 0 on; it is {self.balance}.")

    @property
    def weight_decay(self) -> float:
        return DECAYS[self.optimizer] if self.decay is None else self.decay

    def rate_at(self, step: int) -> float:
        """Return the learning rate at a step."""
        return self.rate * rate_share(self.schedule, step, self.steps, self.warmup)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The model at one step, on examples that it does not learn from. accuracy: share of the answers' characters that it predicts
    correctly; loss: nats of each of them, on average.

    attention: float16 [layers, heads, query, key], on the first example; entropy: float32 [layers, heads], nats, the mean over
    its queries after the first, which has no choice. previous, induction: float32 [layers, heads], mean weight on the token
    before, and on the tokens after earlier copies of the token, as `mean_weights` computes them. answer: the bytes that it
    predicts for the answer of the first example. experts: float32 [layers, experts], the share of tokens at each expert, as
    `expert_shares` has it.
    """

    step: int
    loss: float
    accuracy: float
    attention: np.ndarray
    entropy: np.ndarray
    previous: np.ndarray
    induction: np.ndarray
    answer: bytes
    experts: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))


@dataclass(eq=False)
class Curves:
    """The numbers noted at every step."""

    loss: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    norm: list[float] = field(default_factory=list)  # of the gradient, before clipping


class Training(Paced):
    """One training beside the pages. watch(training): called after each snapshot, and once more at the end.

    Errors: ValueError for a model that is too large or whose context is shorter than an example.
    """

    def __init__(self, task: Task, config: Config, budget: Budget, watch: Callable[[Training], None] = lambda training: None):
        super().__init__()
        if isinstance(config, TransformerConfig) and config.kind != "decoder":
            raise ValueError(f'Here a decoder learns what comes next; kind is "{config.kind}".')
        if config.context < task.length or config.vocabulary < VOCABULARY:
            raise ValueError(
                f"An example takes {task.length} positions and {VOCABULARY} tokens; there are {config.context} and "
                f"{config.vocabulary}."
            )
        size = count_parameters(lambda: network_of(config))
        if size > LARGEST:
            raise ValueError(f"This model has {size:,} parameters; at most {LARGEST:,} are trained here. Make it smaller.")
        self._rows = max(1, PART // activation_bytes(config, task.length))  # that are learned from at a time
        needed = 20 * size + min(self._rows, budget.rows) * activation_bytes(config, task.length)
        if needed > MOST_BYTES:
            raise ValueError(
                f"This training would take about {sizes.size(needed)}, and {sizes.size(MOST_BYTES)} are allowed here. "
                "Take fewer layers or a smaller width."
            )
        self.task, self.config, self.budget, self.watch = task, config, budget, watch
        torch.manual_seed(budget.seed)
        self.network = network_of(config)
        self.parameters = size
        self._optimizers = optimizers(self.network, budget)
        self.scale = LossScale(budget.precision)
        self.curves = Curves()
        self.layer_steps: list[LayerStep] = []  # the first step, and the one after each snapshot
        self.one_weights = of_layers(self.network, self.network.blocks)
        self._snapshots: list[Snapshot] = []
        self._first = threading.RLock()  # held while the first one is taken, which whoever watches then asks for
        self._generator = np.random.default_rng([budget.seed, 1])
        self._probe = task.batch(np.random.default_rng([budget.seed, 2]), PROBES)
        self._good: dict[str, Tensor] = {}
        self._still = threading.Lock()  # held while the weights change or are read

    @property
    def subject(self) -> str:
        """Its name in the messages of a server, and in the names of its models."""
        return self.task.name

    @property
    def has_begun(self) -> bool:
        """Whether its first snapshot is there."""
        return bool(self._snapshots)

    @property
    def snapshots(self) -> list[Snapshot]:
        """The snapshots, the newest last. The first one is taken before the first step, or when it is asked for: whoever only
        starts a training does not wait for it."""
        with self._first:
            if not self._snapshots:
                self._take_snapshot()
        return self._snapshots

    @property
    def memory(self) -> int:
        """About how many bytes it holds between two steps: weights, their copy, what the optimizers remember, and all snapshots
        that are to come; once it has ended, its weights and the snapshots that are there."""
        over = self.state not in ("paused", "running")
        count = len(self._snapshots) if over else self.budget.steps // self.budget.every + 2
        numbers = self.parameters if over else 2 * self.parameters + sum(optimizer.numbers for optimizer, _ in self._optimizers)
        return 4 * numbers + count * 2 * self.config.layers * self.config.heads * self.task.length**2

    @property
    def probe(self) -> tuple[str, str]:
        """The question and the answer of the example whose attention is in the snapshots."""
        question, answer = (part.decode("utf-8", "replace") for part in self.example)
        return question, answer

    @property
    def copied(self) -> float:
        """The share of right answers on the snapshots' examples by saying the character before again, as a network may that has
        learned nothing."""
        ids, known = self._probe
        return float((ids[:, :-1] == ids[:, 1:])[known[:, 1:]].mean())

    @property
    def example(self) -> tuple[bytes, bytes]:
        """The question and the answer of `probe` as bytes, each of them a token."""
        codes, known = self._probe[0][0], self._probe[1][0]
        return bytes(codes[~known].tolist()), bytes(codes[known].tolist())

    @property
    def read(self) -> list[int]:
        """The tokens of a snapshot's attention: the start, then the example without its last byte."""
        return [START, *self._probe[0][0][:-1].tolist()]

    @property
    def learned(self) -> int:
        """The number of steps in which its weights have learned."""
        return self.snapshots[-1].step if self.state == "diverged" else self.step

    def stop(self) -> None:
        """End the training now; the learned weights stay."""
        with self.lock:  # whoever resumes it meanwhile, in another tab, finds it stopped
            self.pause()
            if self.state == "paused":
                try:
                    if self.step != self.snapshots[-1].step:
                        self._take_snapshot()
                    self.end("stopped", f"Stopped after {self.step} steps.")
                except DivergedError:
                    self._restore()

    def write(self, folder: Path) -> None:
        """Write the present model to a folder that `models.load` opens: weights in float32, config and tokenizer.

        Errors: ValueError, a sentence, for a network without attention."""
        if isinstance(self.config, BaselineConfig):
            raise ValueError("Only transformers open on the other pages: this network has no attention to show.")
        folder.mkdir(parents=True, exist_ok=True)
        with self._still:
            write_weights(self.network, self.config, folder, torch.float32)
        byte_tokenizer().save(str(folder / "tokenizer.json"))

    def predict(self, ids: Tensor) -> Tensor:
        """Return the present logits [row, position, token] for ids [row, position], the start among them."""
        with self._still, torch.inference_mode():
            return self.network.eval()(ids)

    def weights(self) -> bytes:
        """Return the present weights as a safetensors file: float32, by the names of the network's parameters."""
        with self._still:
            return safetensors.torch.save(self._weights())

    def _run_step(self) -> bool:
        """Run one step; return whether there is another one."""
        try:
            return bool(self.snapshots) and self._step()
        except DivergedError:
            return self._restore()

    def _step(self) -> bool:
        if self.step >= self.budget.steps:
            return self.end("done", f"Done: {self.step} steps in {self.seconds:.0f} seconds.")
        if self.seconds > self.budget.seconds:
            if self.step != self.snapshots[-1].step:
                self._take_snapshot()
            return self.end("done", f"The time is up, after {self.step} steps in {self.seconds:.0f} seconds.")
        began = time.monotonic()
        ids, known = self.task.batch(self._generator, self.budget.rows)
        rate_now = self.budget.rate_at(self.step)
        losses: list[float] = []
        with self._still:
            self.network.train()
            rates = [(optimizer, factor * rate_now) for optimizer, factor in self._optimizers]
            before, left_out = [each.now for each in self.one_weights], False
            try:
                norm = self._update(rates, self._losses(ids, known, losses))
                self.scale.grow()
            except DivergedError:
                if not math.isfinite(sum(losses)) or not self.scale.shrink():
                    raise
                norm, left_out = math.nan, True
            for each, number in zip(self.one_weights, before, strict=True):
                each.note(number, None if left_out else [optimizer for optimizer, _ in rates])
        for name, value in (("loss", sum(losses)), ("rate", rate_now), ("norm", norm)):
            getattr(self.curves, name).append(value)
        self.step += 1
        if self.step % self.budget.every == 0 or self.step == self.budget.steps:
            self._take_snapshot()
        self.network.zero_grad(set_to_none=True)  # they would take memory until the next step
        self.seconds += time.monotonic() - began
        return True

    @property
    def clip(self) -> float:
        """The norm above which a gradient is shortened."""
        return self.budget.clip or math.inf

    def _update(self, rates: list[tuple[Optimizer, float]], losses: Iterator[Tensor]) -> float:
        """Update the weights, and note in some steps what they do in each layer; return the norm of the gradient."""
        undo = partial(self.scale.undo, self.network)
        if self.step % self.budget.every:
            return update(self.network, rates, losses, self.clip, undo)
        with LayerMeter(self.network) as meter:
            norm = update(self.network, rates, losses, self.clip, partial(meter.note_gradient, undo))
        self.layer_steps.append(meter.measured(self.step + 1))
        return norm

    def _losses(self, ids: np.ndarray, known: np.ndarray, values: list[float]) -> Iterator[Tensor]:
        """Yield parts of the loss that sum to it, each of as many rows as fit into PART bytes, and append their values."""
        targets = torch.from_numpy(np.where(known, ids, IGNORED))
        for first in range(0, len(ids), self._rows):
            part = slice(first, first + self._rows)
            share = float(known[part].sum() / known.sum())
            with autocast(self.budget.precision):
                logits = self.network(inputs(ids[part]))
            loss = smoothed_loss(logits, targets[part], self.budget.smoothing) * share
            values.append(loss.item())
            if self.budget.balance and isinstance(self.config, TransformerConfig) and self.config.experts > 1:
                loss = loss + self.budget.balance * share * balance(self.network)
            yield self.scale.apply(loss)

    def _restore(self) -> bool:
        with self._still:
            self.network.load_state_dict(self._good)
        return self.end(
            "diverged",
            f"At step {self.step} the loss was no longer a number. Most often the learning rate, here {self.budget.rate:g}, is "
            f"too high; a longer warm-up and clipping help too. The weights of step {self.snapshots[-1].step} are kept.",
        )

    def end(self, state: str, says: str) -> bool:
        super().end(state, says)
        self._optimizers, self._good = [], {}  # it cannot go on
        self.network.zero_grad(set_to_none=True)
        self.watch(self)
        return False

    def _take_snapshot(self) -> None:
        """Take a snapshot of the model."""
        ids, known = self._probe
        with self._still, torch.inference_mode():
            self.network.eval()
            logits = self.network(inputs(ids))
            experts = expert_shares(self.network).numpy().astype(np.float32)
            with recording() as record:
                self.network(inputs(ids[:1]))
        if not torch.isfinite(logits).all():
            raise DivergedError("The model’s answers are no numbers any more.")
        self._good = self._weights()
        loss = smoothed_loss(logits, torch.from_numpy(np.where(known, ids, IGNORED))).item()
        predictions = logits[..., :START].argmax(-1).numpy()  # the start is never predicted
        shape = (self.config.layers, 0, len(self.read), len(self.read))  # of a network without heads
        attention = np.stack([call.weights().numpy() for call in record.calls]) if record.calls else np.zeros(shape, np.float32)
        entropy = -(attention * np.log(np.where(attention > 0, attention, 1))).sum(-1)[..., 1:].mean(-1)
        head_weights = mean_weights(attention, self.read)
        self._snapshots.append(
            Snapshot(
                self.step,
                loss,
                float((predictions == ids)[known].mean()),
                attention.astype(np.float16),
                entropy.astype(np.float32),
                *head_weights,
                bytes(predictions[0][known[0]].tolist()),
                experts,
            )
        )
        self.watch(self)

    def _weights(self) -> dict[str, Tensor]:
        return {name: weight.detach().clone() for name, weight in self.network.state_dict().items()}


def optimizers(network: torch.nn.Module, budget: Budget) -> list[tuple[Optimizer, float]]:
    """Return the optimizers of a budget, each with its learning rate as a multiple of the budget's."""
    if budget.optimizer == "muon":
        return list(zip(muon_and_adamw(network, budget.weight_decay), (MATRICES, 1.0), strict=True))
    kinds: dict[str, type[Optimizer]] = {"adamw": AdamW, "adam": Adam, "sgd": GradientDescent}
    return [(kinds[budget.optimizer](decaying(network, budget.weight_decay)), 1.0)]


def activation_bytes(config: Config, length: int) -> int:
    """Estimate the memory that the activations of one row take in a step.

    For a token these are, in each layer: inputs and outputs of linear maps, norms and activations, and a weight for each head
    and key (of a baseline its gates and states); and three times its logits. Four bytes a number.
    """
    if isinstance(config, BaselineConfig):
        return 4 * length * (config.layers * 12 * config.d_model + 3 * config.vocabulary)
    layer = 12 * config.d_model + 4 * config.d_ff * min(config.experts, config.experts_used) + 3 * config.heads * length
    return 4 * length * (config.layers * layer + 3 * config.vocabulary)


def inputs(codes: np.ndarray) -> Tensor:
    """Return the model's input for predicting each byte of `codes` [rows, length]: the start token, then all but the last."""
    return torch.from_numpy(np.concatenate([np.full((len(codes), 1), START), codes[:, :-1]], axis=1))


def mean_weights(attention: np.ndarray, tokens: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return each head's mean weight on the token before, and on those after earlier copies: 2 x float32 [layers, heads].

    attention: [layers, heads, query, key] between `tokens`. The mean is over the queries that have such a key
    (`models.reading.repeats`); NaN where none has.
    """
    before = np.eye(len(tokens), k=-1, dtype=bool)
    previous, induction = (share_on(attention, where).astype(np.float32) for where in (before, what_followed(tokens)))
    return previous, induction
