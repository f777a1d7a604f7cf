"""The experts in use on page Train: of one run, and of groups of runs, beside their use before the first step."""

from __future__ import annotations

import numpy as np
import pytest

from models.scratch.config import TransformerConfig
from models.training.experts import in_use
from models.training.live import SIZES, Budget, Training
from models.training.tasks import TASKS
from pages.train.experiments import EXPERIMENTS, Experiment
from pages.train.experts import counts, spread_of
from tests.pages.opening import open_link, words_on
from ui.escaping import plain

SMALL = SIZES | {"d_model": 16, "heads": 2, "d_ff": 8, "context": 24, "layers": 1, "experts": 4}


def use_of(run: Training, snapshot: int) -> str:
    return f"{in_use(run.snapshots[snapshot].experts):.1f}"


def test_a_run_says_how_many_experts_are_in_use_and_how_many_were(few_steps):
    sizes = "&".join(f"train-{name}={SMALL[name]}" for name in ("d_model", "heads", "d_ff", "layers", "experts"))
    app = open_link("train", f"level=expert&train-task=Copy&{sizes}")
    app.button(key="train-start").click().run()
    (run,) = few_steps
    words = words_on(app)
    assert not app.exception and "2 of 4 experts a token" in words
    assert f"= **{use_of(run, -1)}**" in words and f"before the first step {use_of(run, 0)}" in words


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_groups_of_runs_have_a_table_of_their_experts(few_steps, monkeypatch, level):
    shared = {**SMALL, "steps": 2, "every": 1, "rows": 2}
    monkeypatch.setitem(EXPERIMENTS, "layers", Experiment("?", "copy", ({"balance": 0.0}, {"balance": 0.01}), shared))
    app = open_link("train", f"level={level}")
    app.button(key="train-try").click().run()
    (table,) = (table.value for table in app.table if "at step 2" in table.value.columns)
    assert not app.exception and list(table.index) == [plain(f"balance loss {weight} (3 seeds)") for weight in (0, 0.01)]
    runs = few_steps
    assert table.iloc[0, 0] == spread_of(runs[:3], 0) and table.iloc[1, 1] == spread_of(runs[3:], 2)
    assert counts(runs[0]) == {"count": 4, "chosen": 2}
    assert ("where the same 2 get every token, it is 2" in words_on(app)) == (level == "intermediate")


def test_several_runs_have_their_mean_their_lowest_and_their_highest():
    runs = [Training(TASKS["copy"](), TransformerConfig(**SMALL), Budget(steps=2, rows=2, seed=seed)) for seed in range(3)]
    values = [in_use(run.snapshots[0].experts) for run in runs]
    assert spread_of(runs, 0) == f"{np.mean(values):.1f} ({min(values):.1f} to {max(values):.1f})"
    assert spread_of(runs[:1], 0) == f"{values[0]:.1f}"
