"""A sweep: small transformers of several sizes learn the same book, and their losses on its end are fitted by power laws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch

from analysis.cost import costs
from models.lens.tuned_lens import SAMPLE
from models.scratch.config import TransformerConfig
from models.training.live import SIZES, Budget, Training, inputs
from models.training.optimisation import IGNORED, smoothed_loss
from models.training.tasks import text

HELD_OUT = 15_000  # bytes at the end of the book, which no run learns from
STRETCHES = 128  # of the held-out text, on which a loss is measured
MOMENTS = 5  # of each run, at which it is
HEADS = 2
SEEDS = (0, 1)
LEVEL = 0.95  # of an interval
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Size:
    """The size of a run: layers, width, and the bytes of the book that it learns from."""

    layers: int
    width: int
    learned: int

    @property
    def config(self) -> TransformerConfig:
        sizes: dict[str, Any] = SIZES | {"layers": self.layers, "d_model": self.width, "d_ff": 4 * self.width, "heads": HEADS}
        return TransformerConfig(**sizes)


@dataclass(frozen=True)
class Run:
    """A run of a sweep. parameters: without the embedding. operations: float64 [moment], 2 for each multiply-and-add of its
    matrix products so far, a step counted as three forward passes (Kaplan et al. 2020). losses: float64 [moment], nats a byte on
    the end of the book; on_learned: on what it learned from, at its end."""

    size: Size
    seed: int
    parameters: int
    operations: np.ndarray
    losses: np.ndarray
    on_learned: float


@dataclass(frozen=True)
class PowerLaw:
    """y = factor · x^exponent. low, high: an interval that has the true exponent in it in 95 of 100 sweeps, if the logarithms
    of y scatter normally around a line."""

    exponent: float
    low: float
    high: float
    factor: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0, which is no effect."""
        return self.low > 0 or self.high < 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.factor * np.asarray(x, dtype=np.float64) ** self.exponent


SWEEPS: dict[str, tuple[Size, ...]] = {
    "size and text": tuple(Size(2, width, learned) for learned, width in product((4_000, 16_000, 128_000), (8, 16, 32, 64))),
    "depth or width": tuple(Size(layers, width, 128_000) for layers, width in ((1, 88), (2, 64), (4, 44), (8, 32))),
}


def book() -> bytes:
    """Return the text that is learned from: “Alice’s Adventures in Wonderland”, in UTF-8."""
    return SAMPLE.read_bytes()


def sweep(sizes: Sequence[Size], steps: int = 300, seeds: Sequence[int] = SEEDS, report: Report | None = None) -> list[Run]:
    """Train every size with every seed, for as many steps of as many examples. report: as `ui.memory.jobs.Report`, called at each
    moment.

    Errors: ValueError for a text that reaches into the held-out end of the book."""
    whole = book()
    if most := [size.learned for size in sizes if size.learned > len(whole) - HELD_OUT]:
        raise ValueError(f"The book has {len(whole) - HELD_OUT:,} bytes to learn from; {most[0]:,} were asked for.")
    each = [(size, seed) for size in sizes for seed in seeds]
    runs = []
    for number, (size, seed) in enumerate(each):

        def note(share: float, number: int = number, size: Size = size) -> None:
            if report is not None:
                depth = f"{size.layers} layer{'s' * (size.layers > 1)}"
                words = f"Run {number + 1} of {len(each)}: {depth}, width {size.width}, {size.learned:,} bytes"
                report((number + share) / len(each), words)

        runs.append(train(whole, size, seed, steps, note))
    return runs


def train(whole: bytes, size: Size, seed: int, steps: int, note: Callable[[float], None]) -> Run:
    """Train one size. note: called with the share of it that is done."""
    learned, held_out = (part.decode("utf-8", "ignore") for part in (whole[: size.learned], whole[-HELD_OUT:]))
    training = Training(text(learned), size.config, Budget(steps=steps, every=steps, seed=seed))
    a_step = 3 * operations(size.config, training.task.length) * training.budget.rows
    moments = sorted({max(1, round(steps * part / MOMENTS)) for part in range(1, MOMENTS + 1)})
    losses = []
    for moment in moments:
        training.advance(moment - training.step)
        losses.append(loss_on(training, held_out))
        note(training.step / steps)
    embedding = SIZES["vocabulary"] * size.width
    return Run(
        size,
        seed,
        training.parameters - embedding,
        a_step * np.array(moments, dtype=np.float64),
        np.array(losses),
        loss_on(training, learned),
    )


def loss_on(training: Training, typed: str) -> float:
    """Return the mean loss of a byte on the same stretches of a text for every run, in nats."""
    ids, known = text(typed).batch(np.random.default_rng(0), STRETCHES)
    targets = torch.from_numpy(np.where(known, ids, IGNORED))
    return smoothed_loss(training.predict(inputs(ids)), targets).item()


def operations(config: TransformerConfig, length: int) -> float:
    """Return the operations of a forward pass over one example."""
    return float(sum(part.flops.value for part in costs(config, length)))


def fit(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> PowerLaw:
    """Fit a power law by least squares of the logarithms.

    Errors: ValueError for fewer than three points, or where all x are the same."""
    from scipy.stats import linregress, t

    if len(x) < 3 or len({*map(float, x)}) < 2:
        raise ValueError("A power law takes at least three points, at two places.")
    line = linregress(np.log(x), np.log(y))
    error = float(np.nan_to_num(line.stderr))  # scipy's is no number where all y are the same
    reach = float(t.ppf((1 + LEVEL) / 2, len(x) - 2)) * error
    exponent = float(line.slope)
    return PowerLaw(exponent, exponent - reach, exponent + reach, float(np.exp(line.intercept)))


def largest_text(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that learned from the most text."""
    most = max(run.size.learned for run in runs)
    return [run for run in runs if run.size.learned == most]


def frontier(runs: Sequence[Run]) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of runs that no other point beats with as few operations: operations and losses, float64 [point]."""
    every = sorted(_points(runs))
    best: list[tuple[float, float]] = []
    for at, loss in every:
        if not best or loss < best[-1][1]:
            best.append((at, loss))
    return np.array([at for at, _ in best]), np.array([loss for _, loss in best])


def _points(runs: Sequence[Run]) -> Iterator[tuple[float, float]]:
    for run in runs:
        yield from zip(run.operations.tolist(), run.losses.tolist(), strict=True)
