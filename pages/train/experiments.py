"""Ready experiments: a question, and runs that differ in one thing, each with several seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.train import choose
from pages.train import state as page_state
from pages.train.compare import NAMES, format_value
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
    """A question. task: that all runs learn; watch: what to look for, in a sentence; shared: what all have and is not as usual;
    variants: what each has alone. Both by the names of fields of `TransformerConfig` and `Budget`, and "network"."""

    question: str
    task: str
    variants: tuple[Mapping[str, Any], ...]
    shared: Mapping[str, Any] = field(default_factory=dict)
    watch: str = ""

    @property
    def description(self) -> str:
        """The task, what differs and what is the same for all, in words."""
        same = f" The same for all: {list_choices(self.shared)}." if self.shared else ""
        return f"Task “{self.task}”: {' against '.join(map(list_choices, self.variants))}.{same}"

    def trainings(self) -> list[Training]:
        """Return a training for each variant and seed. Errors: ValueError, a sentence, where one cannot be."""
        from models.training.live import Budget, Training
        from models.training.tasks import TASKS

        budgets = {field.name for field in fields(Budget)}
        runs = []
        for variant in self.variants:
            chosen = {**self.shared, **variant}
            config = choose.config_of({name: value for name, value in chosen.items() if name not in budgets})
            budget = {"every": 20} | {name: value for name, value in chosen.items() if name in budgets}
            runs += [Training(TASKS[self.task](), config, Budget(**budget, seed=seed)) for seed in SEEDS]
        return runs


def list_choices(choices: Mapping[str, Any]) -> str:
    return ", ".join(f"{NAMES.get(name, name.replace('_', ' '))} {format_value(value)}" for name, value in choices.items())


EXPERIMENTS = {
    "layers": Experiment(
        "Induction: one layer or two?",
        "repeat",
        ({"layers": 1}, {"layers": 2}),
        watch="When does a head jump to what followed the same letter last time? It needs a head below that looks one back.",
    ),
    "heads": Experiment(
        "One wide head or four narrow?",
        "repeat",
        ({"heads": 1}, {"heads": 4}),
        watch="A wide head has as many numbers as four narrow ones. Which maps show the jump back?",
    ),
    "attention": Experiment(
        "Is attention needed to repeat?",
        "repeat",
        ({"network": "lstm"}, {"network": "gru"}, {"network": "transformer"}),
        watch="An LSTM and a GRU carry all that they have read in a state of fixed size. Can they find what came next last time?",
    ),
    "recurrence": Experiment(
        "When does an LSTM win?",
        "brackets",
        ({"network": "lstm"}, {"network": "transformer"}),
        watch="Closing brackets takes a stack and no look back. Which network is right after fewer steps?",
    ),
    "positions": Experiment(
        "Is it lost without positions?",
        "reverse",
        ({"positions": "none"}, {"positions": "rotary"}),
        {"steps": 300},
        watch="A decoder without positions still sees fewer letters early in a text than late. How far does that take it?",
    ),
    "length": Experiment(
        "Which positions last beyond the trained length?",
        "repeat",
        ({"positions": "rotary"}, {"positions": "alibi"}, {"positions": "learned"}, {"positions": "none"}),
        {"context": 128},
        watch="Trained on 40 letters, and asked for 128: below the table of ends stands how much is right there.",
    ),
    "window": Experiment(
        "What if it sees only 8 back?",
        "repeat",
        ({"pattern": "window", "window": 8}, {"pattern": "full"}),
        watch="What followed the same letter last time stands 10 to 20 letters back, farther than 8.",
    ),
    "optimizer": Experiment(
        "Which optimizer is quickest?",
        "copy",
        ({"optimizer": "muon"}, {"optimizer": "adamw"}, {"optimizer": "sgd", "rate": 0.1}),
        {"steps": 200},
        watch="Muon moves a matrix in all directions alike, AdamW each number at its own scale, sgd straight down the slope.",
    ),
    "warm-up": Experiment(
        "Why warm-up?",
        "copy",
        ({"warmup": 1}, {"warmup": 100}),
        {"steps": 200, "layers": 3, "norm_place": "after", "optimizer": "adamw"},
        watch="With the norm after each part, the first large steps can ruin what follows. Compare the starts of the curves.",
    ),
    "norm": Experiment(
        "Norm before or after each part?",
        "copy",
        ({"norm_place": "before"}, {"norm_place": "after"}),
        {"steps": 200, "layers": 6, "optimizer": "adamw"},
        watch="Six layers: with the norm after each part, the gradient passes through every one of them. Open “Gradient”.",
    ),
    "tied": Experiment(
        "Tied or not?",
        "sort",
        ({"tied": True}, {"tied": False}),
        {"steps": 300},
        watch="Tied, the embedding is the unembedding too: a matrix less to learn. Does that cost right answers?",
    ),
    "scale": Experiment(
        "What is √d for?",
        "repeat",
        ({"temperature": 1.0}, {"temperature": 0.125}),
        {"heads": 1, "qk_norm": False},
        watch="Scores are divided by √64 = 8. A temperature of 0.125 undoes that: scores are 8 times as large, so softmax puts "
        "nearly all weight on one token, and hardly a gradient is left for the others.",
    ),
    "feed-forward": Experiment(
        "Does attention need a feed-forward?",
        "add",
        ({"d_ff": 1}, {"d_ff": 256}),
        watch="A feed-forward of one neuron is nearly none. Attention only mixes what tokens hand over; who adds two digits?",
    ),
    "experts": Experiment(
        "Do experts collapse without a balance loss?",
        "dates",
        ({"balance": 0.0}, {"balance": 0.01}),
        {"experts": 8, "d_ff": 64, "steps": 200},
        watch="Each token goes through two of eight feed-forwards. Below the table of ends stands how many are in use.",
    ),
}


def place(folder: Path) -> None:
    """Place the menu of experiments and its button, where no run is there."""
    if state.level() == "beginner":
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
        experiment = EXPERIMENTS[name]
        st.caption(plain(experiment.watch))
        facts = {"runs": len(experiment.variants) * len(SEEDS), "seeds": len(SEEDS), "what": plain(experiment.description)}
        st.caption(words(folder, "ready", **facts))
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
