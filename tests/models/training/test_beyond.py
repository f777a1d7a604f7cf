"""Right answers beyond the trained length are counted by position, on longer examples of the same rounds."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.scratch.config import TransformerConfig
from models.training.beyond import right_by_stretch, stretches
from models.training.live import SIZES, START, Budget, Training
from models.training.tasks import TASKS, repeat


def training(task: str = "repeat", **sizes) -> Training:
    return Training(TASKS[task](), TransformerConfig(**SIZES | {"context": 128} | sizes), Budget(steps=2, rows=2))


def test_the_stretches_begin_with_the_trained_answers_and_end_with_the_context():
    assert stretches(training()) == [(21, 40), (41, 64), (65, 96), (97, 128)]
    assert stretches(training(context=64)) == [(21, 40), (41, 64)] and stretches(training(context=50)) == [(21, 40)]
    assert stretches(training("copy")) == [] and right_by_stretch(training("copy")) == []


def test_longer_examples_have_the_rounds_of_the_trained_ones():
    for seed in range(50):
        short, long = (repeat(length, rounds_of=40).example(np.random.default_rng(seed)) for length in (40, 128))
        assert long[0] == short[0] and len("".join(long)) == 128 and "".join(long).startswith("".join(short))
    assert repeat().example(np.random.default_rng(0)) == repeat(rounds_of=40).example(np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"from 8 to"):
        repeat(128)


def test_who_always_knows_what_came_a_round_ago_is_right_everywhere_and_who_stops_looking_is_not(monkeypatch):
    run = training()

    def looks_back(limit: int):
        def predict(ids: torch.Tensor) -> torch.Tensor:
            logits = torch.zeros(*ids.shape, START + 1)
            for row, tokens in enumerate(ids.tolist()):
                for at in range(min(limit, len(tokens))):
                    before = [j for j in range(1, at) if tokens[j] == tokens[at]]
                    logits[row, at, tokens[before[-1] + 1] if before else 0] = 1
            return logits

        return predict

    monkeypatch.setattr(run, "predict", looks_back(128))
    assert right_by_stretch(run) == [1, 1, 1, 1]
    monkeypatch.setattr(run, "predict", looks_back(64))
    assert right_by_stretch(run) == [1, 1, 0, 0]


def test_predictions_are_those_of_the_network():
    run = training()
    ids = torch.randint(256, (2, 30))
    torch.testing.assert_close(run.predict(ids), run.network.eval()(ids))
