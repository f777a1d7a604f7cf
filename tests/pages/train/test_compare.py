"""Runs side by side: what differs between them, which differ by chance alone, and their common curve."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from models.scratch.config import TransformerConfig
from models.training.live import SIZES, Budget, Training
from models.training.tasks import TASKS
from pages.train import compare
from tests.pages.opening import open_link, words_on
from ui.memory import trainings

SMALL = SIZES | {"d_model": 16, "heads": 2, "d_ff": 16, "context": 24}


def budget(**more) -> Budget:
    return Budget(**{"steps": 4, "every": 2, "rows": 2} | more)


def training(task: str = "copy", sizes: dict | None = None, **more) -> Training:
    return Training(TASKS[task](), TransformerConfig(**SMALL | (sizes or {})), budget(**more))


def test_a_run_is_called_by_what_it_has_and_others_have_not():
    runs = [training(), training(optimizer="sgd"), training(sizes={"layers": 1, "tied": False}, optimizer="sgd")]
    assert compare.differences(runs) == [
        "layers 2, tied unembedding on, optimizer muon",
        "layers 2, tied unembedding on, optimizer sgd",
        "layers 1, tied unembedding off, optimizer sgd",
    ]
    assert compare.differences([training(), training()]) == ["run 1", "run 2"]
    assert compare.differences([training(decay=0.1), training()]) == ["decay 0.1", "decay usual"]


def test_runs_that_differ_in_their_seed_alone_are_one_line():
    runs = [training(seed=1), training(seed=2), training(seed=1, schedule="cosine"), training(seed=3)]
    named = list(zip(("a", "b", "c", "d"), runs, strict=True))
    assert compare.groups(named) == {"schedule plateau (3 seeds)": [runs[0], runs[1], runs[3]], "c": [runs[2]]}
    assert compare.groups(named[:2]) == {"all runs (2 seeds)": runs[:2]}


def test_their_line_is_the_mean_over_the_steps_that_all_have_and_the_band_has_all_of_them():
    runs = [training(seed=seed) for seed in range(3)]
    for count, each in zip((4, 4, 2), runs, strict=True):
        each.advance(count)
    (steps, means), band = compare.together(runs, "Loss")
    losses = [[snapshot.loss for snapshot in each.snapshots[:2]] for each in runs]
    assert steps == [0, 2] and band is not None
    assert means == pytest.approx([sum(column) / 3 for column in zip(*losses, strict=True)])
    assert band == ([min(column) for column in zip(*losses, strict=True)], [max(column) for column in zip(*losses, strict=True)])
    alone, no_band = compare.together(runs[:1], "Rate")
    assert no_band is None and alone == ([1, 2, 3, 4], runs[0].curves.rate)


@pytest.mark.parametrize(
    ("accuracies", "step"), [([0.2, 1.0, 0.995], 10), ([1.0, 0.5, 1.0], 20), ([0.2, 0.4, 0.9], None), ([1.0, 1.0, 1.0], 0)]
)
def test_a_task_is_learned_from_the_step_after_which_it_is_not_forgotten(accuracies, step):
    snapshots = [SimpleNamespace(step=10 * i, accuracy=accuracy) for i, accuracy in enumerate(accuracies)]
    assert compare.learned_at(SimpleNamespace(snapshots=snapshots)) == step


def test_of_each_run_the_heads_are_those_of_its_last_snapshot_up_to_a_step():
    long, short = training(steps=8), training()
    long.advance(8)
    short.advance(4)
    assert [compare.snapshot_at(long, step).step for step in (0, 3, 6, 99)] == [0, 2, 6, 8]
    assert compare.snapshot_at(short, 8).step == 4


@pytest.mark.parametrize("level", ["beginner", "intermediate", "expert"])
def test_two_runs_stand_side_by_side_at_each_level(monkeypatch, level):
    runs = [("first", training()), ("second", training(optimizer="sgd"))]
    for _, each in runs:
        each.advance(4)
        each.stop()
    monkeypatch.setattr(trainings, "runs", lambda: runs)
    monkeypatch.setattr(trainings, "mine", lambda: runs[1])
    app = open_link("train", f"level={level}")
    assert not app.exception and "**optimizer sgd**" in words_on(app) and "Reset" not in [button.label for button in app.button]
    (table,) = app.table
    assert list(table.value.index) == ["optimizer muon", "optimizer sgd"]
    assert ("Loss, nats" in table.value.columns) == (level != "beginner")
    assert [button.label for button in app.button].count("Remove") == 2


def test_another_run_is_planned_with_the_choices_of_the_last_one_and_given_up(monkeypatch):
    mine = training()
    monkeypatch.setattr(trainings, "runs", lambda: [("first", mine)])
    monkeypatch.setattr(trainings, "mine", lambda: ("first", mine))
    app = open_link("train", "level=expert&train-layers=3")
    assert app.number_input(key="train-layers").disabled
    app.button(key="train-add-run").click().run()
    assert not app.number_input(key="train-layers").disabled and app.number_input(key="train-layers").value == 3
    app.button(key="train-no-run").click().run()
    assert app.number_input(key="train-layers").disabled and not app.exception
