"""The ready experiments of page Train come out as they did when they were written down here. `make claims` runs them."""

from __future__ import annotations

import pytest

from models.training.beyond import right_by_stretch
from models.training.experts import in_use
from pages.train.compare import groups
from pages.train.experiments import EXPERIMENTS, SEEDS
from pages.train.verdicts import verdict

pytestmark = [pytest.mark.thorough, pytest.mark.claims]  # so that neither `make test` nor `make test-all` waits for them

BETTER = {  # a part of the name of those that are better than all others; of what is not here there is no verdict
    "layers": "layers 2",
    "attention": "network Transformer",
    "recurrence": "network LSTM",
    "positions": "positions rotary",
    "window": "pattern full",
    "warm-up": "warm-up 100",
    "norm": "norm placed before",
    "scale": "temperature 1 ",
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_comes_out_as_it_is_written_down(name):
    """It trains 6 to 12 networks, which takes a minute or two. Those without a verdict are not held to that: on another processor
    one may come out by chance."""
    runs = EXPERIMENTS[name].trainings()
    for run in runs:
        run.advance(run.budget.steps + 1)
    each = groups([(str(number), run) for number, run in enumerate(runs)])
    result = verdict(each)
    assert result is not None and all(len(members) == len(SEEDS) for members in each.values())
    if name in BETTER:
        assert result.apart and BETTER[name] in result.best
    if name == "length":
        beyond = {title: [right_by_stretch(run)[-1] for run in members] for title, members in each.items()}
        assert min(beyond["positions alibi (3 seeds)"]) > max(beyond["positions rotary (3 seeds)"])
    if name == "experts":
        used = {title: [in_use(run.snapshots[-1].experts) for run in members] for title, members in each.items()}
        assert min(used["balance loss 0.01 (3 seeds)"]) > max(used["balance loss 0 (3 seeds)"])
