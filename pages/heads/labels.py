"""The labels of heads on page "Heads": the board, every score, and the table that both are drawn from."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis import head_labels
from analysis.labels import SEEDS
from pages.heads import recipes, why
from pages.heads.asked import HERE, Asked
from pages.heads.naming import EVERY, NAMED, WRITTEN
from ui import state
from ui.choices import heads
from ui.choices.widgets import one_of
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.show import choice, show
from ui.words import say, words

LARGE = 400_000_000  # parameters; a second model of more takes memory that a server may not have, so it is not made


def measured(given: Asked) -> pd.DataFrame | None:
    """The labels of all heads on these texts; None while they are measured, and, with a sentence, where they cannot be."""
    look = given.look
    return given.worked(
        "head labels", 0,
        lambda report: head_labels(look.model, look.kind, seeds_of(look), report, given.texts), "Reading probes",
    )  # fmt: skip


def seeds_of(look: Look) -> int:
    """How many models with random weights stand beside this one."""
    return SEEDS if look.model.info.parameters <= LARGE else 0


def caption(given: Asked, table: pd.DataFrame) -> None:
    """How many heads have a label, on which texts, and how well the model reads them."""
    facts = {"heads": sum(given.look.attention.counts), "labelled": int((table["label"] != "").sum())}
    section = f"scored {given.look.kind}" if given.texts is None else "scored own"
    told = [words(HERE, "scored", **facts), words(HERE, section, texts=given.said), given.read_so_well()]
    st.caption(" ".join([*told, "" if seeds_of(given.look) else words(HERE, "too large")]), width="stretch")


def panel(given: Asked, table: pd.DataFrame) -> list[Picture]:
    """The board with its labels, the head that is chosen, and for experts every score."""
    look = given.look
    names = {name: written for name, written in WRITTEN.items() if name in table}
    labels = [EVERY, *(written for name, written in names.items() if name != "positional")]
    shown = one_of(state.HEADS_LABEL, state.HEADS_LABEL.values, "the label", offered=labels, menu=True, width=220)
    state.keep(state.HEADS_LABEL, shown, EVERY)
    options = {"name": NAMED.get(shown, ""), "chosen": (look.layer, look.head)} | measured_on(given, names)
    drawing = Picture(
        recipes.labelled, (look,), options, "heads-board", partial(numbers_of, table, names),
        title="What each head does", takes=("model",), known={"table": table},
    )  # fmt: skip
    show(drawing.drawn, "heads-board", chosen=lambda: heads.choose(*choice("heads-board")))
    say(HERE, "press")
    examples = why.draw(given, table, NAMED.get(shown, ""))
    scores = every_score(given, table, names, NAMED.get(shown, "")) if look.level == "expert" else []
    return [drawing, *scores, *examples]


def measured_on(given: Asked, names: dict[str, str]) -> dict[str, Any]:
    """What the pictures of labels and scores share."""
    texts = given.texts and list(given.texts)
    return {"kind": given.look.kind, "names": names, "seeds": seeds_of(given.look), "texts": texts}


def every_score(given: Asked, table: pd.DataFrame, names: dict[str, str], only: str) -> list[Picture]:
    """The scores of all heads, or of those with the label that is chosen, in an order; a press chooses a head."""
    st.markdown("##### Every score")
    order = [state.HEADS_BY.values[0], *names.values()]
    by = one_of(state.HEADS_BY, state.HEADS_BY.values, "the order", offered=order, menu=True, label="Sorted by", width=220)
    state.keep(state.HEADS_BY, by, order[0])
    rows = recipes.listed(table, NAMED.get(by, ""), only)
    if rows.empty:
        say(HERE, "no such head", label=WRITTEN[only])
        return []
    options = {"by": NAMED.get(by, ""), "only": only} | measured_on(given, names)
    drawing = Picture(
        recipes.scores, (given.look,), options, "heads-scores", partial(scores_of, rows, names),
        title="Every score of every head", takes=("model",), known={"table": table},
    )  # fmt: skip

    def press() -> None:
        row = rows.iloc[choice("heads-scores")[0]]
        heads.choose(int(row["layer"]), int(row["head"]))

    show(drawing.drawn, "heads-scores", chosen=press)
    say(HERE, "scores")
    return [drawing]


def scores_of(rows: pd.DataFrame, names: dict[str, str]) -> dict[str, Numbers]:
    """The table as it is on screen: its rows in their order."""
    called = {"head": recipes.names_of(rows), "score": list(names.values())}
    columns = {"share": "", "low": "_low", "high": "_high", "random_weights": "_null"}
    values = {title: rows[[name + end for name in names]].to_numpy(np.float32) for title, end in columns.items()}
    return {title: Numbers(each, ("head", "score"), called) for title, each in values.items()}


def numbers_of(table: pd.DataFrame, names: dict[str, str]) -> dict[str, Numbers]:
    """Each score, its range, what shuffled heads reach, and whether it is a label: [layer, head, score]."""
    size, axes = (int(table["layer"].max()) + 1, int(table["head"].max()) + 1, len(names)), ("layer", "head", "score")
    called = {"score": list(names.values())}
    columns = {"share": "", "low": "_low", "high": "_high", "random_weights": "_null"}
    values = {title: table[[name + end for name in names]].to_numpy() for title, end in columns.items()}
    labels = table["label"].str.split(", ")
    values["labelled"] = pd.DataFrame({name: labels.map(lambda given, name=name: name in given) for name in names}).to_numpy(
        float
    )
    return {title: Numbers(each.reshape(size), axes, called) for title, each in values.items()}
