"""The choices of page "Type" from plain values, as a message brings them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pages.type.compose import Settings, compose
from ui.look import Look
from ui.picture.board import Board

BARS = {"beginner": 5, "intermediate": 8, "expert": 10}  # that are listed where nobody chooses
TEMPERATURES, BAR_COUNTS = (0.1, 3.0), (5, 50)  # the least and the most


def compose_from(look: Look, values: Mapping[str, Any]) -> Board:
    """Return the board of a text. values: as of `settings_of`."""
    return compose(look, settings_of(look.level, values))


def settings_of(level: str, values: Mapping[str, Any]) -> Settings:
    """Return the settings that these values make at a level. Errors: ValueError, a sentence, for a value that is not allowed."""
    temperature, bars = values.get("temperature", 1.0), values.get("bars", BARS[level])
    if type(temperature) not in (int, float) or not TEMPERATURES[0] <= temperature <= TEMPERATURES[1]:
        raise ValueError("“temperature” is a number from {} to {}.".format(*TEMPERATURES))
    if type(bars) is not int or not BAR_COUNTS[0] <= bars <= BAR_COUNTS[1]:
        raise ValueError("“bars” is a whole number from {} to {}.".format(*BAR_COUNTS))
    return Settings(1.0 if level == "beginner" else float(temperature), bars if level == "expert" else BARS[level])
