"""The labels of heads on page "Heads": the board, every score, and the table that both are drawn from."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis import head_labels
from analysis.labels import SEEDS
from pages.heads import recipes, why
from pages.heads import state as page_state
from pages.heads.corpus import HERE, Corpus
from pages.heads.naming import EVERY, NAMED, WRITTEN
from ui import state
from ui.choices import heads
from ui.choices.widgets import one_of
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.show import choice, show
from ui.words import say, words

FEW = 5  # heads that a beginner meets
LARGE = 400_000_000  # parameters; a second model of that size may exceed a server's memory, so none is built


def measure_labels(corpus: Corpus) -> pd.DataFrame | None:
    """Return the labels of all heads on these texts; None while they are measured, and, with a sentence, if they cannot be."""
    look = corpus.look
    return corpus.result(
        "head labels",
        0,
        lambda report: head_labels(look.model, look.kind, seeds_of(look), report, corpus.texts),
        "Reading test texts",
    )


def seeds_of(look: Look) -> int:
    """Return how many models with random weights are measured beside this one."""
    return SEEDS if look.model.info.parameters <= LARGE else 0


def caption(corpus: Corpus, table: pd.DataFrame) -> None:
    """Show how many heads have a label, and which label is the most frequent."""
    facts = {"heads": sum(corpus.look.attention.counts), "labelled": int((table["label"] != "").sum())}
    several = int(table["label"].str.contains(", ").sum())
    too_large = [] if seeds_of(corpus.look) else [words(HERE, "too large")]
    if is_one_part(corpus):
        st.caption(" ".join([words(HERE, "scored short", **facts), *too_large]), width="stretch")
        return
    heading = "scored several" if several and not corpus.look.beginner else "scored"
    first = words(HERE, heading, **facts, several=several, single=facts["labelled"] - several)
    st.caption(" ".join([first, *most_frequent(table), *too_large]), width="stretch")


def most_frequent(table: pd.DataFrame) -> list[str]:
    """Return a sentence on the label that most heads have, of which the board shows the first of each head."""
    labels = [label.split(", ") for label in table["label"]]
    common = Counter(name for names in labels for name in names if name).most_common(1)
    if not common or common[0][1] < 2:
        return []
    name, count = common[0]
    first = sum(names[0] == name for names in labels)
    heading = "scored most" if first == count else "scored most behind"
    return [words(HERE, heading, label=WRITTEN[name], count=count, first=first, behind=count - first)]


def is_one_part(corpus: Corpus) -> bool:
    """Return whether heads are measured on a visitor's text that is too short for a range, which a label needs."""
    return corpus.texts is not None and len(corpus.texts) < 2 and corpus.look.kind != "cross"


def about_texts(corpus: Corpus, table: pd.DataFrame) -> str:
    """Return sentences on the texts on which the labels are measured."""
    if corpus.texts is None:
        return words(HERE, f"scored {corpus.look.kind}")
    return " ".join(words(HERE, section, texts=corpus.description) for section in own_sections(corpus, table))


def own_sections(corpus: Corpus, table: pd.DataFrame) -> list[str]:
    """Return the headings of the words about labels that are measured on a visitor's own texts."""
    is_short, is_cross = len(corpus.texts or ()) < 2, corpus.look.kind == "cross"
    has_names = "name" in table and bool(np.isfinite(table["name"]).any())
    repeats = [] if is_cross else ["own repeats and names" if has_names else "own repeats"]
    return ["scored own", *repeats, *(["own without range cross"] if is_short and is_cross else [])]


def different_jobs(table: pd.DataFrame) -> list[tuple[int, int, str]]:
    """Return layer, head and label of up to five heads, each with a label that no other of them is chosen for: the clearest of
    each, the clearest first. table: as of `analysis.head_labels`."""
    each = table.assign(name=table["label"].str.split(", ")).explode("name").query("name != ''")
    clear = [float(row[f"{row['name']}_low"] - row[f"{row['name']}_null"]) for _, row in each.iterrows()]
    chosen: dict[str, tuple[int, int]] = {}
    for _, row in each.assign(clear=clear).sort_values("clear", ascending=False, kind="stable").iterrows():
        place = int(row["layer"]), int(row["head"])
        if row["name"] not in chosen and place not in chosen.values() and len(chosen) < FEW:
            chosen[str(row["name"])] = place
    return [(*place, name) for name, place in chosen.items()]


def panel(corpus: Corpus, table: pd.DataFrame) -> list[Picture]:
    """Draw the board with its labels, the chosen head, and for experts every score."""
    look = corpus.look
    names = {name: title for name, title in WRITTEN.items() if name in table}
    labels = [EVERY, *(title for name, title in names.items() if name != "positional")]
    chosen_label = one_of(
        page_state.HEADS_LABEL, page_state.HEADS_LABEL.values, "the label", offered=labels, menu=True, width=220
    )
    state.keep(page_state.HEADS_LABEL, chosen_label, EVERY)
    options = {"name": NAMED.get(chosen_label, ""), "chosen": (look.layer, look.head)} | shared_options(corpus, names)
    drawing = Picture(
        recipes.labels_board,
        (look,),
        options,
        "heads-board",
        partial(numbers_of, table, names),
        title="What each head does",
        takes=("model",),
        known={"table": table},
    )
    show(drawing.drawn, "heads-board", chosen=lambda: heads.choose(*choice("heads-board")))
    press = words(HERE, "press short" if is_one_part(corpus) else "press")
    st.caption(f"{press}\n\n{about_texts(corpus, table)} {corpus.fit_sentence()}")
    examples = why.draw(corpus, table, NAMED.get(chosen_label, ""))
    scores = every_score(corpus, table, names, NAMED.get(chosen_label, "")) if look.level == "expert" else []
    return [drawing, *scores, *examples]


def shared_options(corpus: Corpus, names: dict[str, str]) -> dict[str, Any]:
    """Return the options that the pictures of labels and scores share."""
    texts = corpus.texts and list(corpus.texts)
    return {"kind": corpus.look.kind, "names": names, "seeds": seeds_of(corpus.look), "texts": texts}


def every_score(corpus: Corpus, table: pd.DataFrame, names: dict[str, str], only: str) -> list[Picture]:
    """Draw the scores of all heads, or of those with the chosen label, in an order; a click chooses a head."""
    st.markdown("##### Every score")
    order = [page_state.HEADS_BY.values[0], *names.values()]
    by = one_of(
        page_state.HEADS_BY, page_state.HEADS_BY.values, "the order", offered=order, menu=True, label="Sorted by", width=220
    )
    state.keep(page_state.HEADS_BY, by, order[0])
    rows = recipes.filter_heads(table, NAMED.get(by, ""), only)
    if rows.empty:
        say(HERE, "no such head", label=WRITTEN[only])
        return []
    options = {"by": NAMED.get(by, ""), "only": only} | shared_options(corpus, names)
    drawing = Picture(
        recipes.scores,
        (corpus.look,),
        options,
        "heads-scores",
        partial(scores_of, corpus.look, rows, names),
        title="Every score of every head",
        takes=("model",),
        known={"table": table},
    )

    def press() -> None:
        row = rows.iloc[choice("heads-scores")[0]]
        heads.choose(int(row["layer"]), int(row["head"]))

    show(drawing.drawn, "heads-scores", chosen=press)
    say(HERE, "scores")
    return [drawing]


def scores_of(look: Look, rows: pd.DataFrame, names: dict[str, str]) -> dict[str, Numbers]:
    """Return the numbers of the table on screen, with its rows in their order."""
    axis_names = {"head": recipes.names_of(look.model, look.kind, rows), "score": list(names.values())}
    columns = {"share": "", "low": "_low", "high": "_high", "random_weights": "_null"}
    values = {title: rows[[name + end for name in names]].to_numpy(np.float32) for title, end in columns.items()}
    return {title: Numbers(each, ("head", "score"), axis_names) for title, each in values.items()}


def numbers_of(table: pd.DataFrame, names: dict[str, str]) -> dict[str, Numbers]:
    """Return each score, its range, what shuffled heads reach, and whether it is a label: [layer, head, score]."""
    size, axes = (int(table["layer"].max()) + 1, int(table["head"].max()) + 1, len(names)), ("layer", "head", "score")
    axis_names = {"score": list(names.values())}
    columns = {"share": "", "low": "_low", "high": "_high", "random_weights": "_null"}
    values = {title: table[[name + end for name in names]].to_numpy() for title, end in columns.items()}
    labels = table["label"].str.split(", ")
    values["labelled"] = pd.DataFrame({name: labels.map(lambda own, name=name: name in own) for name in names}).to_numpy(float)
    return {title: Numbers(each.reshape(size), axes, axis_names) for title, each in values.items()}
