"""Experiment "What wrote it": what each part of the model wrote towards a word, and where a head looked as it did."""

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
from ui.parts import part
from ui.picture.picture import Numbers, Picture
from ui.show import choice, show
from ui.text import place_of, plain
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
CELL = re.compile(r"(cross )?L(\d{1,4})(?: H(\d{1,4}))?")  # a cell in a link: L3 H1, cross L2 H0, L4 (its rest)


@dataclass(frozen=True)
class Attribution:
    """The answer to a question: what each part wrote towards the prediction, as the table of `analysis.logit_attribution`."""

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
        question = self.question
        return {
            "position": question.position, "token": question.token, "against": question.against, "changes": self.changes,
            "second": question.look.second, "other": self.other,
        }  # fmt: skip

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the layers in the network."""
        return self.question.trace.numbers

    @property
    def total(self) -> float:
        return float(self.table["contribution"].sum())

    def cell(self) -> tuple[int, int]:
        """Return the row and column that was clicked, else those of the head that wrote most."""
        columns, values = recipes.columns_of(self.rows), recipes.board_of(self.rows)
        if (link_text := state.take_linked_value(state.WROTE_CELL)) is not None:
            attribution = CELL.fullmatch(link_text)
            part = "" if not attribution else "rest" if not attribution[3] else "cross" if attribution[1] else "attention"
            place = (part, int(attribution[3]) if attribution and attribution[3] else None)
            layer = place_of(attribution[2], self.numbers[: len(values) - 2]) if attribution else None
            if layer is not None and place in columns:
                state.WROTE_CELL.set((layer + 1, columns.index(place)))
            else:
                state.complain(state.WROTE_CELL, link_text, "the part")
        chosen = state.WROTE_CELL.get()
        if chosen is None or not (chosen[0] < len(values) and chosen[1] < len(columns)):
            heads = np.abs(np.nan_to_num(values[:, : max(1, len(columns) - 2)]))
            row, column = np.unravel_index(int(heads.argmax()), heads.shape)
            chosen = int(row), int(column)
        return chosen

    def say(self, heading: str, **values: object) -> str:
        question = self.question
        return words(
            HERE, f"wrote {heading}", word=question.description.replace("*", r"\*"), total=recipes.written(self.total), **values
        )


def panel(look: Look, above: DeltaGenerator) -> list[Picture]:
    look = replace(look, options={})  # of every token: nothing is hidden or joined here
    changed = changes.read(look, changes.load())
    choose.warn_unfit(HERE, look, changed)
    question = ask(look, changed.trace)
    if question is None:
        return []
    try:
        table = logit_attribution(look.model, changed.trace, question.token, question.position, question.against)
    except ValueError as refused:
        st.info(plain(str(refused)), icon=":material/info:")
        return []
    names = {name: words(HERE, f"wrote name {name}") for name in NAMES}
    attribution = Attribution(question, changed.text, changed.other, table, names, [])
    cell = attribution.cell()
    edited = words(HERE, "wrote with changes", count=len(changed.fitting)) if changed.fitting else ""
    capped = words(HERE, "wrote capped", cap=f"{look.model.cap:g}") if look.model.cap else ""
    cards = [
        Card([Part("question", None, "\n\n".join(filter(None, [attribution.say("question"), capped, edited])))]),
        Card([part("The board", board_part, attribution, cell)], words(HERE, "wrote title board"), 6),
        Card([part("The strongest parts", list_part, attribution)], words(HERE, "wrote title list"), 5),
        Card([part("What the head looked at", source_part, attribution, cell)], title_of(attribution, cell)),
        Card([Part("warning", None, words(HERE, "wrote warning"))]),
    ]
    show(board(cards, "What wrote it"), "wrote", chosen=lambda: react(attribution))
    state.keep(state.WROTE_CELL, cell_address(attribution), None)
    return attribution.pictures


def react(attribution: Attribution) -> None:
    """Select the cell that was clicked."""
    match choice("wrote"):
        case {"part": "board", "value": [row, column]}:
            state.WROTE_CELL.set((row, column))


def cell_address(attribution: Attribution) -> str | None:
    """Return the text of the selected cell for a link."""
    chosen = state.WROTE_CELL.get()
    if chosen is None or attribution.cell() != chosen or not 0 < chosen[0] < len(recipes.board_of(attribution.rows)) - 1:
        return None
    part, head = recipes.columns_of(attribution.rows)[chosen[1]]
    number = attribution.numbers[chosen[0] - 1]
    return f"{'cross ' * (part == 'cross')}L{number}{'' if head is None else f' H{head}'}"


def board_part(attribution: Attribution, cell: tuple[int, int]) -> Part:
    def numbers() -> dict[str, Numbers]:
        values = recipes.board_of(attribution.rows)
        layers = ["start", *(f"L{number}" for number in attribution.numbers[: len(values) - 2]), "end"]
        columns = [part if head is None else f"{part} H{head}" for part, head in recipes.columns_of(attribution.rows)]
        so_far = Numbers(np.cumsum(np.nansum(values, 1)), ("layer",), {"layer": layers}, in_csv=False)
        return {"logits": Numbers(values, ("layer", "part"), {"layer": layers, "part": columns}), "sum_so_far": so_far}

    options = {**attribution.options, "names": attribution.names, "chosen": cell}
    drawing = draw_picture(attribution, recipes.board, options, "What each part wrote", "board", numbers, table=attribution.table)
    crossing = any(part == "cross" for part, _ in recipes.columns_of(attribution.rows))
    return drawing.on_board(
        " ".join(filter(None, [words(HERE, "wrote board"), words(HERE, "wrote board cross") if crossing else ""]))
    )


def list_part(attribution: Attribution) -> Part:
    def numbers() -> dict[str, Numbers]:
        rows = sorted(attribution.rows, key=lambda row: -abs(row[3]))
        names = [recipes.name_of(row, attribution.names, attribution.numbers) for row in rows]
        return {"logits": Numbers(np.array([row[3] for row in rows]), ("part",), {"part": names})}

    options = {**attribution.options, "names": attribution.names}
    drawing = draw_picture(
        attribution, recipes.strongest, options, "The parts that wrote most", "list", numbers, table=attribution.table
    )
    question = attribution.question
    if question.against is None:
        return drawing.on_board("", attribution.say("sum"))
    pair = {name: question.spell(id).replace("*", r"\*") for name, id in (("first", question.token), ("other", question.against))}
    return drawing.on_board("", attribution.say("sum of two", **pair))


def title_of(attribution: Attribution, cell: tuple[int, int]) -> str:
    part, head = recipes.columns_of(attribution.rows)[cell[1]]
    row: recipes.Row = (part, cell[0] - 1, head, 0.0)
    name = recipes.name_of(row, attribution.names, attribution.numbers)
    return words(HERE, "wrote title head", head=name) if head is not None else ""


def source_part(attribution: Attribution, cell: tuple[int, int]) -> Part:
    """Return what a head wrote, by the tokens that it looked at; for another part, why there is no such picture."""
    question, (kind_of_part, head) = attribution.question, recipes.columns_of(attribution.rows)[cell[1]]
    value = recipes.board_of(attribution.rows)[cell]
    if head is None:
        name = "feedforward" if kind_of_part == "feedforward" else "rest"
        layer = dict(enumerate(attribution.numbers, 1)).get(cell[0])
        return Part("sources", None, attribution.say(name, value=recipes.written(float(np.nan_to_num(value))), layer=layer))
    stack = "decoder" if question.trace.target else "self"
    layer, kind = cell[0] - 1, "cross" if kind_of_part == "cross" else stack
    try:
        amounts = head_sources(
            question.look.model, question.trace, layer, head, question.token, question.position, question.against, kind
        )
    except ValueError as refused:
        return Part("sources", None, str(refused))
    shares = question.trace.attention[kind][layer][head, question.position]
    tokens = recipes.tokens_read(question.trace, kind, question.look.second, question.look.beginner)

    def numbers() -> dict[str, Numbers]:
        axis_names = {"token": [token.text for token in tokens]}
        return {"logits": Numbers(amounts, ("token",), axis_names), "attention": Numbers(shares, ("token",), axis_names)}

    options = {
        **attribution.options, "kind": kind, "layer": layer, "head": head, "unit": attribution.names["unit"],
        "simple": question.look.beginner,
    }  # fmt: skip
    drawing = draw_picture(attribution, recipes.sources, options, "What a head wrote", "sources", numbers, changed=question.trace)
    best = int(np.abs(amounts).argmax())
    facts = {
        "value": recipes.written(float(value)), "best": tokens[best].text.strip().replace("*", r"\*") or "space",
        "share": percent(float(shares[best])), "brought": recipes.written(float(amounts[best])),
    }  # fmt: skip
    return drawing.on_board(attribution.say("head", **facts))


def draw_picture(
    attribution: Attribution, recipe: Any, options: dict[str, Any], title: str, name: str, numbers: Any, **known: Any
) -> Picture:
    about = f"towards {attribution.question.description}"
    drawing = Picture(
        recipe, (attribution.question.look,), options, "wrote", numbers, words=about, title=title, part=name,
        takes=("model", "trace"), known=known,
    )  # fmt: skip
    attribution.pictures.append(drawing)
    return drawing
