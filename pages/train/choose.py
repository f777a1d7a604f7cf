"""Widgets for the task, the transformer and its training; each choice is in the link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.train import state as page_state
from ui import state
from ui.choices.networks import NETWORKS
from ui.choices.widgets import number, one_of, switch
from ui.words import say

if TYPE_CHECKING:
    from pathlib import Path

    from models.training.baselines import Config
    from models.training.live import Budget
    from models.training.tasks import Task

    Plan = tuple[Task, Config, Budget]


@dataclass(frozen=True)
class Number:
    """A number that is chosen: its name, least, most and step."""

    title: str
    least: float
    most: float
    step: float = 1
    help: str | None = None


SIZES = {
    "layers": Number("Layers", 1, 8),
    "heads": Number("Heads", 1, 16),
    "d_model": Number("Width (d_model)", 8, 512, 8),
    "d_ff": Number("Feed-forward (d_ff)", 8, 2048, 8),
    "kv_heads": Number("Key heads (0: all)", 0, 16, 1, "Queries share keys and values where there are fewer."),
    "experts": Number("Experts", 1, 8, 1, "Feed-forwards side by side. Each token goes through two of them."),
    "window": Number("Window", 1, 64, 1, "How far back a head sees, where the pattern has a window."),
    "dropout": Number("Dropout", 0.0, 0.9, 0.05, "The share of numbers that each step sets to 0, drawn anew."),
}
LEARNING = {
    "steps": Number("Steps", 20, 5000, 20),
    "rate": Number("Learning rate", 0.0, 1000.0, 0.001, "This is the rate of AdamW. Muon uses 20/3 of it."),
    "rows": Number("Examples a step", 1, 256),
    "warmup": Number("Warm-up steps", 1, 1000),
    "clip": Number("Clip gradients at", 0.0, 100.0, 0.1, "A gradient with a greater norm is shortened to it. 0: never."),
    "smoothing": Number("Label smoothing", 0.0, 0.9, 0.05, "The share of the target that all tokens get alike."),
    "balance": Number("Balance of experts", 0.0, 10.0, 0.01, "The weight of a loss that is least when all get as many tokens."),
    "every": Number("Snapshot every … steps", 1, 500),
    "seconds": Number("Time limit in seconds", 5.0, 600.0, 5.0, "Seconds of computing. Pauses do not count."),
    "seed": Number("Seed", 0, 2**31 - 1),
}
BROUGHT = ("heads", "d_model")  # that beginners choose on page Build, and see here when they come from there
LEVELS = {  # what is chosen at each level; the rest is as it is by default
    "beginner": (("layers",), ()),
    "intermediate": (("layers", "heads", "d_model"), ("steps", "rate")),
    "expert": (tuple(SIZES), tuple(LEARNING)),
}
PART_NAMES = {
    "positions": "Positions",
    "norm": "Norm",
    "norm_place": "Place of the norm",
    "feedforward": "Activation",
    "initialisation": "Initialisation",
    "score": "Score",
    "computed": "Computed",
    "pattern": "Pattern",
}
SWITCHES = {"tied": "Tied unembedding", "qk_norm": "Normalise q and k", "bias": "Biases"}
NETWORK_HELP = "The others have no attention. Each is made as wide as gives it as many parameters as the transformer chosen here."
USUAL = "usual"  # weight decay of the optimizer
DECAYS = (USUAL, "0", "0.01", "0.05", "0.1", "0.3")
MOST_SNAPSHOTS = 100
PRECISION_HELP = (
    "The products of a step, as torch’s autocast computes them; weights stay in float32. Scaled: the loss is multiplied by a "
    "factor that follows the range of float16. On most processors fewer bits take longer."
)
OPTIMIZER_HELP = (  # the steps are those of docs/training.md
    "AdamW is what most models are trained with. Muon moves every matrix in all its directions alike, and needs fewer steps "
    "here: 120 to 530 until the task Repeat is learned, where AdamW needs 780 to 2,350. Sgd is gradient descent with momentum."
)

WHY_MUON = (
    "Most models are trained with AdamW. Muon is set here because the task Repeat then takes 120 to 530 steps; AdamW took 780 to "
    "2,350. To try AdamW, choose 2,500 steps."
)


def task(disabled: bool) -> str:
    """Return the task to learn."""
    return one_of(page_state.TRAIN_TASK, page_state.TRAIN_TASK.values, "the task", menu=True, disabled=disabled).lower()


def numbers(disabled: bool) -> tuple[dict, dict]:
    """Return the sizes and parts of the transformer, and the numbers of the budget; only those that this level offers."""
    sizes, learning = LEVELS[state.level()]
    if state.level() == "beginner" and any(map(_is_brought, BROUGHT)):
        sizes += BROUGHT
    here = [*sizes, *learning]
    for level, (more, numbers) in LEVELS.items():
        new = [name for name in (*more, *numbers) if name not in here]
        state.later(level, *(page_state.train_key(name) for name in new))
        here += new
    network = _network(disabled)
    chosen = _numbers(SIZES, sizes, disabled) | network
    budget = _numbers(LEARNING, learning, disabled)
    if state.level() != "beginner":
        budget |= _recipe(disabled)
    if state.level() == "expert":
        chosen |= _parts(disabled)
    return chosen, budget


def _is_brought(name: str) -> bool:
    """Return whether the link or the visitor has chosen a size that is not the usual one."""
    key, usual = page_state.train_key(name), _default(name)
    return state.linked_value(key) not in (None, str(usual)) or key.get_or(usual) != usual


def _network(disabled: bool) -> dict[str, str]:
    """Place the menu of networks, and return the one that is chosen."""
    if state.level() == "beginner":
        state.later("intermediate", page_state.train_key("network"))
        return {}
    return {"network": _one_of("network", "Network", tuple(NETWORKS), disabled, NETWORK_HELP, NETWORKS.__getitem__)}


def _recipe(disabled: bool) -> dict[str, Any]:
    """Place the menus of the optimizer and its schedule, and for experts of its weight decay and of the precision."""
    from models.training.live import OPTIMIZERS
    from models.training.precision import PRECISIONS
    from models.training.schedules import SCHEDULES

    chosen: dict[str, Any] = {
        "optimizer": _one_of("optimizer", "Optimizer", OPTIMIZERS, disabled, OPTIMIZER_HELP),
        "schedule": _one_of("schedule", "Schedule", SCHEDULES, disabled),
    }
    if chosen["optimizer"] == OPTIMIZERS[0] and not disabled:
        st.caption(WHY_MUON)
    if state.level() == "expert":
        decay = _one_of("decay", "Weight decay", DECAYS, disabled)
        chosen["decay"] = None if decay == USUAL else float(decay)
        chosen["precision"] = _one_of("precision", "Precision", PRECISIONS, disabled, PRECISION_HELP)
    else:
        state.later("expert", page_state.train_key("decay"), page_state.train_key("precision"))
    return chosen


def _parts(disabled: bool) -> dict[str, Any]:
    """Place the menus and switches of the parts."""
    chosen: dict[str, Any] = {name: _one_of(name, title, allowed(name), disabled) for name, title in PART_NAMES.items()}
    for name, title in SWITCHES.items():
        key, default = page_state.train_key(name), _default(name)
        chosen[name] = switch(key, title, default, disabled=disabled)
        state.keep(key, chosen[name], default)
    return chosen


def allowed(name: str) -> tuple[str, ...]:
    """Return the choices of a part, the default first."""
    from models.scratch import config

    every = {
        "positions": config.POSITIONS,
        "norm": config.NORMS,
        "norm_place": config.PLACES,
        "feedforward": config.FEEDFORWARDS,
        "initialisation": config.INITIALISATIONS,
        "score": config.SCORES,
        "computed": [name for name in config.COMPUTED if name != "linformer"],  # which is none for a decoder
        "pattern": config.PATTERNS,
    }
    default = getattr(config.TransformerConfig, name)
    return (default, *(choice for choice in every[name] if choice != default))


def plan(task: str, sizes: dict, budget: dict, typed: str) -> Plan:
    """Return the task, the config and the budget for these choices. Errors: ValueError, a sentence, if they do not fit."""
    from models.training.live import Budget
    from models.training.tasks import TASKS

    chosen = TASKS[task](typed) if task == "text" else TASKS[task]()
    steps = budget.get("steps", Budget.steps)
    wanted = Budget(**{"every": max(Budget.every, -(-steps // MOST_SNAPSHOTS))} | budget)
    if wanted.steps / wanted.every > MOST_SNAPSHOTS:
        raise ValueError(
            f"{wanted.steps} steps with a snapshot every {wanted.every} make more than {MOST_SNAPSHOTS} snapshots. "
            f"Take one every {-(-wanted.steps // MOST_SNAPSHOTS)} steps, or less often."
        )
    return chosen, config_of(sizes), wanted


def config_of(choices: dict[str, Any]) -> Config:
    """Return the config of these choices: of a transformer, or of a "network" that has as many parameters.

    Errors: ValueError, a sentence, if they do not fit."""
    from models.scratch.config import TransformerConfig
    from models.training.baselines import matching
    from models.training.live import SIZES as DEFAULTS

    sizes = DEFAULTS | choices
    network = sizes.pop("network", "transformer")
    config = TransformerConfig(**sizes)
    return config if network == "transformer" else matching(network, config)


def say_matched(here: Path, plan: Plan | None, choices: dict[str, Any]) -> None:
    """Say how wide a network without attention is, and how many parameters it and the transformer have that was chosen."""
    if plan is None or plan[1].heads:
        return
    from models.training.baselines import count_parameters, network_of

    other = config_of(choices | {"network": "transformer"})
    sizes = [f"{count_parameters(partial(network_of, config)):,}" for config in (plan[1], other)]
    say(here, "matched", network=NETWORKS[choices["network"]], width=plan[1].d_model, parameters=sizes[0], other=sizes[1])


def _numbers(every: dict[str, Number], names: tuple[str, ...], disabled: bool) -> dict:
    chosen, columns = {}, st.columns(2) if len(names) > 1 else [st.container()]
    for i, name in enumerate(names):
        setting = every[name]
        default = _default(name)
        with columns[i % len(columns)]:
            chosen[name] = number(
                page_state.train_key(name),
                setting.title.removesuffix(" (d_model)") if state.level() == "beginner" else setting.title,
                setting.least,
                setting.most,
                default,
                setting.step,
                disabled=disabled,
                help=setting.help,
                format="%g" if name == "rate" else None,
            )
        state.keep(page_state.train_key(name), chosen[name], default)
    return chosen


def _default(name: str) -> Any:
    """Return a size, a part or a number of the budget as it is where nobody chooses it."""
    from models.scratch.config import TransformerConfig
    from models.training.live import SIZES as DEFAULTS
    from models.training.live import Budget

    return DEFAULTS.get(name, getattr(Budget, name, getattr(TransformerConfig, name, None)))


def _one_of(
    name: str,
    title: str,
    names: tuple[str, ...],
    disabled: bool,
    help: str | None = None,
    format_option: Callable[[str], str] = str,
) -> str:
    key, meaning = page_state.train_key(name), f"the {title.lower()}"
    return one_of(key, names, meaning, label=title, menu=True, disabled=disabled, help=help, format_option=format_option)
