"""Experiment "What wrote it": what each part of the model wrote towards a word, and what a head looked at when it did."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from analysis import head_sources, logit_attribution
from pages.change import changes, choose
from pages.change.question import Question, ask
from pages.change.wrote import recipes
from ui import state
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.show import choice, part, show
from ui.text import plain
from ui.words import words
from viz import Card, Part, board, percent

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

HERE = Path(__file__).parents[1]
NAMES = (
    "embedding", "head", "cross", "feedforward", "rest", "bias", "others", "parts", "unit", "column", "cross column",
    "feedforward column", "rest column", "start", "end",
)  # fmt: skip
CELL = re.compile(r"(cross )?L(\d{1,4})(?: H(\d{1,4}))?")  # as a link writes what was pressed: L3 H1, cross L2 H0, L4 (its rest)


@dataclass(frozen=True)
class Written:
    """What was asked, and its answer. cell: the row and the column that was pressed, else the head that wrote most."""

    question: Question
    changes: str
    other: str
    table: pd.DataFrame
    names: dict[str, str]
    pictures: list[Picture]

    @property
    def rows(self) -> list[recipes.Row]:
        return recipes.rows_of(self.table)

    @property
    def options(self) -> dict[str, Any]:
        asked = self.question
        return {
            "position": asked.position, "token": asked.token, "against": asked.against, "changes": self.changes,
            "second": asked.look.second, "other": self.other,
        }  # fmt: skip

    @property
    def total(self) -> float:
        return float(self.table["contribution"].sum())

    def cell(self) -> tuple[int, int]:
        """Row and column of what is chosen."""
        columns, values = recipes.columns_of(self.rows), recipes.board_of(self.rows)
        if (asked := state.once(state.WROTE_CELL)) is not None:
            found = CELL.fullmatch(asked)
            part = "" if not found else "rest" if not found[3] else "cross" if found[1] else "attention"
            place = (part, int(found[3]) if found and found[3] else None)
            if found and place in columns and int(found[2]) < len(values) - 2:
                state.WROTE_CELL.set((int(found[2]) + 1, columns.index(place)))
            else:
                state.complain(state.WROTE_CELL, asked, "the part")
        chosen = state.WROTE_CELL.get()
        if chosen is None or not (chosen[0] < len(values) and chosen[1] < len(columns)):
            heads = np.abs(np.nan_to_num(values[:, : max(1, len(columns) - 2)]))
            row, column = np.unravel_index(int(heads.argmax()), heads.shape)
            chosen = int(row), int(column)
        return chosen

    def say(self, heading: str, **values: object) -> str:
        asked = self.question
        return words(HERE, f"wrote {heading}", word=asked.called.replace("*", r"\*"), total=recipes.written(self.total), **values)


def panel(look: Look, above: DeltaGenerator) -> list[Picture]:
    look = replace(look, options={})  # of every token: nothing is hidden or joined here
    changed = changes.read(look, changes.kept())
    choose.what_does_not_fit(HERE, look, changed)
    question = ask(look, changed.trace)
    if question is None:
        return []
    try:
        table = logit_attribution(look.model, changed.trace, question.token, question.position, question.against)
    except ValueError as refused:
        st.info(plain(str(refused)), icon=":material/info:")
        return []
    names = {name: words(HERE, f"wrote name {name}") for name in NAMES}
    found = Written(question, changed.text, changed.other, table, names, [])
    cell = found.cell()
    edited = words(HERE, "wrote with changes", count=len(changed.fitting)) if changed.fitting else ""
    capped = words(HERE, "wrote capped", cap=f"{look.model.cap:g}") if look.model.cap else ""
    cards = [
        Card([Part("question", None, "\n\n".join(filter(None, [found.say("question"), capped, edited])))]),
        Card([part("The board", board_part, found, cell)], words(HERE, "wrote title board"), 6),
        Card([part("The strongest parts", list_part, found)], words(HERE, "wrote title list"), 5),
        Card([part("What the head looked at", source_part, found, cell)], title_of(found, cell)),
        Card([Part("warning", None, words(HERE, "wrote warning"))]),
    ]
    show(board(cards, "What wrote it"), "wrote", chosen=lambda: react(found))
    state.keep(state.WROTE_CELL, linked(found), None)
    return found.pictures


def react(found: Written) -> None:
    """A press on a cell chooses it."""
    match choice("wrote"):
        case {"part": "board", "value": [row, column]}:
            state.WROTE_CELL.set((row, column))


def linked(found: Written) -> str | None:
    """What was pressed, as a link writes it."""
    chosen = state.WROTE_CELL.get()
    if chosen is None or found.cell() != chosen or not 0 < chosen[0] < len(recipes.board_of(found.rows)) - 1:
        return None
    part, head = recipes.columns_of(found.rows)[chosen[1]]
    return f"{'cross ' * (part == 'cross')}L{chosen[0] - 1}{'' if head is None else f' H{head}'}"


def board_part(found: Written, cell: tuple[int, int]) -> Part:
    def numbers() -> dict[str, Numbers]:
        values = recipes.board_of(found.rows)
        layers = ["start", *(f"L{layer}" for layer in range(len(values) - 2)), "end"]
        columns = [part if head is None else f"{part} H{head}" for part, head in recipes.columns_of(found.rows)]
        so_far = Numbers(np.cumsum(np.nansum(values, 1)), ("layer",), {"layer": layers}, in_csv=False)
        return {"logits": Numbers(values, ("layer", "part"), {"layer": layers, "part": columns}), "sum_so_far": so_far}

    options = {**found.options, "names": found.names, "chosen": cell}
    drawing = drawn(found, recipes.board, options, "What each part wrote", "board", numbers, table=found.table)
    crossing = any(part == "cross" for part, _ in recipes.columns_of(found.rows))
    return drawing.on_board(
        " ".join(filter(None, [words(HERE, "wrote board"), words(HERE, "wrote board cross") if crossing else ""]))
    )


def list_part(found: Written) -> Part:
    def numbers() -> dict[str, Numbers]:
        rows = sorted(found.rows, key=lambda row: -abs(row[3]))
        called = [recipes.name_of(row, found.names) for row in rows]
        return {"logits": Numbers(np.array([row[3] for row in rows]), ("part",), {"part": called})}

    options = {**found.options, "names": found.names}
    drawing = drawn(found, recipes.strongest, options, "The parts that wrote most", "list", numbers, table=found.table)
    asked = found.question
    if asked.against is None:
        return drawing.on_board("", found.say("sum"))
    pair = {name: asked.spelt(id).replace("*", r"\*") for name, id in (("first", asked.token), ("other", asked.against))}
    return drawing.on_board("", found.say("sum of two", **pair))


def title_of(found: Written, cell: tuple[int, int]) -> str:
    part, head = recipes.columns_of(found.rows)[cell[1]]
    row: recipes.Row = (part, cell[0] - 1, head, 0.0)
    return words(HERE, "wrote title head", head=recipes.name_of(row, found.names)) if head is not None else ""


def source_part(found: Written, cell: tuple[int, int]) -> Part:
    """What a head wrote with what it looked at; of all else, why there is no such picture."""
    asked, (kind_of_part, head) = found.question, recipes.columns_of(found.rows)[cell[1]]
    value = recipes.board_of(found.rows)[cell]
    if head is None:
        name = "feedforward" if kind_of_part == "feedforward" else "rest"
        return Part("sources", None, found.say(name, value=recipes.written(float(np.nan_to_num(value))), layer=cell[0] - 1))
    stack = "decoder" if asked.trace.target else "self"
    layer, kind = cell[0] - 1, "cross" if kind_of_part == "cross" else stack
    try:
        brought = head_sources(asked.look.model, asked.trace, layer, head, asked.token, asked.position, asked.against, kind)
    except ValueError as refused:
        return Part("sources", None, str(refused))
    shares = asked.trace.attention[kind][layer][head, asked.position]
    tokens = recipes.looked_at(asked.trace, kind, asked.look.second, asked.look.beginner)

    def numbers() -> dict[str, Numbers]:
        named = {"token": [token.text for token in tokens]}
        return {"logits": Numbers(brought, ("token",), named), "attention": Numbers(shares, ("token",), named)}

    options = {
        **found.options, "kind": kind, "layer": layer, "head": head, "unit": found.names["unit"], "simple": asked.look.beginner,
    }  # fmt: skip
    drawing = drawn(found, recipes.sources, options, "What a head wrote", "sources", numbers, changed=asked.trace)
    best = int(np.abs(brought).argmax())
    facts = {
        "value": recipes.written(float(value)), "best": tokens[best].text.strip().replace("*", r"\*") or "space",
        "share": percent(float(shares[best])), "brought": recipes.written(float(brought[best])),
    }  # fmt: skip
    return drawing.on_board(found.say("head", **facts))


def drawn(found: Written, recipe: Any, options: dict[str, Any], title: str, name: str, numbers: Any, **known: Any) -> Picture:
    about = f"towards {found.question.called}"
    drawing = Picture(
        recipe, (found.question.look,), options, "wrote", numbers, words=about, title=title, part=name, takes=("model", "trace"),
        known=known,
    )  # fmt: skip
    found.pictures.append(drawing)
    return drawing
