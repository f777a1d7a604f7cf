"""Page "Heads": what each head of a model does, beside what chance does, and why it is called by that."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from analysis import head_labels
from analysis.labels import SEEDS
from pages.heads import byweights, recipes, standins, why, worth
from pages.heads.naming import EVERY, NAMED, WRITTEN
from ui import shell, state
from ui.choices import heads, picker
from ui.choices.widgets import one_of, tabs
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.picture.take_away import take_away
from ui.show import choice, picture, show
from ui.words import say, words

HERE = Path(__file__).parent
LARGE = 400_000_000  # parameters; a second model of more takes memory that a server may not have, so it is not made
MET = 5  # heads that a beginner meets


def draw(look: Look) -> None:
    why.follow()
    if look.beginner:
        state.later("intermediate", state.HEADS_PART, state.HEADS_LABEL, state.HEADS_TEXT, state.HEADS_WORTH, state.HEADS_ALIKE)
    if look.level != "expert":
        state.later("expert", state.HEADS_BY, state.HEADS_WAY)
    seeds = SEEDS if look.model.info.parameters <= LARGE else 0
    table = jobs.result(
        ("head labels", look.model.info.name, look.kind),
        lambda report: head_labels(look.model, look.kind, seeds, report), "Reading probes",
    )  # fmt: skip
    if table is None:
        return
    facts = {"heads": len(table), "labelled": int((table["label"] != "").sum())}
    told = [words(HERE, "scored", **facts), words(HERE, f"scored {look.kind}"), "" if seeds else words(HERE, "too large")]
    place = st.empty()
    pictures: list[Picture] = []
    above = shell.above()
    with above if look.beginner else place:
        st.caption(" ".join(told), width="stretch")
    with picture("This page"):
        pictures = meet(look, table) if look.beginner else chosen(look, table, seeds, above)
    with above, picture("“Take it away”"):
        take_away("heads", lambda: pictures)


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
    return why.examples(look, [(int(row["layer"]), int(row["head"]), str(row["name"])) for _, row in chosen.iterrows()], 1)


def chosen(look: Look, table: pd.DataFrame, seeds: int, above: st.delta_generator.DeltaGenerator) -> list[Picture]:
    """The part of the page that is chosen."""
    with above:
        part = tabs(state.HEADS_PART, "the part", state.HEADS_PART.values[: 4 if look.level == "expert" else 3])
    panels = {"Importance": partial(worth.panel, look, table), "Stand-ins": partial(standins.panel, look)}
    panels |= {"Weights": partial(byweights.panel, look), "Labels": partial(explore, look, table, seeds)}
    return panels[part]()


def explore(look: Look, table: pd.DataFrame, seeds: int) -> list[Picture]:
    """The board with its labels, the head that is chosen, and for experts every score."""
    names = {name: written for name, written in WRITTEN.items() if name in table}
    labels = [EVERY, *(written for name, written in names.items() if name != "positional")]
    shown = one_of(state.HEADS_LABEL, state.HEADS_LABEL.values, "the label", offered=labels, menu=True, width=220)
    state.keep(state.HEADS_LABEL, shown, EVERY)
    options = {"kind": look.kind, "name": NAMED.get(shown, ""), "names": names, "chosen": (look.layer, look.head), "seeds": seeds}
    drawing = Picture(
        recipes.labelled, (look,), options, "heads-board", partial(numbers_of, table, names),
        title="What each head does", takes=("model",), known={"table": table},
    )  # fmt: skip
    show(drawing.drawn, "heads-board", chosen=lambda: heads.choose(*choice("heads-board")))
    say(HERE, "press")
    examples = why.draw(look, table, NAMED.get(shown, ""))
    scores = every_score(look, table, seeds, names, NAMED.get(shown, "")) if look.level == "expert" else []
    return [drawing, *scores, *examples]


def every_score(look: Look, table: pd.DataFrame, seeds: int, names: dict[str, str], only: str) -> list[Picture]:
    """The scores of all heads, or of those with the label that is chosen, in an order; a press chooses a head."""
    st.markdown("##### Every score")
    order = [state.HEADS_BY.values[0], *names.values()]
    by = one_of(state.HEADS_BY, state.HEADS_BY.values, "the order", offered=order, menu=True, label="Sorted by", width=220)
    state.keep(state.HEADS_BY, by, order[0])
    rows = recipes.listed(table, NAMED.get(by, ""), only)
    if rows.empty:
        say(HERE, "no such head", label=WRITTEN[only])
        return []
    options = {"kind": look.kind, "by": NAMED.get(by, ""), "only": only, "names": names, "seeds": seeds}
    drawing = Picture(
        recipes.scores, (look,), options, "heads-scores", partial(scores_of, rows, names), title="Every score of every head",
        takes=("model",), known={"table": table},
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


heads.side_bar(picker.in_use())
shell.live(HERE, draw, reads=False, answers=False)
