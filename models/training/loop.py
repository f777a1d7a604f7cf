"""The training loop: a model, its training text, and its progress, on disk and in memory."""

from __future__ import annotations

import csv
import json
import math
import shutil
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_model
from tokenizers import Tokenizer
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from tqdm import tqdm

from models.scratch.config import TransformerConfig
from models.scratch.transformer import build
from models.scratch.write_weights import write_weights
from models.training.objectives import Objective
from models.training.optimisation import muon_and_adamw, update
from models.training.recipe import Recipe, Schedule

COLUMNS = ["step", "tokens", "seconds", "rate", "train_nats", "gradient_norm", "valid_nats"]
BEFORE = ["step", "tokens", "seconds", "recipe"]  # the figures of an initial model that are kept


@dataclass(frozen=True)
class Shipped:
    """One model that ships: its name, objective, config and recipes.

    compiled: whether its batches have only a few shapes; short: whether their rows are a few tokens long. more: recipes that
    follow the first, each a warm restart: its optimizers are fresh, its learning rate rises and falls again.
    """

    name: str
    objective: type[Objective]
    config: TransformerConfig
    recipe: Recipe
    compiled: bool = False
    short: bool = False
    more: tuple[Recipe, ...] = ()

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        return self.recipe, *self.more


@dataclass
class State:
    """The progress of a training."""

    schedule: Schedule
    step: int = 0
    tokens: int = 0  # read so far, without padding
    seconds: float = 0.0
    done: list[dict] = field(default_factory=list)  # the finished recipes, as `recipe_record` returns them
    recent: list[float] = field(default_factory=list)  # losses since the last line of the log


def train(
    training: Shipped,
    data: Path,
    out: Path,
    work: Path,
    minutes: float = math.inf,
    save_every: float = 5,
    begin: Path | None = None,
) -> nn.Module:
    """Train a model on the text in `data`; checkpoints go to `work`, weights, tokenizer, figures and loss log to `out`.

    begin: the folder of a finished model, from whose weights training starts, with the next recipe and with its step count
    continued; if no recipe is left, with the first one again, and the old figures are kept as `before`.
    Stops at the last recipe's horizon, or after so many minutes (then the next call goes on from there). A file `finish` in
    `work` holding a number of minutes lets the learning rate begin to fall now, and reach zero in about that time.
    """
    run = Run(training, data, out, work, begin)
    run.go(minutes, save_every)
    run.write()
    return run.model


class Run:
    """One training of a model that ships, from its checkpoint on. Arguments as `train` takes them."""

    def __init__(self, training: Shipped, data: Path, out: Path, work: Path, begin: Path | None):
        self.training, self.out, self.work, self.begin = training, out, work, begin
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.manual_seed(training.recipe.seed)
        out.mkdir(parents=True, exist_ok=True)
        work.mkdir(parents=True, exist_ok=True)
        config = training.config
        tokenizer = tokenizer_of(training, data, out)
        self.objective = training.objective(data, tokenizer, config, training.recipe)
        self.model = build(config).to(self.device)
        saved = self.load()
        self.recipe = self.objective.recipe = training.recipes[len(self.state.done)]
        if self.state.step < self.state.schedule.decay_from or not saved:  # the horizon may be changed until the decay begins
            self.state.schedule = Schedule.of(self.recipe, self.state.schedule.start)
        self.optims = muon_and_adamw(self.model, self.recipe.matrix_decay)
        for optim, optimizer_state in zip(self.optims, saved["optimizers"] if saved else (), strict=bool(saved)):
            optim.load_state_dict(optimizer_state)
        self.earlier = saved.get("earlier") if saved else weights_of(self.model, self.recipe)
        self.first = self.state.step
        self.batches = self.objective.batches(self.state.step, self.state.schedule)
        self.log = Log(out / "loss.csv", self.state.step)
        self.loss_of = torch.compile(self.loss, dynamic=False) if training.compiled else self.loss

    def load(self) -> dict:
        """Restore model and state from the checkpoint, and return it; {} where there is none."""
        self.state, saved = State(Schedule.of(self.training.recipe)), {}
        if (self.work / "checkpoint.pt").exists():
            saved = torch.load(self.work / "checkpoint.pt", map_location=self.device)
            self.model.load_state_dict(saved["model"])
            self.state = State(**saved["state"] | {"schedule": Schedule(**saved["state"]["schedule"])})
        elif self.begin is not None:
            load_model(self.model, self.begin / "model.safetensors")
            finished = after(json.loads((self.begin / "figures.json").read_text()))
            if len(finished.done) < len(self.training.recipes):
                self.state = finished
                if not (self.out / "loss.csv").exists():
                    shutil.copy(self.begin / "loss.csv", self.out)
        else:
            self.objective.begin(self.model, self.out.parent)
        return saved

    def save(self) -> None:
        saved: dict[str, Any] = {
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optims],
        }
        saved |= {"state": asdict(self.state), "earlier": self.earlier}
        torch.save(saved, self.work / "checkpoint.new")
        (self.work / "checkpoint.new").rename(self.work / "checkpoint.pt")

    def loss(self, model: nn.Module, *batch: torch.Tensor) -> torch.Tensor:
        # The fused kernel's backward pass is slow where rows are short.
        kernel = sdpa_kernel(SDPBackend.MATH) if self.training.short and self.device == "cpu" else nullcontext()
        with torch.autocast(self.device, dtype=torch.bfloat16), kernel:
            return self.objective.loss(model, batch)

    def go(self, minutes: float, save_every: float) -> None:
        """Train until the last recipe's horizon, or for so many minutes."""
        began, before = time.monotonic(), self.state.seconds
        saved_at = began
        with tqdm(total=self.state.schedule.steps, initial=self.state.step, unit="step", smoothing=0.05, mininterval=5) as bar:
            while self.state.step < self.state.schedule.steps and time.monotonic() - began <= 60 * minutes:
                factor, norm = self.learn()
                self.state.seconds = before + time.monotonic() - began
                bar.update()
                bar.set_postfix(nats=f"{np.mean(self.state.recent[-50:]):.3f}", rate=f"{factor:.2f}", refresh=False)
                if (self.work / "finish").exists():
                    self.finish_soon((self.state.step - self.first) / (time.monotonic() - began))
                self.note(factor, norm)
                bar.total = self.state.schedule.steps
                if time.monotonic() - saved_at > 60 * save_every:
                    self.save()
                    saved_at = time.monotonic()
        self.save()

    def learn(self) -> tuple[float, float]:
        """Run one step; return the factor of its learning rates, and the norm of its gradient."""
        batch = tuple(tensor.to(self.device) for tensor in next(self.batches))
        with torch.autocast(self.device, dtype=torch.bfloat16):
            batch = self.objective.prepare(self.model, self.state.step, batch)
        factor = self.state.schedule.rate(self.state.step)
        rates = (self.recipe.matrix_rate * factor, self.recipe.rate * factor)
        loss = self.loss_of(self.model, *batch)
        norm = update(self.model, zip(self.optims, rates, strict=True), loss, self.recipe.clip)
        self.state.step += 1
        self.state.tokens += self.objective.tokens(batch)
        self.state.recent.append(loss.item())
        return factor, norm

    def finish_soon(self, speed: float) -> None:
        """Let the learning rate begin to fall now, as the file `finish` asks for. speed: in steps a second."""
        more = math.ceil(60 * speed * float((self.work / "finish").read_text()))
        self.state.schedule = self.state.schedule.finishing(self.state.step, more)
        (self.work / "finish").unlink()
        self.batches = self.objective.batches(self.state.step, self.state.schedule)

    def note(self, factor: float, norm: float) -> None:
        """Write the log, and at the end of a recipe begin the next."""
        step = self.state.step
        last = step == self.state.schedule.steps
        if last and self.earlier:
            with torch.no_grad():
                for name, weight in self.model.named_parameters():
                    weight.lerp_(self.earlier[name], self.recipe.earlier_share)
        if step % 100 == 0 or last:
            total, count = held_out(self.objective, self.model, 8) if step % 500 == 0 or last else (0, 0)
            self.log.write(self.state, factor, norm, f"{total / count:.4f}" if count else "")
        if last and len(self.state.done) < len(self.training.more):
            self.state.done.append(recipe_record(self.recipe, self.state.schedule))
            self.recipe = self.objective.recipe = self.training.recipes[len(self.state.done)]
            self.optims = muon_and_adamw(self.model, self.recipe.matrix_decay)
            self.earlier = weights_of(self.model, self.recipe)
            self.state.schedule = Schedule.of(self.recipe, step)
            self.batches = self.objective.batches(step, self.state.schedule)

    def write(self) -> None:
        """Write the weights, and their figures on held-out text."""
        write_weights(self.model, self.training.config, self.out)
        total, count = held_out(self.objective, self.model)
        figures: dict[str, Any] = {"nats_per_" + self.objective.unit.replace(" ", "_"): total / count, "predictions": count}
        if hasattr(self.objective, "bytes"):
            figures["bits_per_byte"] = total / math.log(2) / self.objective.bytes
        figures |= {"step": self.state.step, "tokens": self.state.tokens, "seconds": round(self.state.seconds)}
        first, *more = [*self.state.done, recipe_record(self.recipe, self.state.schedule)]
        figures |= {"recipe": first} | ({"more": more} if more else {})
        if self.begin is not None and not more:
            figures["before"] = {name: json.loads((self.begin / "figures.json").read_text())[name] for name in BEFORE}
        (self.out / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
        print(json.dumps(figures, indent=2))


def tokenizer_of(training: Shipped, data: Path, out: Path) -> Tokenizer | None:
    """Return the tokenizer in the folder of a model, which is trained first where there is none; None for a model of images."""
    file = out / "tokenizer.json"
    if not file.exists():
        trained = training.objective.tokenizer(data, training.config.vocabulary, out.parent)
        if trained is None:
            return None
        trained.save(str(file))
    return Tokenizer.from_file(str(file))


def weights_of(model: nn.Module, recipe: Recipe) -> dict[str, torch.Tensor]:
    """Return a copy of the weights before a recipe, if it keeps a share of them; else {}."""
    return {name: weight.detach().clone() for name, weight in model.named_parameters()} if recipe.earlier_share else {}


def recipe_record(recipe: Recipe, schedule: Schedule) -> dict:
    """Return a finished recipe with its last step, and the one from which its rate fell, both counted from the very first."""
    return asdict(recipe) | {"steps": schedule.steps, "decay_from": schedule.decay_from}


def after(figures: dict) -> State:
    """Return the state after the last recipe, from the contents of `figures.json`."""
    done = [figures["recipe"], *figures.get("more", ())]
    return State(Schedule(0, 0, 0, figures["step"]), figures["step"], figures["tokens"], figures["seconds"], done)


def held_out(objective: Objective, model: nn.Module, every: int = 1) -> tuple[float, int]:
    """Compute `Objective.held_out` without dropout."""
    model.eval()
    try:
        return objective.held_out(model, every)
    finally:
        model.train()


class Log:
    """The loss over the steps, as a file of comma-separated values."""

    def __init__(self, path: Path, step: int):
        """step: the one at which the training resumes; lines of later steps, which are run again, are dropped."""
        self.path = path
        rows = list(csv.reader(path.open(newline=""))) if path.exists() else [COLUMNS]
        earlier = [rows[0], *(row for row in rows[1:] if int(row[0]) <= step)]
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(earlier)

    def write(self, state: State, factor: float, norm: float, held_out_nats: str) -> None:
        """Write one line, with the mean of the losses since the last one."""
        numbers = [f"{state.seconds:.0f}", f"{factor:.4f}", f"{np.mean(state.recent):.4f}", f"{norm:.3f}", held_out_nats]
        with self.path.open("a", newline="") as file:
            csv.writer(file).writerow([state.step, state.tokens, *numbers])
        state.recent.clear()
