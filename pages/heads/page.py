"""Page "Heads": what each head of a model does, beside what chance does, and why it is called by that."""

from pathlib import Path

import pandas as pd
import streamlit as st

from pages.heads import byweights, labels, standins, why, worth
from pages.heads.asked import asked, sample
from ui import shell, state
from ui.choices import heads, picker
from ui.choices.widgets import tabs
from ui.look import Look
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture
from ui.words import say

HERE = Path(__file__).parent
MET = 5  # heads that a beginner meets


def draw(look: Look) -> None:
    why.follow()
    if look.beginner:
        state.later("intermediate", state.HEADS_PART, state.HEADS_LABEL, state.HEADS_TEXT, state.HEADS_WORTH, state.HEADS_ALIKE)
    if look.level != "expert":
        state.later("expert", state.HEADS_BY, state.HEADS_WAY)
    pictures: list[Picture] = []
    above = shell.above()
    with picture("This page"):
        pictures = beginners(look, above) if look.beginner else chosen(look, above)
    with above, picture("“Take it away”"):
        take_away("heads", lambda: pictures)


def beginners(look: Look, above: st.delta_generator.DeltaGenerator) -> list[Picture]:
    given = sample(look)
    if (table := labels.measured(given)) is None:
        return []
    with above:
        labels.caption(given, table)
    return meet(look, table)


def meet(look: Look, table: pd.DataFrame) -> list[Picture]:
    """The clearest head of each label, and then the clearest of all that are left, five in all."""
    each = table["label"].str.split(", ").map(lambda labels: labels[0])
    clear = [
        row[f"{name}_low"] - row[f"{name}_null"] if name else 0.0 for name, (_, row) in zip(each, table.iterrows(), strict=True)
    ]
    ranked = table.assign(name=each, clear=clear).query("name != ''").sort_values("clear", ascending=False, kind="stable")
    if ranked.empty:
        say(HERE, "none")
        return []
    first = ~ranked["name"].duplicated()
    chosen = pd.concat([ranked[first], ranked[~first]])[:MET]
    return why.examples(
        sample(look), [(int(row["layer"]), int(row["head"]), str(row["name"])) for _, row in chosen.iterrows()], 1
    )


def chosen(look: Look, above: st.delta_generator.DeltaGenerator) -> list[Picture]:
    """The part of the page that is chosen."""
    with above:
        part = tabs(state.HEADS_PART, "the part", state.HEADS_PART.values[: 4 if look.level == "expert" else 3])
    if part == "Weights":
        return byweights.panel(look)
    given = asked(look, predicts=part != "Labels")
    if given is None:
        return []
    if part == "Stand-ins":
        return standins.panel(given)
    if (table := labels.measured(given)) is None:
        return []
    if part == "Importance":
        return worth.panel(given, table)
    labels.caption(given, table)
    return labels.panel(given, table)


heads.side_bar(picker.in_use())
shell.live(HERE, draw, reads=False, answers=False)
