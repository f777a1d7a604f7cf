"""The training loop: `python -m models.training.shipped --data FOLDER` trains the shipped models, and goes on later."""

from __future__ import annotations

import argparse
import csv
import json
import math
import shutil
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_model
from tokenizers import Tokenizer
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from tqdm import tqdm

from models.scratch.config import TransformerConfig
from models.scratch.folder import write_weights
from models.scratch.transformer import build
from models.training.objectives import MaskedTokens, NextToken, Objective, Translation
from models.training.optimisation import muon_and_adamw, update
from models.training.recipe import Recipe, Schedule

WEIGHTS = Path(__file__).parent.parent / "weights"
COLUMNS = ["step", "tokens", "seconds", "rate", "train_nats", "gradient_norm", "valid_nats"]
BEFORE = ["step", "tokens", "seconds", "recipe"]  # what is kept of the figures of a model that a training begins with


@dataclass(frozen=True)
class Training:
    """One model that is trained: what it is, what it learns, and how.

    compiled: whether its batches have one shape, or a few; short: whether their rows are a few tokens long. more: recipes that
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


SHIPPED = {
    one.name: one
    for one in (
        Training(
            "writer",
            NextToken,
            TransformerConfig(),
            Recipe(repeats=0.05),
            compiled=True,
            more=(Recipe(1_500, matrix_rate=0.005, rate=7.5e-4, warmup=30, decay=0.9, kept=0.12, repeats=0.06, own=0.1, seed=1),),
        ),
        Training(
            "filler",
            MaskedTokens,
            TransformerConfig(kind="encoder", vocabulary=8193),
            Recipe(3_667, batch=16, matrix_rate=0.01, rate=1.5e-3, decay=0.366),
            compiled=True,
            more=(
                Recipe(946, 16, matrix_rate=0.006, rate=1e-3, warmup=20, decay=0.8, cuts=(2, 8), masks=1.0, again=1.0, seed=1),
                Recipe(329, 16, matrix_rate=0.004, rate=7e-4, warmup=20, decay=0.85, cuts=(2, 8), masks=1.0, again=5.0, seed=2),
                Recipe(800, 16, matrix_rate=0.002, rate=3e-4, warmup=20, decay=0.95, cuts=(1, 8), masks=1.0, again=8.0, seed=3),
                Recipe(
                    500,
                    16,
                    matrix_rate=0.0015,
                    rate=2e-4,
                    warmup=20,
                    decay=0.95,
                    kept=0.4,
                    cuts=(1, 8),
                    masks=1.0,
                    again=30.0,
                    seed=4,
                ),
                Recipe(
                    900,
                    16,
                    matrix_rate=0.0025,
                    rate=4e-4,
                    warmup=20,
                    decay=0.95,
                    kept=0.5,
                    cuts=(1, 8),
                    masks=1.0,
                    again=25.0,
                    seed=5,
                ),
            ),
        ),
        Training(
            "translator",
            Translation,
            TransformerConfig(kind="encoder-decoder", vocabulary=6144, context=64, layers=3, heads=4, d_ff=512),
            Recipe(steps=8_621, batch=96, warmup=100, decay=0.4018, smoothing=0.1),
            short=True,
            more=(
                Recipe(
                    steps=1_109,
                    batch=96,
                    matrix_rate=0.006,
                    rate=9e-4,
                    warmup=100,
                    decay=0.7169,
                    kept=0.13,
                    smoothing=0.1,
                    names=4,
                ),
            ),
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
    done: list[dict] = field(default_factory=list)  # the recipes that were gone through, as `gone_through` tells of them
    recent: list[float] = field(default_factory=list)  # losses since the last line of the log


def train(
    training: Training,
    data: Path,
    out: Path,
    work: Path,
    minutes: float = math.inf,
    save_every: float = 5,
    begin: Path | None = None,
) -> nn.Module:
    """Train a model on the text in `data`; checkpoints go to `work`, weights, tokenizer, figures and loss log to `out`.

    begin: the folder of a finished model, from whose weights it starts: with the recipe after those that it has been through,
    counted on from its steps; where there is none, with the first one again, its figures kept as those `before`.
    Stops at the last recipe's horizon, or after so many minutes (then the next call goes on from there). A file `finish` in
    `work` holding a number of minutes lets the learning rate begin to fall now, and reach zero in about that time.
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
    state, saved = State(Schedule.of(recipe)), None
    if (work / "checkpoint.pt").exists():
        saved = torch.load(work / "checkpoint.pt", map_location=device)
        model.load_state_dict(saved["model"])
        state = State(**saved["state"] | {"schedule": Schedule(**saved["state"]["schedule"])})
    elif begin is not None:
        load_model(model, begin / "model.safetensors")
        finished = after(json.loads((begin / "figures.json").read_text()))
        if len(finished.done) < len(training.recipes):
            state = finished
            if not (out / "loss.csv").exists():
                shutil.copy(begin / "loss.csv", out)
    else:
        objective.begin(model, out.parent)
    recipe = objective.recipe = training.recipes[len(state.done)]
    if state.step < state.schedule.decay_from or not saved:  # the horizon may be changed until the decay begins
        state.schedule = Schedule.of(recipe, state.schedule.start)
    optims = muon_and_adamw(model, recipe.matrix_rate, recipe.rate, recipe.matrix_decay)
    for optim, its in zip(optims, saved["optimizers"] if saved else (), strict=bool(saved)):
        optim.load_state_dict(its)
    earlier = saved.get("earlier") if saved else weights_of(model, recipe)

    def save() -> None:
        saved = {"model": model.state_dict(), "optimizers": [one.state_dict() for one in optims], "state": asdict(state)}
        saved["earlier"] = earlier
        torch.save(saved, work / "checkpoint.new")
        (work / "checkpoint.new").rename(work / "checkpoint.pt")

    def loss_of(model: nn.Module, *batch: torch.Tensor) -> torch.Tensor:
        # The fused kernel's backward pass is slow where rows are short.
        kernel = sdpa_kernel(SDPBackend.MATH) if training.short and device == "cpu" else nullcontext()
        with torch.autocast(device, dtype=torch.bfloat16), kernel:
            return objective.loss(model, *batch)

    loss_of = torch.compile(loss_of, dynamic=False) if training.compiled else loss_of
    began, before = time.monotonic(), state.seconds
    first, saved_at = state.step, began
    batches = objective.batches(state.step, state.schedule)
    log = Log(out / "loss.csv", state.step)
    with tqdm(total=state.schedule.steps, initial=state.step, unit="step", smoothing=0.05, mininterval=5) as bar:
        while state.step < state.schedule.steps and time.monotonic() - began <= 60 * minutes:
            batch = tuple(one.to(device) for one in next(batches))
            with torch.autocast(device, dtype=torch.bfloat16):
                batch = objective.prepare(model, state.step, *batch)
            factor = state.schedule.rate(state.step)
            rates = (recipe.matrix_rate * factor, recipe.rate * factor)
            loss = loss_of(model, *batch)
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
            if last and earlier:
                with torch.no_grad():
                    for name, weight in model.named_parameters():
                        weight.lerp_(earlier[name], recipe.kept)
            if state.step % 100 == 0 or last:
                total, count = held_out(objective, model, 8) if state.step % 500 == 0 or last else (0, 0)
                log.write(state, factor, norm, f"{total / count:.4f}" if count else "")
            if last and len(state.done) < len(training.more):
                state.done.append(gone_through(recipe, state.schedule))
                recipe = objective.recipe = training.recipes[len(state.done)]
                optims = muon_and_adamw(model, recipe.matrix_rate, recipe.rate, recipe.matrix_decay)
                earlier = weights_of(model, recipe)
                state.schedule = Schedule.of(recipe, state.step)
                bar.total = state.schedule.steps
                batches = objective.batches(state.step, state.schedule)
            if time.monotonic() - saved_at > 60 * save_every:
                save()
                saved_at = time.monotonic()
    save()
    write_weights(model, config, out)
    total, count = held_out(objective, model)
    figures = {"nats_per_" + objective.unit.replace(" ", "_"): total / count, "predictions": count}
    if hasattr(objective, "bytes"):
        figures["bits_per_byte"] = total / math.log(2) / objective.bytes
    figures |= {"step": state.step, "tokens": state.tokens, "seconds": round(state.seconds)}
    first, *more = [*state.done, gone_through(recipe, state.schedule)]
    figures |= {"recipe": first} | ({"more": more} if more else {})
    if begin is not None and not more:
        figures["before"] = {name: json.loads((begin / "figures.json").read_text())[name] for name in BEFORE}
    (out / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    print(json.dumps(figures, indent=2))
    return model


def weights_of(model: nn.Module, recipe: Recipe) -> dict[str, torch.Tensor]:
    """The weights before a recipe, where it keeps a share of them."""
    return {name: weight.detach().clone() for name, weight in model.named_parameters()} if recipe.kept else {}


def gone_through(recipe: Recipe, schedule: Schedule) -> dict:
    """A recipe as it was followed: its last step, and the one from which its rate fell, both counted from the very first."""
    return asdict(recipe) | {"steps": schedule.steps, "decay_from": schedule.decay_from}


def after(figures: dict) -> State:
    """Where a training stands whose last recipe is done, from what `figures.json` says of it."""
    done = [figures["recipe"], *figures.get("more", ())]
    return State(Schedule(0, 0, 0, figures["step"]), figures["step"], figures["tokens"], figures["seconds"], done)


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
    parser.add_argument("--begin", type=Path, help="the folder of a finished model, from whose weights that one starts")
    parser.add_argument("--rates", type=float, default=1.0, help="what its learning rates are multiplied by")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop each after so long, to go on another time")
    parser.add_argument("--finish", type=float, help="let the learning rate fall to zero within so many minutes from now")
    parser.add_argument("--threads", type=int, help="processor threads that it may use")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    for name in [arguments.only] if arguments.only else SHIPPED:
        one = SHIPPED[name]
        if arguments.steps:  # of the recipe that comes last
            first, *more = [*one.recipes[:-1], replace(one.recipes[-1], steps=arguments.steps)]
            one = replace(one, recipe=first, more=tuple(more))
        rates = {rate: arguments.rates * getattr(one.recipe, rate) for rate in ("matrix_rate", "rate")}
        one = replace(one, recipe=replace(one.recipe, **rates))
        folder = arguments.work / name
        if arguments.finish is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "finish").write_text(str(arguments.finish))
        print(f"The {name}:")
        train(one, arguments.data, arguments.out / name, folder, arguments.minutes, begin=arguments.begin)
