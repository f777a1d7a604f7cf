"""The heads of a model of images on page "Heads": how they look along rows, columns and neighbours, beside shuffled positions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.picture_heads import LABELS, SCORES, SHUFFLES, kinds_of_patches, picture_head_labels, sample_pictures
from models.images.model import ImageModel
from models.tokens import Patch
from pages.heads import recipes, why
from ui.choices import heads, patches
from ui.lexicon.marks import capitalize_heads
from ui.look import Look
from ui.memory import jobs
from ui.picture.board import Board, Draft
from ui.picture.mount import composed
from ui.picture.picture import Numbers, Picture
from ui.show import choice, show
from ui.words import mark_head, say, words
from viz.numbers import percent, tenths, whole_percent
from viz.view import View
from viz.views.board import Card

HERE = Path(__file__).parent
FEW = 4  # heads that a beginner meets
WRITTEN = {
    "row": "own row",
    "column": "own column",
    "neighbours": "neighbours",
    "current": "itself",
    "distance": "distance in patches",
    "positional": "positions",
}
PARTS = ("head", *(f"head {place}" for place in range(FEW)))
picked = patches.picker(PARTS)


def draw(look: Look, above: st.delta_generator.DeltaGenerator) -> list[Picture]:
    """Draw the heads of a model of images, measured on the sample pictures; the chosen head's map is on the visitor's picture."""
    model = look.model
    table: pd.DataFrame | None = jobs.result(
        ("picture heads", model.info.name, model.condition),
        lambda report: picture_head_labels(model, report=report),
        "Reading sample pictures",
    )
    if table is None:
        return []
    say_labelled(look, table, above)
    if look.beginner:
        return meet(look, table)
    names = names_of(look, table)
    options = {"names": names, "chosen": (look.layer, look.head)}
    grid = picture_of(look, table, names, recipes.picture_labels, "heads-board", "What each head does", options)
    show(grid.drawn, "heads-board", chosen=lambda: heads.choose(*choice("heads-board")))
    st.caption(words(HERE, "press image", shuffles=SHUFFLES))
    pictures = [grid, *open_head(look, table, names)]
    if look.level == "expert":
        pictures.append(every_score(look, table, names))
    st.caption(words(HERE, "texts only image"))
    return pictures


def names_of(look: Look, table: pd.DataFrame) -> dict[str, str]:
    """Return the scores that are measured, each with its name on screen."""
    assert isinstance(look.model, ImageModel), "the page is drawn for a model of images"
    leading = look.model.grid.leading
    written = WRITTEN | {"leading": "" if not leading else leading[0] + (" and the like" if len(leading) > 1 else "")}
    return {name: written[name] for name in SCORES if np.isfinite(table[name]).any()}


def description(look: Look) -> str:
    """Return the pictures on which heads are measured, in words."""
    return words(HERE, "sample digits" if len(sample_pictures(look.model)) > 2 else "sample photos")


def say_labelled(look: Look, table: pd.DataFrame, above: st.delta_generator.DeltaGenerator) -> None:
    """Say how many heads have a label, and on what they are measured."""
    facts = {"heads": len(table), "labelled": int((table["label"] != "").sum()), "pictures": description(look)}
    with above:
        heading = "scored image" if facts["labelled"] else "none image"
        st.caption(words(HERE, heading, **facts, shuffles=SHUFFLES), width="stretch")


def meet(look: Look, table: pd.DataFrame) -> list[Picture]:
    """Draw the maps of the clearest heads on the picture."""
    labelled = table[table["label"] != ""]
    names = [label.split(", ")[0] for label in labelled["label"]]
    beyond = [row[name] - row[f"{name}_chance"] for name, (_, row) in zip(names, labelled.iterrows(), strict=True)]
    clearest_first = np.argsort(-np.array(beyond), kind="stable")[:FEW]
    chosen = [(int(labelled["layer"].iloc[i]), int(labelled["head"].iloc[i]), names[i]) for i in clearest_first]
    if not chosen:
        return []
    board = composed(compose, look, table, tuple(chosen))
    patches.place(board, "heads-maps", look, picked)
    return list(board.pictures)


def compose(look: Look, table: pd.DataFrame, chosen: tuple[tuple[int, int, str], ...]) -> Board:
    """Return the board with the maps of heads (layer, head, score) on a picture."""
    draft = Draft(HERE, look)
    cards = []
    for place, (layer, head, name) in enumerate(chosen):
        row = row_of(table, layer, head)
        query = clearest(look, layer, head, name) if look.chosen_token is None else look.token
        facts = {"layer": look.number(layer), "head": head, "from": look.trace.tokens[query].text}
        facts |= numbers_in_words(look, row, name) | {"here": percent(share_from(look, layer, head, name, query))}
        title = draft.words(f"meet {name}", **facts) if look.beginner else ""
        from_patch = isinstance(look.trace.tokens[query], Patch)
        sentence = draft.words(f"does {name} image" if from_patch or look.beginner else "from no patch image", **facts)
        part = "head" if len(chosen) == 1 and not look.beginner else f"head {place}"
        picture = draft.picture(map_of(look, layer, head, query, part), below=sentence)
        cards.append(Card([picture], title, 3 if look.beginner else 0))
    draft.add_cards("heads-maps", cards, "Where heads look on the picture")
    return draft.finished()


def map_of(look: Look, layer: int, head: int, query: int, part: str) -> Picture:
    name = look.named(layer, head)
    weights = look.attention[layer][head]
    return Picture(
        recipes.head_on_picture,
        (look,),
        {"layer": layer, "head": head, "chosen": query, "link": "patches"},
        "heads-maps",
        lambda: {"weights": Numbers(weights, ("from", "to"))},
        words=name,
        title=f"Where {name} looks",
        part=part,
        takes=("model", "trace"),
    )


def share_from(look: Look, layer: int, head: int, name: str, query: int) -> float:
    """Return the share of attention that a head gives from a token to what a score is about; NaN where the token is no patch."""
    tokens = look.trace.tokens
    if not isinstance(tokens[query], Patch):
        return np.nan
    before = sum(isinstance(token, Patch) for token in tokens[:query])
    return float(look.attention[layer][head][query] @ kinds_of_patches(tokens)[name][before])


def clearest(look: Look, layer: int, head: int, name: str) -> int:
    """Return the patch from which a head looks most at what a score is about."""
    places = [i for i, token in enumerate(look.trace.tokens) if isinstance(token, Patch)]
    shares = (look.attention[layer][head][places] * kinds_of_patches(look.trace.tokens)[name]).sum(-1)
    return places[int(shares.argmax())]


def open_head(look: Look, table: pd.DataFrame, names: dict[str, str]) -> list[Picture]:
    """Draw the chosen head: its map on the picture, and each of its scores beside chance."""
    row = row_of(table, look.layer, look.head)
    labels = [name for name in row["label"].split(", ") if name]
    name = labels[0] if labels else nearest(row)
    st.markdown(f"##### {mark_head(capitalize_heads(look.head_name))}")
    facts = {"labels": " + ".join(names[label] for label in labels), "name": names[name]} | numbers_in_words(look, row, name)
    say(HERE, "labelled image" if labels else "not labelled image", **facts)
    left, right = st.columns([4, 7])
    with left:
        board = composed(compose, look, table, ((look.layer, look.head, name),))
        patches.place(board, "heads-maps", look, picked)
    with right:
        st.table(scores_of(row, names), border="horizontal")
        say(HERE, "scores image")
    with st.container(horizontal=True, gap="small"):
        for where in ("Attention", "Layers"):
            st.button(
                f"Open {look.head_name} in {where}",
                icon=":material/visibility:",
                key=f"heads-open-{where}",
                on_click=why.open_head,
                args=(look.layer, look.head, where),
            )
    return list(board.pictures)


def row_of(table: pd.DataFrame, layer: int, head: int) -> pd.Series:
    return table[(table["layer"] == layer) & (table["head"] == head)].iloc[0]


def nearest(row: pd.Series) -> str:
    """Return the share that is furthest above its chance."""
    known = [name for name in LABELS if np.isfinite(row[name])]
    return max(known, key=lambda name: row[name] - row[f"{name}_chance"])


def numbers_in_words(look: Look, row: pd.Series, name: str) -> dict[str, str]:
    """Return the numbers of a share for sentences: its mean, range, and what shuffled positions give."""
    ends = {"score": "", "low": "_low", "high": "_high", "chance": "_chance", "spread": "_spread", "most": "_null"}
    return {key: (whole_percent if look.beginner else tenths)(row[name + end]) for key, end in ends.items()}


def scores_of(row: pd.Series, names: dict[str, str]) -> pd.DataFrame:
    """Return a row for each score of a head: its mean with the 95 % range, and the mean and spread with positions shuffled."""
    rows = {}
    for name, title in names.items():
        spell = tenths if name in LABELS else "{:.2f}".format
        score, low, high, chance, spread = (spell(row[name + end]) for end in ("", "_low", "_high", "_chance", "_spread"))
        extent = f"{low} to {high}" if np.isfinite(row[f"{name}_low"]) else "–"
        rows[title] = {"this head": score, "95 % range": extent, "positions shuffled": f"{chance} ± {spread}"}
    return pd.DataFrame(rows).T


def every_score(look: Look, table: pd.DataFrame, names: dict[str, str]) -> Picture:
    """Draw the scores of all heads; a click chooses the head of its row."""
    st.markdown("##### Every score")
    title = "Every score of every head"
    drawing = picture_of(look, table, names, recipes.picture_scores, "heads-scores", title, {"names": names})

    def press() -> None:
        row = table.iloc[choice("heads-scores")[0]]
        heads.choose(int(row["layer"]), int(row["head"]))

    show(drawing.drawn, "heads-scores", chosen=press)
    say(HERE, "every score image")
    return drawing


def picture_of(
    look: Look,
    table: pd.DataFrame,
    names: dict[str, str],
    recipe: Callable[..., View],
    key: str,
    title: str,
    options: dict[str, Any],
) -> Picture:
    """Return a picture of the table of scores."""
    numbers = partial(numbers_of, look, table, names)
    return Picture(recipe, (look,), options, key, numbers, title=title, takes=("model",), known={"table": table})


def numbers_of(look: Look, table: pd.DataFrame, names: dict[str, str]) -> dict[str, Numbers]:
    """Return each score, its range, and the mean, spread and largest with shuffled positions: [head, score]."""
    axis_names = {"head": recipes.names_of(look.model, look.kind, table), "score": list(names.values())}
    ends = {"score": "", "low": "_low", "high": "_high", "shuffled": "_chance", "spread": "_spread", "most_shuffled": "_null"}
    values = {title: table[[name + end for name in names]].to_numpy(np.float32) for title, end in ends.items()}
    return {title: Numbers(each, ("head", "score"), axis_names) for title, each in values.items()}
