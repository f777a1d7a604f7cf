"""The board of the open stage: its numbers as colours, the row of the chosen token, and the calculation of one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from analysis import inside
from pages.inside import code, formulas, morals, naming, recipes, softmax
from pages.inside.opened import OpenStage
from ui.look import Look
from ui.picture.board import Draft, Note
from ui.picture.picture import Numbers, Picture
from viz import Card, Part

KEY, GLIMPSE = "inside-open", "inside-glimpse"  # the second is that of the first look for beginners
ALREADY_DRAWN = ("weights", "cross weights")  # their map stands in the first look of beginners


def add(draft: Draft, here: OpenStage) -> None:
    """Add the words and pictures of a stage, and for experts its code."""
    stage, pictures = here.stage, drawings(draft, here)
    facts = naming.facts(here.look, stage, here.index)
    below = "\n\n".join(filter(None, [formulas.put_in(draft, here.cell, stage, facts)]))
    parts = []
    if not (here.look.beginner and stage.name in ALREADY_DRAWN):
        moral = "" if here.look.beginner else morals.of_stage(draft, here)
        words = [moral, formulas.explanation(draft, stage, facts)]
        words = words[::-1] if stage.name == "feed-forward" else words  # its sentence may be that there is nothing to say
        parts.append(Part("words", None, "\n\n".join(filter(None, words))))
        parts.append(draft.part("The numbers", Draft.picture, pictures["matrix"], "", map_hidden(draft, here)))
    if len(here.columns) > 1:
        steps = softmax.part(draft, here, KEY)
        parts.append(steps or draft.part("The row", Draft.picture, pictures["row"], draft.words("row", **facts)))
    above = f"{draft.words('cell', **facts)} {straight(draft, stage)}".rstrip()
    parts.append(draft.part("The number", cell_part, here, pictures["cell"], above, below))
    draft.add_cards(KEY, [Card(parts)], formulas.name(draft, stage))
    if here.look.level == "expert" and (source := code.of(stage, here.way)):
        draft.note("inside-code-words", "code", **facts)
        draft.contents["inside-code"] = Note(source, "code")


def map_hidden(draft: Draft, here: OpenStage) -> str:
    """Return words on the empty places of a map of weights, "" where there are none."""
    is_hidden = recipes.masked(here.way, here.stage, here.rows, here.head, here.hides) is not None
    return draft.words("map hidden" if here.stage.formula == recipes.SHARES else "map hidden later") if is_hidden else ""


def cell_part(draft: Draft, here: OpenStage, drawing: Picture, above: str, below: str = "") -> Part:
    """Return the part with the sum behind a number; for a number without terms there is no picture to download."""
    return draft.picture(drawing, above, below) if here.cell.terms else drawing.on_board(above, below)


def straight(draft: Draft, stage: inside.Stage) -> str:
    """Say which input of an addition to the stream leads straight back to the embedding; "" for other stages."""
    before = next((name for name in stage.inputs if "stream" in name), "") if stage.formula == "add" else ""
    return draft.words("straight", before=formulas.name(draft, before)) if before else ""


def add_end(draft: Draft, here: OpenStage, main: Picture, facts: dict[str, object], above: str = "") -> None:
    """Add the first or the last stage of the model: its main picture, and below it the calculation of its number, or the number
    that was followed back to it. Beginners unfold that calculation (see `add_end_cell`)."""
    parts = [Part("words", None, formulas.explanation(draft, here.stage, facts)), draft.picture(main, above)]
    if not here.look.beginner:
        parts.append(end_cell(draft, here, facts))
    draft.add_cards(first_key(here.look), [Card(parts)], formulas.name(draft, here.stage))


def first_key(look: Look) -> str:
    """Return the key of the board that a stage opens with."""
    return GLIMPSE if look.beginner else KEY


def add_end_cell(draft: Draft, here: OpenStage) -> None:
    """Add the calculation of the number of the first stage, which beginners unfold."""
    draft.add_cards(KEY, [Card([end_cell(draft, here, {})])], formulas.name(draft, here.stage))


def end_cell(draft: Draft, here: OpenStage, facts: dict[str, object]) -> Part:
    """Return the part with the calculation of the number of the first or the last stage."""
    heading = draft.heading_for(f"cell {here.stage.name}", formulas.case(here.stage))
    return draft.part("The number", cell_part, here, drawings(draft, here)["cell"], draft.words(heading, **facts))


def drawings(draft: Draft, here: OpenStage, key: str = KEY) -> dict[str, Picture]:
    """Return the pictures of a stage by the part of the board that shows them. key: of the board."""
    look, stage, (row, column) = here.look, here.stage, here.place
    down, across = naming.axes(look, stage)
    row_names, column_names = naming.rows(look, stage, here.rows), naming.columns(look, stage, here.columns)
    near = (here.rows.index(row) if row in here.rows else -1, here.columns.index(column) if column in here.columns else -1)
    cells = here.cell
    both = {"head": here.head, "columns": here.columns, "column_names": column_names, "hides": here.hides}
    matrix_options = both | {
        "rows": here.rows,
        "row_names": row_names,
        "down": down,
        "across": across,
        "chosen": near,
        "whole": look.beginner and stage.name in ALREADY_DRAWN,
    }
    row_options = both | {"at": row, "name": naming.rows(look, stage, [row])[0], "chosen": near[1]}
    cell_options = {
        "index": here.index,
        "name": naming.spot(draft, here.way, here.spot),
        "factors": formulas.factors(draft, stage),
        "labels": [naming.term(draft, here.way, stage, term) for term in recipes.largest(cells)[0]],
        "trail": [naming.spot(draft, here.way, spot) for spot in here.trail],
    }
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
        of = f"{formulas.name(draft, stage)} in {look.head_name}"
        return Picture(
            recipe,
            (look,),
            here.base | options,
            key,
            numbers,
            words=of,
            title=title,
            part=part,
            takes=("model", "trace"),
            known={"way": here.way},
        )

    return {
        "matrix": picture("matrix", recipes.matrix, "The numbers", matrix_options, values),
        "row": picture("row", recipes.numbers, "The row", row_options, of_row),
        "cell": picture("cell", recipes.products, "How the number came about", cell_options, terms),
    }
