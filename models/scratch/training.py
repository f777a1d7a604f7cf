"""The training loop: `python -m models.scratch.training --data FOLDER` trains the shipped models, and goes on later."""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn
from tqdm import tqdm

from models.scratch.config import TransformerConfig
from models.scratch.folder import write_weights
from models.scratch.objectives import MaskedTokens, NextToken, Objective, Translation
from models.scratch.optimisation import muon_and_adamw, update
from models.scratch.recipe import Recipe, Schedule
from models.scratch.transformer import build

WEIGHTS = Path(__file__).parent.parent / "weights"
COLUMNS = ["step", "tokens", "seconds", "rate", "train_nats", "gradient_norm", "valid_nats"]


@dataclass(frozen=True)
class Training:
    """One model that is trained: what it is, what it learns, and how. compiled: whether its batches have one shape."""

    name: str
    objective: type[Objective]
    config: TransformerConfig
    recipe: Recipe
    compiled: bool = False


SHIPPED = {
    one.name: one
    for one in (
        Training("writer", NextToken, TransformerConfig(), Recipe(repeats=0.05), compiled=True),
        Training(
            "filler",
            MaskedTokens,
            TransformerConfig(kind="encoder", vocabulary=8193),
            Recipe(steps=6_000, batch=16, matrix_rate=0.01, rate=1.5e-3, decay=0.3),
        ),
        Training(
            "translator",
            Translation,
            TransformerConfig(kind="encoder-decoder", vocabulary=6144, context=64, layers=3, heads=4, d_ff=512),
            Recipe(steps=12_000, batch=96, warmup=100, decay=0.3, smoothing=0.1),
        ),
    )
}


@dataclass
class State:
    """How far a training is."""

    schedule: Schedule
    step: int = 0
    tokens: int = 0  # that were read, padding not counted
    seconds: float = 0.0
    recent: list[float] = field(default_factory=list)  # losses since the last line of the log


def train(training: Training, data: Path, out: Path, work: Path, minutes: float = math.inf, save_every: float = 5) -> nn.Module:
    """Train a model on the text in `data`; checkpoints go to `work`, weights, tokenizer, figures and loss log to `out`.

    Stops at the recipe's horizon, or after so many minutes (then the next call goes on from there). A file `finish` in `work`
    holding a number of minutes lets the learning rate begin to fall now, and reach zero in about that time.
    """
    recipe, config = training.recipe, training.config
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(recipe.seed)
    out.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    if not (out / "tokenizer.json").exists():
        training.objective.tokenizer(data, config.vocabulary, out.parent).save(str(out / "tokenizer.json"))
    objective = training.objective(data, Tokenizer.from_file(str(out / "tokenizer.json")), config, recipe)

    model = build(config).to(device)
    optims = muon_and_adamw(model, recipe.matrix_rate, recipe.rate, recipe.matrix_decay)
    state = State(Schedule.of(recipe))
    if (work / "checkpoint.pt").exists():
        saved = torch.load(work / "checkpoint.pt", map_location=device)
        model.load_state_dict(saved["model"])
        for optim, its in zip(optims, saved["optimizers"], strict=True):
            optim.load_state_dict(its)
        state = State(**saved["state"] | {"schedule": Schedule(**saved["state"]["schedule"])})
        if state.step < state.schedule.decay_from:  # the horizon may be changed until the decay begins
            state.schedule = Schedule.of(recipe)
    else:
        objective.begin(model, out.parent)

    def save() -> None:
        saved = {"model": model.state_dict(), "optimizers": [one.state_dict() for one in optims], "state": asdict(state)}
        torch.save(saved, work / "checkpoint.new")
        (work / "checkpoint.new").rename(work / "checkpoint.pt")

    def loss_of(model: nn.Module, *batch: torch.Tensor) -> torch.Tensor:
        with torch.autocast(device, dtype=torch.bfloat16):
            return objective.loss(model, *batch)

    loss_of = torch.compile(loss_of, dynamic=False) if training.compiled else loss_of
    began, before = time.monotonic(), state.seconds
    first, saved_at = state.step, began
    batches = objective.batches(state.step, state.schedule)
    log = Log(out / "loss.csv", state.step)
    with tqdm(total=state.schedule.steps, initial=state.step, unit="step", smoothing=0.05, mininterval=5) as bar:
        while state.step < state.schedule.steps and time.monotonic() - began <= 60 * minutes:
            batch = next(batches)
            factor = state.schedule.rate(state.step)
            rates = (recipe.matrix_rate * factor, recipe.rate * factor)
            loss = loss_of(model, *(one.to(device) for one in batch))
            norm = update(model, zip(optims, rates, strict=True), loss, recipe.clip)
            state.step += 1
            state.tokens += objective.tokens(batch)
            state.recent.append(loss.item())
            state.seconds = before + time.monotonic() - began
            bar.update()
            bar.set_postfix(nats=f"{np.mean(state.recent[-50:]):.3f}", rate=f"{factor:.2f}", refresh=False)
            if (work / "finish").exists():
                speed = (state.step - first) / (time.monotonic() - began)  # steps a second
                more = math.ceil(60 * speed * float((work / "finish").read_text()))
                state.schedule = state.schedule.finishing(state.step, more)
                (work / "finish").unlink()
                bar.total = state.schedule.steps
                batches = objective.batches(state.step, state.schedule)
            last = state.step == state.schedule.steps
            if state.step % 100 == 0 or last:
                total, count = held_out(objective, model, 8) if state.step % 500 == 0 or last else (0, 0)
                log.write(state, factor, norm, f"{total / count:.4f}" if count else "")
            if time.monotonic() - saved_at > 60 * save_every:
                save()
                saved_at = time.monotonic()
    save()
    write_weights(model, config, out)
    total, count = held_out(objective, model)
    figures = {"nats_per_" + objective.unit.replace(" ", "_"): total / count, "predictions": count}
    if hasattr(objective, "bytes"):
        figures["bits_per_byte"] = total / math.log(2) / objective.bytes
    figures |= {"step": state.step, "tokens": state.tokens, "seconds": round(state.seconds), "recipe": asdict(recipe)}
    figures["recipe"] |= {"steps": state.schedule.steps, "decay_from": state.schedule.decay_from}
    (out / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    print(json.dumps(figures, indent=2))
    return model


def held_out(objective: Objective, model: nn.Module, every: int = 1) -> tuple[float, int]:
    """As `Objective.held_out`, without dropout."""
    model.eval()
    try:
        return objective.held_out(model, every)
    finally:
        model.train()


class Log:
    """The loss over the steps, as a file of comma-separated values."""

    def __init__(self, path: Path, step: int):
        """step: where the training goes on; lines of later steps, which are done again, are dropped."""
        self.path = path
        rows = list(csv.reader(path.open(newline=""))) if path.exists() else [COLUMNS]
        kept = [rows[0], *(row for row in rows[1:] if int(row[0]) <= step)]
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(kept)

    def write(self, state: State, factor: float, norm: float, held_out_nats: str) -> None:
        """One line; the losses since the last one become their mean."""
        numbers = [f"{state.seconds:.0f}", f"{factor:.4f}", f"{np.mean(state.recent):.4f}", f"{norm:.3f}", held_out_nats]
        with self.path.open("a", newline="") as file:
            csv.writer(file).writerow([state.step, state.tokens, *numbers])
        state.recent.clear()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train the models that ship; run again to go on where it stopped.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder with english_*.txt and pairs_*.tsv")
    parser.add_argument("--work", type=Path, default=Path("build/train"), help="folder for checkpoints, one in it for each model")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="folder for the models, one in it for each")
    parser.add_argument("--only", choices=SHIPPED, help="train this one, instead of all, one after another")
    parser.add_argument("--steps", type=int, help="the horizon of that one; may be changed until the decay begins")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop each after so long, to go on another time")
    parser.add_argument("--finish", type=float, help="let the learning rate fall to zero within so many minutes from now")
    parser.add_argument("--threads", type=int, help="processor threads that it may use")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    for name in [arguments.only] if arguments.only else SHIPPED:
        one = SHIPPED[name]
        if arguments.steps:
            one = replace(one, recipe=replace(one.recipe, steps=arguments.steps))
        folder = arguments.work / name
        if arguments.finish is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "finish").write_text(str(arguments.finish))
        print(f"The {name}:")
        train(one, arguments.data, arguments.out / name, folder, arguments.minutes)
