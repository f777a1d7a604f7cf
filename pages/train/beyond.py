"""Right answers by position, within the trained length and beyond it, for runs that have ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import pandas as pd
import streamlit as st

from ui import state
from ui.escaping import plain
from ui.words import say
from viz.numbers import percent

if TYPE_CHECKING:
    from models.training.live import Training

_measured: WeakKeyDictionary[Training, list[float]] = WeakKeyDictionary()


def place(here: Path, groups: dict[str, list[Training]]) -> None:
    """Place a table of the groups once all their runs have ended, where their examples can be longer than they were trained."""
    from models.training.beyond import stretches

    runs = [training for members in groups.values() for training in members]
    each = {tuple(stretches(training)) for training in runs}
    if state.level() == "beginner" or len(each) != 1 or any(training.state in ("running", "paused") for training in runs):
        return
    (stretch,) = each
    if len(stretch) < 2:
        return
    say(here, "beyond", trained=runs[0].task.length, chance=percent(1 / 26))
    columns = [f"{first} to {last}" for first, last in stretch]
    columns[0] += " (trained)"
    rows = [row([measure(training) for training in members]) for members in groups.values()]
    st.table(pd.DataFrame(rows, index=[plain(title) for title in groups], columns=columns), border="horizontal")


def measure(training: Training) -> list[float]:
    """Return the shares of a run that has ended, measured once."""
    from models.training.beyond import right_by_stretch

    if training not in _measured:
        _measured[training] = right_by_stretch(training)
    return _measured[training]


def row(shares: Sequence[list[float]]) -> list[str]:
    """Return the mean of the runs in each stretch, with the lowest and the highest where there are several."""
    cells = []
    for values in zip(*shares, strict=True):
        mean = percent(sum(values) / len(values))
        cells.append(f"{mean} ({percent(min(values))} to {percent(max(values))})" if len(values) > 1 else mean)
    return cells
