"""Ready experiments: a question, and runs that differ in one thing, each with several seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.train import state as page_state
from ui import state
from ui.choices.widgets import one_of
from ui.escaping import plain
from ui.memory import trainings
from ui.words import words

if TYPE_CHECKING:
    from pathlib import Path

    from models.training.live import Training

SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Experiment:
    """A question. task: that all runs learn; shared: what all have and is not as usual; variants: what each has alone. Both by
    the names of fields of `TransformerConfig` and `Budget`."""

    question: str
    task: str
    variants: tuple[Mapping[str, Any], ...]
    shared: Mapping[str, Any] = field(default_factory=dict)

    def trainings(self) -> list[Training]:
        """Return a training for each variant and seed. Errors: ValueError, a sentence, where one cannot be."""
        from models.scratch.config import TransformerConfig
        from models.training.live import SIZES, Budget, Training
        from models.training.tasks import TASKS

        budgets = {field.name for field in fields(Budget)}
        runs = []
        for variant in self.variants:
            chosen = {**self.shared, **variant}
            sizes = SIZES | {name: value for name, value in chosen.items() if name not in budgets}
            budget = {"every": 20} | {name: value for name, value in chosen.items() if name in budgets}
            runs += [Training(TASKS[self.task](), TransformerConfig(**sizes), Budget(**budget, seed=seed)) for seed in SEEDS]
        return runs


EXPERIMENTS = {
    "layers": Experiment("How many layers does induction need?", "repeat", ({"layers": 1}, {"layers": 2})),
    "heads": Experiment("One wide head, or four narrow ones?", "repeat", ({"heads": 1}, {"heads": 4})),
    "positions": Experiment(
        "What does the model do without positions?",
        "reverse",
        ({"positions": "none"}, {"positions": "rotary"}),
        {"steps": 300},
    ),
    "window": Experiment(
        "What if each token sees only the last eight?",
        "repeat",
        ({"pattern": "window", "window": 8}, {"pattern": "full"}),
    ),
    "optimizer": Experiment(
        "Which optimizer is quickest here?",
        "copy",
        ({"optimizer": "muon"}, {"optimizer": "adamw"}, {"optimizer": "sgd", "rate": 0.1}),
        {"steps": 200},
    ),
    "warm-up": Experiment(
        "Why warm-up, where the norm is after each part?",
        "copy",
        ({"warmup": 1}, {"warmup": 100}),
        {"steps": 200, "layers": 3, "norm_place": "after", "optimizer": "adamw"},
    ),
    "norm": Experiment(
        "Norm before or after each part, in six layers?",
        "copy",
        ({"norm_place": "before"}, {"norm_place": "after"}),
        {"steps": 200, "layers": 6, "optimizer": "adamw"},
    ),
    "tied": Experiment("Tied or not?", "sort", ({"tied": True}, {"tied": False}), {"steps": 300}),
}


def place(folder: Path) -> None:
    """Place the menu of experiments and its button, where no run is there."""
    if state.level() == "beginner":
        state.later("intermediate", page_state.READY)
        return
    with st.expander(words(folder, "ready title")):
        name = one_of(
            page_state.READY,
            page_state.READY.values,
            "the experiment",
            label="Question",
            menu=True,
            format_option=lambda name: EXPERIMENTS[name].question,
        )
        runs = len(EXPERIMENTS[name].variants) * len(SEEDS)
        st.caption(words(folder, "ready", runs=runs, seeds=len(SEEDS)))
        st.button("Try it", icon=":material/experiment:", key="train-try", on_click=page_state.TRYING.set, args=(name,))
    if wanted := page_state.TRYING.get():
        page_state.TRYING.set("")
        begin(EXPERIMENTS[wanted])


def begin(experiment: Experiment) -> None:
    """Start the runs of an experiment."""
    begun = list[str]()
    try:
        for training in experiment.trainings():
            begun.append(trainings.new_name())
            trainings.keep(begun[-1], training)
            training.start()
    except ValueError as error:
        for name in begun:
            trainings.forget(name)
        st.error(plain(str(error)), icon=":material/report:")
        return
    st.rerun()
