"""The reasons for a head's label: the probe, the numbers compared with chance, and places in real text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from analysis import head_examples
from analysis.labels import Example
from pages.heads import recipes
from pages.heads import state as page_state
from pages.heads.corpus import Corpus
from pages.heads.naming import WRITTEN
from ui import state
from ui.choices import heads
from ui.lexicon.marks import capitalize_heads
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.serving.leaving import open_page
from ui.show import show
from ui.words import mark_head, say, words
from viz import Card, board, percent
from viz.numbers import signed
from viz.tokens import label

HERE = Path(__file__).parent
ELSEWHERE = {"Layers": "layers", "Change": "change"}  # pages that show the head that is chosen
COUNT = 3  # examples of a label


def follow() -> None:
    """Open the view or the page that was chosen. Call this first in a run."""
    if where := page_state.HEADS_OPEN.pop():
        if where in state.VIEW.values:
            state.VIEW.set(where)
        open_page(ELSEWHERE.get(where, "attention"))


def open_head(layer: int, head: int, where: str) -> None:
    heads.choose(layer, head)
    page_state.HEADS_OPEN.set(where)


def draw(corpus: Corpus, table: pd.DataFrame, wanted: str = "") -> list[Picture]:
    """Draw everything known about the chosen head. wanted: a score that is described even if it is no label."""
    look = corpus.look
    row = table[(table["layer"] == look.layer) & (table["head"] == look.head)].iloc[0]
    names = [name for name in row["label"].split(", ") if name]
    st.markdown(f"##### {mark_head(capitalize_heads(look.head_name))}")
    name = names[0] if names else nearest(row)
    facts = numbers_of(row, name) | {"head": look.head_name, "labels": " + ".join(WRITTEN[key] for key in names)}
    say(HERE, "labelled" if names else unlabelled(row, name), **facts)
    for score in dict.fromkeys([*(names or [name]), *([wanted] if wanted else [])]):
        say(HERE, f"probe {score}" if np.isfinite(row[score]) else "not measured", **numbers_of(row, score))
    if "positional" in row and np.isfinite(row["positional"]):
        say(HERE, "positional", **numbers_of(row, "positional"))
    drawings = examples(corpus, [(look.layer, look.head, wanted or name)], COUNT)
    with st.container(horizontal=True, gap="small"):
        st.button(
            f"Open {look.head_name} in Attention",
            icon=":material/visibility:",
            key="heads-open-head",
            on_click=open_head,
            args=(look.layer, look.head, "Head"),
        )
        with st.popover("Open it elsewhere"):
            for where in (*state.VIEW.values[1:], *ELSEWHERE):
                st.button(
                    f"Page {where}" if where in ELSEWHERE else f"{where} view",
                    key=f"heads-open-{where}",
                    type="tertiary",
                    on_click=open_head,
                    args=(look.layer, look.head, where),
                )
    return drawings


def unlabelled(row: pd.Series, name: str) -> str:
    """Return the heading of the words on a head without a label. name: of the score that comes nearest to one."""
    if not np.isfinite(row[f"{name}_null"]):
        return "no null"
    return "not labelled" if np.isfinite(row[f"{name}_low"]) else "not labelled without range"


def numbers_of(row: pd.Series, name: str) -> dict[str, str]:
    """Return the values for sentences about a score, which may be negative; range, beside: its range and the score of
    shuffled heads in words, if known."""
    format_score = correlation if name == "positional" else signed
    low, high, null = (format_score(row[f"{name}_{end}"]) for end in ("low", "high", "null"))
    beside = words(HERE, "beside", null=null) if np.isfinite(row[f"{name}_null"]) else ""
    extent = f" {words(HERE, 'range', low=low, high=high)}" if np.isfinite(row[f"{name}_low"]) else ""
    facts = {"name": WRITTEN[name], "score": format_score(row[name]), "low": low, "high": high, "null": null}
    return facts | {"beside": beside, "range": extent}


def correlation(value: float) -> str:
    """Format a correlation, from −1 to 1, with two decimals."""
    return f"{value:.2f}".replace("-", "−")


def nearest(row: pd.Series) -> str:
    """Return the score that comes nearest to a label; a score of 0, such as a decoder's for the next token, only if all are 0."""
    names = [name for name in WRITTEN if name in row and name != "positional" and np.isfinite(row[name])]
    low = {name: row[f"{name}_low"] if np.isfinite(row[f"{name}_low"]) else row[name] for name in names}  # one text has no range
    return max(names, key=lambda name: (row[name] > 0, low[name] - np.nan_to_num(row[f"{name}_null"])))


def examples(corpus: Corpus, chosen: list[tuple[int, int, str]], count: int) -> list[Picture]:
    """Draw places in real text where heads do what their label says, `count` of each (layer, head, label), on a board."""
    look, model, kind = corpus.look, corpus.look.model, corpus.look.kind

    def find(report: jobs.Report) -> list[list[Example]]:
        places = []
        for i, (layer, head, name) in enumerate(chosen):
            report(i / len(chosen), "Looking for examples")
            places.append(head_examples(model, layer, head, name, kind, count, corpus.texts))
        return places

    places = jobs.result(("head examples", *corpus.key, tuple(chosen), count), find, "Looking for examples")
    if places is None:
        return []
    cards, pictures = [], []
    for (layer, head, name), head_places in zip(chosen, places, strict=True):
        parts = []
        for place, passage in enumerate(head_places):
            drawing = picture_of(corpus, (layer, head, name, place), passage)
            pictures.append(drawing)
            parts.append(drawing.on_board(sentence(look, passage, name, place)))
        title = words(HERE, f"meet {name}", layer=look.number(layer), head=head) if look.beginner else ""
        cards.append(Card(parts, title, 6 if look.beginner else 0))
    if pictures:
        show(board(cards, "Examples in real text"), "examples")
    else:
        say(HERE, "no example")
    return pictures


def sentence(look: Look, passage: Example, name: str, place: int) -> str:
    """Return a sentence on an example."""
    (query,), (key,) = look.spell_tokens([passage.tokens[passage.query]]), look.spell_tokens([passage.keys[passage.key]])
    spelt = {"from": query.text, "to": key.text}
    quotes = {end: label(text.strip() or " ").replace("*", "\\*").replace("`", "’") for end, text in spelt.items()}
    return words(HERE, "example", **quotes, share=percent(passage.weight), why=words(HERE, f"does {name}"), number=str(place + 1))


def picture_of(corpus: Corpus, which: tuple[int, int, str, int], passage: Example) -> Picture:
    look, (layer, head, name, place) = corpus.look, which
    options = {
        "kind": look.kind,
        "layer": layer,
        "head": head,
        "name": name,
        "place": place,
        "simple": look.beginner,
        "texts": corpus.texts and list(corpus.texts),
    }
    texts = {"from": [token.text for token in passage.tokens], "to": [token.text for token in passage.keys]}
    return Picture(
        recipes.example,
        (look,),
        options,
        "examples",
        lambda: {"weight": Numbers(passage.weights, ("from", "to"), texts)},
        words=f"{WRITTEN[name]}, from token {passage.query} to token {passage.key} of a text",
        title=f"{look.named(layer, head)}, example {place + 1}",
        part=f"{look.named(layer, head)} example {place + 1}",
        takes=("model",),
        known={"passage": passage},
    )
