"""How many experts a mixture uses, of one run or of several, beside its use before it has learned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from pages.train.summary import snapshot_at, spread
from ui.escaping import plain
from ui.words import say
from viz.numbers import percent

if TYPE_CHECKING:
    import numpy as np

    from models.training.live import Snapshot, Training


def say_use(here: Path, training: Training, snapshot: Snapshot) -> None:
    """Say how many experts are in use at a snapshot, and how many before the first step; nothing without several."""
    shares = snapshot.experts
    if shares.size:
        facts = {"used": use(shares), "before": use(training.snapshots[0].experts), "step": snapshot.step}
        say(here, "experts", **facts, **counts(training), busiest=percent(float(shares.max())))


def place(here: Path, groups: dict[str, list[Training]], step: int) -> None:
    """Place a table of the experts in use, for each group of runs that has several experts. step: the one that is shown."""
    mixtures = {title: members for title, members in groups.items() if members[0].snapshots[0].experts.size}
    if not mixtures:
        return
    rows = [[spread_of(members, 0), spread_of(members, step)] for members in mixtures.values()]
    say(here, "experts compared", **counts(next(iter(mixtures.values()))[0]))
    columns = ["Experts in use before step 1", f"at step {step}"]
    st.table(pd.DataFrame(rows, index=[plain(title) for title in mixtures], columns=columns), border="horizontal")


def counts(training: Training) -> dict[str, int]:
    """Return how many experts there are, and how many of them each token goes through."""
    count = training.snapshots[0].experts.shape[-1]
    return {"count": count, "chosen": min(count, getattr(training.config, "experts_used", count))}


def use(shares: np.ndarray) -> str:
    from models.training.experts import in_use

    return f"{in_use(shares):.1f}"


def spread_of(members: Sequence[Training], step: int) -> str:
    """Return the mean number of experts in use in some runs at a step, with the lowest and the highest of several runs."""
    from models.training.experts import in_use

    return spread([in_use(snapshot_at(training, step).experts) for training in members], lambda value: f"{value:.1f}")
