"""Live training: what a step costs beside plain PyTorch, what a key press of another visitor costs while it goes on, and how soon
the default budget has learned.

    python -m benchmarks.training [--keys 12] [--rounds 4] [--steps 30] [--skip-learning] [--skip-keys]

A step is measured beside a loop that a textbook has: the same network and examples, `torch.optim.AdamW`, cross entropy and
`clip_grad_norm_`. The two take turns, so many steps at a time.

One server; visitors who train are told to pause and go on, so that each number of trainings takes its turn in every round. The
peer of the learning is the same training with AdamW alone, at four rates, until 99 % of the answers are right.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks.keystroke import BEGUN, TEXT, WATCHED, prepare, press
from tests.serving import find_chromium, launch, serve

if TYPE_CHECKING:
    from models.training.live import Training

TRAINERS = 4
LIMIT = 240  # seconds of processor time for each way to learn


def begin(page: Page, url: str) -> None:
    page.goto(f"{url}/train?level=expert&train-steps=5000&train-every=100&train-seconds=600")
    page.get_by_role("button", name="Start").click(timeout=60_000)
    page.get_by_role("button", name="Pause").click(timeout=60_000)
    page.get_by_role("button", name="Continue").wait_for(timeout=60_000)


def let(pages: list[Page], running: int) -> None:
    """So many of them train now, the others rest."""
    for number, page in enumerate(pages):
        wanted, other = ("Continue", "Pause") if number < running else ("Pause", "Continue")
        if (button := page.get_by_role("button", name=wanted)).count():
            button.click()
            page.get_by_role("button", name=other).wait_for(timeout=60_000)


def keys(arguments: argparse.Namespace) -> None:
    counts = (0, 1, TRAINERS)
    times: dict[int, list[float]] = {count: [] for count in counts}
    with serve() as server, sync_playwright() as playwright:
        browser = launch(playwright, find_chromium())
        typist = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        prepare(typist, f"{server.url}/?level=intermediate&{BEGUN}", WATCHED["Headlight"])
        trainers = [browser.new_context().new_page() for _ in range(TRAINERS)]
        for page in trainers:
            begin(page, server.url)
        for round_ in range(arguments.rounds + 1):
            for count in counts:
                let(trainers, count)
                typist.bring_to_front()
                taken = [press(typist, TEXT[i % len(TEXT)]) for i in range(arguments.keys)]
                times[count] += taken if round_ else []
        browser.close()
    floor = statistics.median(times[0])
    print(f"{'trainings':>10}{'median ms':>12}{'p95 ms':>10}{'median / none':>16}")
    for count, taken in times.items():
        p95 = float(np.percentile(taken, 95))
        print(f"{count:>10}{statistics.median(taken):>12.0f}{p95:>10.0f}{statistics.median(taken) / floor:>16.2f}")


def steps(rounds: int, count: int) -> None:
    """Print how long a step takes, as a multiple of a step in plain PyTorch: without snapshots, and with the usual ones."""
    import torch

    from models.scratch.config import TransformerConfig
    from models.training.live import SIZES, Budget, Training
    from models.training.tasks import TASKS

    torch.set_num_threads(1)
    print(f"{'a step of “repeat”':32}{'ms':>8}{'/ plain PyTorch':>18}")
    for name, every in (("without snapshots", 10**6), ("a snapshot every 10 steps", 10)):
        budget = Budget(optimizer="adamw", steps=10**6, every=every, seconds=10**6)
        training = Training(TASKS["repeat"](), TransformerConfig(**SIZES), budget)
        plain = plain_steps(training)
        ratios, times = [], []
        for round_ in range(rounds + 1):
            began = time.process_time()
            for _ in range(count):
                next(plain)
            between = time.process_time()
            training.advance(count)
            ended = time.process_time()
            if round_:  # the first warms up
                ratios.append((ended - between) / (between - began))
                times.append(1000 * (ended - between) / count)
        print(f"{name:32}{statistics.median(times):>8.1f}{statistics.median(ratios):>18.2f}")


def plain_steps(training: Training) -> Iterator[float]:
    """Train a copy of a training's network on the same task in plain PyTorch; yield the loss of each step."""
    import torch
    import torch.nn.functional as F

    from models.training.live import inputs

    network, budget = copy.deepcopy(training.network), training.budget
    optimizer = torch.optim.AdamW(network.parameters(), budget.rate, (0.9, 0.95), weight_decay=budget.weight_decay)
    generator = np.random.default_rng([budget.seed, 1])
    network.train()
    while True:
        ids, known = training.task.batch(generator, budget.rows)
        logits = network(inputs(ids))
        loss = F.cross_entropy(logits[torch.from_numpy(known)], torch.from_numpy(ids[known]))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), budget.clip)
        optimizer.step()
        yield loss.item()


def learning() -> None:
    import torch

    from models.scratch.config import TransformerConfig
    from models.training.live import SIZES, Budget, Training
    from models.training.tasks import TASKS

    torch.set_num_threads(1)
    print(f"{'repeated letters, until 99 %':32}{'steps':>8}{'seconds':>10}")
    for optimizer, rate in (("muon", 3e-3), ("adamw", 1e-3), ("adamw", 3e-3), ("adamw", 1e-2), ("adamw", 3e-2)):
        budget = Budget(optimizer=optimizer, rate=rate, steps=4000, seconds=10 * LIMIT)
        training, began = Training(TASKS["repeat"](), TransformerConfig(**SIZES), budget), time.process_time()
        while training.snapshots[-1].accuracy < 0.99 and training.state == "paused" and time.process_time() - began < LIMIT:
            training.advance(budget.every)
        last, took = training.snapshots[-1], time.process_time() - began
        reached = f"{last.step:>8}" if last.accuracy >= 0.99 else f"{f'{100 * last.accuracy:.0f} %':>8}"
        print(f"{f'{optimizer}, rate {rate:g}':32}{reached}{took:>10.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=30, help="steps of each turn")
    parser.add_argument("--skip-learning", action="store_true")
    parser.add_argument("--skip-keys", action="store_true")
    arguments = parser.parse_args()
    steps(3 * arguments.rounds, arguments.steps)
    if not arguments.skip_learning:
        learning()
    if not arguments.skip_keys:
        keys(arguments)
