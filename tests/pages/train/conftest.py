"""Fixtures for the tests of page Train."""

from __future__ import annotations

import pytest

from models.training.live import Training


@pytest.fixture
def few_steps(monkeypatch) -> list[Training]:
    """Trainings that are over after three steps, as they begin."""
    runs: list[Training] = []

    def start(run: Training) -> None:
        runs.append(run)
        run.advance(3)
        run.stop()

    monkeypatch.setattr(Training, "start", start)
    return runs
