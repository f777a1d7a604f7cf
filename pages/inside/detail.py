"""The open stage: its numbers as colours, the row of the chosen token, and how one number came about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from analysis import inside
from pages.inside import choose, code, formulas, naming, recipes
from ui import state
from ui.choices.token import keep, press
from ui.look import Look
from ui.parts import part
from ui.picture.picture import Numbers, Picture
from ui.show import choice, show
from ui.words import heading_for, words
from viz import Card, Part, board

HERE = Path(__file__).parent
ROWS = 32  # tokens that are shown at a time
COLUMNS = 256  # and numbers of each
LIKELIEST = 24  # of a vocabulary, the tokens that are shown


@dataclass(frozen=True)
class OpenStage:
    """An open stage. index: of the explained number in the stage's array; rows, columns: of the numbers that are shown."""

    look: Look
    way: inside.Way
    stage: inside.Stage
    index: tuple[int, ...]
    trail: tuple[choose.Spot, ...]
    rows: list[int]
    columns: list[int]

    @property
    def spot(self) -> choose.Spot:
        return choose.Spot(self.stage.name, self.index, self.stage.layer, self.stage.stack)

    @property
    def head(self) -> int:
        return self.index[0] if recipes.stacked(self.stage) else self.look.head

    @property
    def place(self) -> tuple[int, int]:
        """The row and the column of the explained number."""
        return row_and_column(self.stage, self.index)

    @property
    def base(self) -> dict[str, Any]:
        """The options that every recipe takes."""
        token = recipes.nearest(self.way.stages[0], self.look.token)
        return {"stack": self.way.stack, "layer": self.way.layer, "around": token, "stage": self.stage.name}

    @cached_property
    def cell(self) -> inside.Cell:
        """The sum from which the explained number came."""
        return self.way.explain(self.stage.name, self.index)

    def at(self, row: int, column: int) -> tuple[int, ...]:
        """Return the index in the stage's array of a row and a column."""
        return whole_index(self.stage, self.head, row, column)


def row_and_column(stage: inside.Stage, index: tuple[int, ...]) -> tuple[int, int]:
    inner = index[recipes.stacked(stage) :]
    return inner[0], inner[1] if len(inner) > 1 else 0


def whole_index(stage: inside.Stage, head: int, row: int, column: int) -> tuple[int, ...]:
    inner = (row, column)[: len(stage.axes) - (recipes.stacked(stage))]
    return (head, *inner) if recipes.stacked(stage) else inner


def open_stage(look: Look, way: inside.Way, stage: inside.Stage, chosen: choose.Selection) -> OpenStage:
    """Open a stage with a window of rows and columns around the chosen number."""
    row, column = row_and_column(stage, chosen.index) if chosen.index else (recipes.nearest(stage, look.token), None)
    several = chosen.index and recipes.stacked(stage)
    head = chosen.index[0] if several else recipes.layer_of(stage, look.head, look.attention.heads)  # type: ignore[index]
    values = recipes.plane(stage, [row], head)[0]
    if column is None:
        size = (
            values if stage.axes[-1] in recipes.OUTCOMES else np.abs(values)
        )  # of candidates the one that the model would choose
        column = int(np.argmax(np.where(np.isfinite(values), size, -np.inf)))
    positions = [] if stage.positions is None else stage.positions.tolist()
    first = max(0, min(len(positions) - ROWS, positions.index(row) - ROWS // 2)) if row in positions else 0
    rows = positions[first : first + ROWS] if row in positions else [row]
    if stage.axes[-1] in recipes.OUTCOMES:
        best = np.argsort(-values, kind="stable")[: min(LIKELIEST, len(values))].tolist()
        columns = best if column in best else [*best[:-1], column]
    else:
        columns = window("Numbers up to", len(values), COLUMNS, column)
    return OpenStage(look, way, stage, whole_index(stage, head, row, column), chosen.trail, rows, columns)


def window(label: str, count: int, most: int, at: int) -> list[int]:
    """Return `most` neighbouring indices out of `count`: those chosen with the slider, at first those around `at`."""
    if count <= most:
        return list(range(count))
    first, key = min(count, max(most, at + most // 2)), state.INSIDE_COLUMNS.of(f"{count}-{at}")
    last = st.slider(label, most, count, first, key=key.name, help=f"{most} of {count:,} are shown at a time.")
    return list(range(last - most, last))


def draw(here: OpenStage) -> list[Picture]:
    """Draw the words, pictures and code of a stage, and return the pictures."""
    stage, pictures = here.stage, drawings(here)
    facts = naming.facts(here.look, stage, here.index)
    below = "\n\n".join(filter(None, [formulas.put_in(HERE, here.cell, stage, facts)]))
    many = len(here.columns) > 1
    cards = [
        Card([
            Part("words", None, formulas.explanation(HERE, stage, facts)),
            part("The numbers", pictures["matrix"].on_board),
            *([part("The row", pictures["row"].on_board, words(HERE, "row", **facts))] if many else []),
            part("The number", pictures["cell"].on_board, f"{words(HERE, 'cell', **facts)} {straight(stage)}".rstrip(), below),
        ]),
    ]  # fmt: skip
    show(board(cards, formulas.name(HERE, stage)), "inside-open", lambda: react(here))
    if here.look.level == "expert" and (source := code.of(stage, here.way)):
        st.caption(words(HERE, "code", **facts))
        st.code(source, language="python", wrap_lines=True)  # a block that scrolls sideways cannot be reached by keys
    visible = {"matrix": True, "row": many, "cell": bool(here.cell.terms)}
    return [drawing for name, drawing in pictures.items() if visible[name]]


def straight(stage: inside.Stage) -> str:
    """Say which input of an addition to the stream leads straight back to the embedding; "" for other stages."""
    before = next((name for name in stage.inputs if "stream" in name), "") if stage.formula == "add" else ""
    return words(HERE, "straight", before=formulas.name(HERE, before)) if before else ""


def react(here: OpenStage) -> None:
    """React to a click in the open stage."""
    stage = here.stage
    match choice("inside-open"):
        case {"part": "chips" | "bars", "value": int(token)}:
            press(token, here.look.newest)
        case {"part": "matrix", "value": [row, column]}:
            if naming.row_axis(stage) != "source":  # the token of a row is the one that is followed
                keep(here.rows[row])
            choose.look_at(stage.name, here.at(here.rows[row], here.columns[column]))
        case {"part": "row", "value": [_, column]}:
            choose.look_at(stage.name, here.at(here.place[0], here.columns[column]))
        case {"part": "cell", "value": {"term": number, "side": side}}:
            terms, _ = recipes.largest(here.cell)
            place = (terms[number].other if side else terms[number].source) if number < len(terms) else None
            if place is not None:
                choose.follow(here.look, here.spot, here.trail, choose.Spot(*place))
        case {"part": "cell", "value": {"back": number}} if number < len(here.trail):
            choose.back(here.look, here.trail, number)


def draw_end(here: OpenStage, main: Picture, facts: dict[str, object], above: str = "") -> list[Picture]:
    """Draw the first or the last stage of the model: its main picture, and below it how its number came about, or what was
    followed back to it."""
    cell = drawings(here)["cell"]
    heading = heading_for(HERE, f"cell {here.stage.name}", formulas.case(here.stage))
    cards = [
        Card([
            Part("words", None, formulas.explanation(HERE, here.stage, facts)),
            main.on_board(above),
            part("The number", cell.on_board, words(HERE, heading, **facts)),
        ]),
    ]  # fmt: skip
    show(board(cards, formulas.name(HERE, here.stage)), "inside-open", lambda: react(here))
    return [main, cell] if here.cell.terms else [main]


def drawings(here: OpenStage) -> dict[str, Picture]:
    """Return the pictures of a stage by the part of the board that shows them."""
    look, stage, (row, column) = here.look, here.stage, here.place
    down, across = naming.axes(look, stage)
    row_names, column_names = naming.rows(look, stage, here.rows), naming.columns(look, stage, here.columns)
    near = (here.rows.index(row) if row in here.rows else -1, here.columns.index(column) if column in here.columns else -1)
    cells = here.cell
    matrix_options = {
        "head": here.head, "rows": here.rows, "columns": here.columns, "row_names": row_names, "column_names": column_names,
        "down": down, "across": across, "chosen": near,
    }  # fmt: skip
    row_options = {
        "head": here.head, "at": row, "columns": here.columns, "name": naming.rows(look, stage, [row])[0],
        "column_names": column_names, "chosen": near[1],
    }  # fmt: skip
    cell_options = {
        "index": here.index, "name": naming.spot(HERE, look, here.way, here.spot), "factors": formulas.factors(HERE, stage),
        "labels": [naming.term(HERE, look, here.way, stage, term) for term in recipes.largest(cells)[0]],
        "trail": [naming.spot(HERE, look, here.way, spot) for spot in here.trail],
    }  # fmt: skip
    names = {down: row_names, across: column_names}

    def values() -> dict[str, Numbers]:
        return {"value": Numbers(recipes.plane(stage, here.rows, here.head)[:, here.columns], (down, across), names)}

    def of_row() -> dict[str, Numbers]:
        return {"value": Numbers(recipes.plane(stage, [row], here.head)[0, here.columns], (across,), names)}

    def terms() -> dict[str, Numbers]:
        each = {name: np.array([getattr(term, name) for term in cells.terms]) for name in ("left", "right", "product")}
        named = {"term": [term.label for term in cells.terms]}
        return {name: Numbers(column.astype(np.float32), ("term",), named) for name, column in each.items()}

    def picture(part: str, recipe: Callable, title: str, options: dict[str, Any], numbers: Callable) -> Picture:
        of = f"{formulas.name(HERE, stage)} in {look.head_name}"
        return Picture(
            recipe, (look,), here.base | options, "inside-open", numbers, words=of, title=title, part=part,
            takes=("model", "trace"), known={"way": here.way},
        )  # fmt: skip

    return {
        "matrix": picture("matrix", recipes.matrix, "The numbers", matrix_options, values),
        "row": picture("row", recipes.numbers, "The row", row_options, of_row),
        "cell": picture("cell", recipes.products, "How the number came about", cell_options, terms),
    }
