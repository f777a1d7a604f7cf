"""Rooms that tests share: time is a number that a test sets."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.rooms.app_visitors import lead
from tests.ui.rooms.seated import Clock
from ui.rooms.store import Room, Rooms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rooms(clock: Clock) -> Rooms:
    return Rooms(b"secret", 1800, clock)


@pytest.fixture
def teacher() -> tuple[AppTest, Room]:
    """Who leads a room, on page Attention, and the room."""
    return lead("attention", "text=The+cat&level=expert&layer=L4&head=H3&view=Heatmap")
