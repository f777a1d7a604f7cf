"""Rooms that tests share: time is a number that a test sets."""

from __future__ import annotations

import pytest

from tests.ui.rooms.seated import Clock
from ui.rooms.store import Rooms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rooms(clock: Clock) -> Rooms:
    return Rooms(b"secret", 1800, clock)
