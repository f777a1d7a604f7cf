"""Page "Heads": what each head of a model does, beside what chance does, and why it has its label."""

from pathlib import Path

import pandas as pd
import streamlit as st

from pages.heads import byweights, labels, standins, why, worth
from pages.heads import state as page_state
from pages.heads.corpus import choose_corpus, sample_corpus
from ui import shell, state
from ui.choices import heads, picker
from ui.choices.widgets import tabs
from ui.look import Look
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture
from ui.words import say

HERE = Path(__file__).parent
FEW = 5  # heads that a beginner meets


def draw(look: Look) -> None:
    why.follow()
    if look.beginner:
        state.later(
            "intermediate",
            page_state.HEADS_PART,
            page_state.HEADS_LABEL,
            page_state.HEADS_TEXT,
            page_state.HEADS_WORTH,
            page_state.HEADS_ALIKE,
        )
    if look.level != "expert":
        state.later("expert", page_state.HEADS_BY, page_state.HEADS_WAY)
    pictures: list[Picture] = []
    above = shell.above()
    with picture("This page"):
        pictures = draw_for_beginners(look, above) if look.beginner else draw_part(look, above)
    with above, picture("“Take it away”"):
        take_away("heads", lambda: pictures)


def draw_for_beginners(look: Look, above: st.delta_generator.DeltaGenerator) -> list[Picture]:
    corpus = sample_corpus(look)
    if (table := labels.measure_labels(corpus)) is None:
        return []
    with above:
        labels.caption(corpus, table)
    pictures = meet(look, table)
    st.caption(corpus.fit_sentence())
    return pictures


def meet(look: Look, table: pd.DataFrame) -> list[Picture]:
    """Draw examples of five heads: the clearest head of each label, then the clearest of the others."""
    each = table["label"].str.split(", ").map(lambda labels: labels[0])
    clear = [
        row[f"{name}_low"] - row[f"{name}_null"] if name else 0.0 for name, (_, row) in zip(each, table.iterrows(), strict=True)
    ]
    ranked = table.assign(name=each, clear=clear).query("name != ''").sort_values("clear", ascending=False, kind="stable")
    if ranked.empty:
        say(HERE, "none")
        return []
    first = ~ranked["name"].duplicated()
    clearest = pd.concat([ranked[first], ranked[~first]])[:FEW]
    return why.examples(
        sample_corpus(look), [(int(row["layer"]), int(row["head"]), str(row["name"])) for _, row in clearest.iterrows()], 1
    )


def draw_part(look: Look, above: st.delta_generator.DeltaGenerator) -> list[Picture]:
    """Draw the chosen part of the page."""
    with above:
        part = tabs(page_state.HEADS_PART, "the part", page_state.HEADS_PART.values[: 4 if look.level == "expert" else 3])
    if part == "Weights":
        return byweights.panel(look)
    corpus = choose_corpus(look, predicts=part != "Labels")
    if corpus is None:
        return []
    if part == "Stand-ins":
        return standins.panel(corpus)
    if (table := labels.measure_labels(corpus)) is None:
        return []
    if part == "Importance":
        return worth.panel(corpus, table)
    labels.caption(corpus, table)
    return labels.panel(corpus, table)


heads.side_bar(picker.in_use())
shell.live(HERE, draw, reads=False, answers=False)
