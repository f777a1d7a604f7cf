"""Runs side by side: what differs between them, which differ by chance alone, and their common curve."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace

import pytest

from models.scratch.config import TransformerConfig
from models.training.beyond import right_by_stretch
from models.training.live import SIZES, Budget, Training
from models.training.tasks import TASKS
from pages.train import beyond, compare, verdicts
from pages.train import state as page_state
from pages.train.experiments import EXPERIMENTS, SEEDS, Experiment
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
    assert compare.differences([training(decay=0.1), training()]) == ["weight decay 0.1", "weight decay usual"]


def test_runs_that_differ_in_their_seed_alone_are_one_line():
    runs = [training(seed=1), training(seed=2), training(seed=1, schedule="cosine"), training(seed=3)]
    named = list(zip(("a", "b", "c", "d"), runs, strict=True))
    assert compare.groups(named) == {"schedule plateau (3 seeds)": [runs[0], runs[1], runs[3]], "c": [runs[2]]}
    assert compare.groups(named[:2]) == {"all runs (2 seeds)": runs[:2]}


def test_their_line_is_the_mean_over_the_steps_that_all_have_and_the_band_has_all_of_them():
    runs = [training(seed=seed) for seed in range(3)]
    for count, each in zip((4, 4, 2), runs, strict=True):
        each.advance(count)
    (steps, means), band = compare.combine(runs, "Loss")
    losses = [[snapshot.loss for snapshot in each.snapshots[:2]] for each in runs]
    assert steps == [0, 2] and band is not None
    assert means == pytest.approx([sum(column) / 3 for column in zip(*losses, strict=True)])
    assert band == ([min(column) for column in zip(*losses, strict=True)], [max(column) for column in zip(*losses, strict=True)])
    alone, no_band = compare.combine(runs[:1], "Rate")
    assert no_band is None and alone == ([1, 2, 3, 4], runs[0].curves.rate)


@pytest.mark.parametrize(
    ("accuracies", "step"), [([0.2, 1.0, 0.995], 10), ([1.0, 0.5, 1.0], 20), ([0.2, 0.4, 0.9], None), ([1.0, 1.0, 1.0], 0)]
)
def test_a_task_is_learned_from_the_step_after_which_it_is_not_forgotten(accuracies, step):
    snapshots = [SimpleNamespace(step=10 * i, accuracy=accuracy) for i, accuracy in enumerate(accuracies)]
    assert verdicts.learned_at(SimpleNamespace(snapshots=snapshots)) == step


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


def ended(*accuracies: float, steps: tuple[int, ...] = (0, 10)) -> list[SimpleNamespace]:
    """Runs that have ended with these shares of right answers."""
    each = [[SimpleNamespace(step=step, accuracy=accuracy * (step > 0)) for step in steps] for accuracy in accuracies]
    return [SimpleNamespace(snapshots=snapshots, state="done") for snapshots in each]


def test_a_group_is_better_where_each_of_its_runs_is_better_than_all_others():
    best = verdicts.verdict({"a": ended(0.5, 0.6, 0.7), "b": ended(0.1, 0.2, 0.4)})
    assert best == verdicts.Verdict("a", True, 0.1, "answers")
    assert not verdicts.verdict({"a": ended(0.5, 0.6, 0.7), "b": ended(0.1, 0.2, 0.5)}).apart
    assert not verdicts.verdict({"a": ended(1.0, 1.0), "b": ended(1.0, 1.0)}).apart, "two that are alike are not apart"
    sooner = verdicts.verdict({"a": ended(1.0, 1.0), "b": ended(1.0, 1.0, steps=(0, 20))})
    assert sooner == verdicts.Verdict("a", True, pytest.approx(1 / 3), "steps")


def test_the_share_of_luck_is_that_of_all_ways_to_deal_the_ranks():
    """Of all orders of six runs, in those the first or the second three are ahead of all others."""
    orders = list(permutations(range(6)))
    apart = sum(min(order[:3]) > max(order[3:]) or min(order[3:]) > max(order[:3]) for order in orders)
    assert verdicts.verdict({"a": ended(0.5, 0.6, 0.7), "b": ended(0.1, 0.2, 0.4)}).luck == pytest.approx(apart / len(orders))


@pytest.mark.parametrize(
    "groups",
    [
        {"a": ended(0.5), "b": ended(0.1)},
        {"a": ended(0.5, 0.6)},
        {"a": ended(0.5, 0.6), "b": ended(0.1, 0.2, 0.3)},
        {"a": ended(0.5, 0.6), "b": [SimpleNamespace(state="running", snapshots=[])] * 2},
    ],
)
def test_there_is_no_verdict_on_single_runs_nor_while_one_goes_on(groups):
    assert verdicts.verdict(groups) is None


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_runs_of_an_experiment_differ_in_what_it_asks_about_and_in_their_seed(name):
    experiment = EXPERIMENTS[name]
    runs = experiment.trainings()
    each = compare.groups([(f"{i}", run) for i, run in enumerate(runs)])
    assert [len(group) for group in each.values()] == [len(SEEDS)] * len(experiment.variants)
    firsts = [compare.facts_of(group[0]) for group in each.values()]
    differing = {name for name in firsts[0] if len({str(facts[name]) for facts in firsts}) > 1}
    asked = {name for variant in experiment.variants for name in variant}
    assert differing <= (asked | {"d_model"} if "network" in asked else asked), "another network has its own width"
    assert name in page_state.READY.values and len(EXPERIMENTS) == len(page_state.READY.values)


def test_an_experiment_is_tried_with_one_press_and_taken_away_with_another(monkeypatch):
    small = Experiment("?", "copy", ({"layers": 1}, {"layers": 2}), {**SMALL, "steps": 2, "every": 1, "rows": 2})
    monkeypatch.setitem(EXPERIMENTS, "layers", small)
    monkeypatch.setattr(Training, "start", lambda run: (run.advance(2), run.stop()))
    app = open_link("train", "level=intermediate")
    app.button(key="train-try").click().run()
    words = words_on(app).replace("\\", "")
    assert not app.exception and "**layers 1 (3 seeds)**" in words and "step 2 of 2" in words
    assert "No verdict" in words or "each of its runs" in words
    app.button(key="run-remove all-all").click().run()
    assert not trainings.runs() and not app.exception


def test_runs_with_the_same_name_or_the_same_seed_are_told_apart():
    assert compare.make_distinct(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]
    assert compare.groups([("same", training()), ("same", training(optimizer="sgd"))]).keys() == {"same", "same (2)"}
    again = compare.groups([("a", training(seed=1)), ("b", training(seed=1)), ("c", training(seed=2))])
    assert [len(members) for members in again.values()] == [2], "one that is the same in everything is no other seed"


def test_two_texts_are_not_two_seeds():
    long = {"context": 64}
    texts = (
        "The cat sat on the mat because it was so very warm there.",
        "A dog ran into the garden, where nobody had been yet.",
    )
    runs = [
        Training(TASKS["text"](text), TransformerConfig(**SMALL | long), budget(seed=seed)) for seed, text in enumerate(texts)
    ]
    assert [len(members) for members in compare.groups([("a", runs[0]), ("b", runs[1])]).values()] == [1, 1]
    assert compare.differences(runs)[0] == "text The cat sat on the m…, seed 0"


def test_snapshots_at_other_steps_are_compared_at_those_that_all_have():
    runs = [training(steps=6, every=2), training(steps=6, every=3, seed=1)]
    for each in runs:
        each.advance(6)
    (steps, _), _ = compare.combine(runs, "Answers")
    assert steps == [0, 6]


def test_one_that_goes_on_is_compared_at_the_last_step_that_all_have():
    ahead, behind = training(steps=8), training(steps=8, seed=1)
    ahead.advance(6)
    behind.advance(2)
    assert [snapshot.step for snapshot in compare.common_snapshots([ahead, behind])] == [2, 2]
    ahead.stop()
    behind.stop()
    assert [snapshot.step for snapshot in compare.common_snapshots([ahead, behind])] == [6, 2]


def test_a_name_stays_with_its_run_and_only_its_visitor_gives_it(monkeypatch):
    runs = [training(), training(optimizer="sgd")]
    own = {f"key{i}": run for i, run in enumerate(runs)}
    entries = {name: trainings.OwnedTraining("me", "net", run) for name, run in own.items()}
    monkeypatch.setattr(trainings, "_owned", entries)
    monkeypatch.setattr(trainings, "browser", lambda: "me")
    trainings.rename("key1", "the slow one")
    assert compare.titles(list(own.items())) == ["optimizer muon", "the slow one"], "in any session of this browser"
    monkeypatch.setattr(trainings, "browser", lambda: "somebody else")
    trainings.rename("key1", "mine")
    assert trainings.title("key1") == "the slow one"
    monkeypatch.setattr(trainings, "browser", lambda: "me")
    trainings.rename("key1", "")
    assert compare.titles(list(own.items())) == ["optimizer muon", "optimizer sgd"]


@pytest.mark.parametrize(("warmup", "is_said"), [(59, False), (60, True), (900, True)])
def test_a_warm_up_that_never_ends_is_said_before_the_start(warmup, is_said):
    opened = open_link("train", f"level=expert&train-steps=60&train-warmup={warmup}")
    assert ("The warm-up is as long as the training" in words_on(opened)) == is_said


def test_runs_that_have_ended_are_asked_beyond_the_length_that_they_were_trained_on(monkeypatch):
    long = {"context": 64}
    runs = [(name, training("repeat", long, steps=4, seed=seed)) for seed, name in enumerate(("first", "second"))]
    for _, each in runs:
        each.advance(4)
    monkeypatch.setattr(trainings, "runs", lambda: runs)
    monkeypatch.setattr(trainings, "mine", lambda: runs[1])
    assert len(open_link("train", "level=expert").table) == 1, "they have not ended"
    for _, each in runs:
        each.stop()
    app = open_link("train", "level=expert")
    shares = beyond.row([right_by_stretch(each) for _, each in runs])
    assert list(app.table[1].value.columns) == ["21 to 40 (trained)", "41 to 64"]
    assert app.table[1].value.iloc[0].tolist() == shares and "3.85" in words_on(app)
    assert len(open_link("train", "level=beginner").table) == 1
