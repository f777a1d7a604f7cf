"""Board "What wrote it": what each part of the model wrote towards a word, and where a head looked as it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from analysis import head_sources
from pages.change.settings import Settings, Written
from pages.change.wrote import recipes
from ui.lexicon.marks import Marked
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import Card, Part, percent

KEY = "wrote"
NAMES = (
    "embedding",
    "head",
    "cross",
    "feedforward",
    "rest",
    "bias",
    "others",
    "parts",
    "unit",
    "column",
    "cross column",
    "feedforward column",
    "rest column",
    "start",
    "end",
)


def add(draft: Draft, settings: Settings, reading: Written) -> None:
    """Add the board."""
    names = {name: draft.words(f"wrote name {name}") for name in NAMES}
    cell, fitting, cap = chosen_cell(settings, reading), reading.changed.fitting, draft.look.model.cap
    edited = draft.words("wrote with changes", count=len(fitting)) if fitting else ""
    capped = draft.words("wrote capped", cap=f"{cap:g}") if cap else ""
    question = say(draft, reading, "question", most=best_writer(draft, reading, names))
    cards = [
        Card([Part("question", None, "\n\n".join(filter(None, [question, capped, edited])))]),
        Card([draft.part("The board", board_part, reading, names, cell)], draft.words("wrote title board"), 6),
        Card([draft.part("The strongest parts", list_part, reading, names)], draft.words("wrote title list"), 5),
        Card([draft.part("What the head looked at", source_part, reading, names, cell)], title_of(draft, reading, names, cell)),
        Card([Part("warning", None, draft.words("wrote warning"))]),
    ]
    draft.add_cards(KEY, cards, "What wrote it")


def best_writer(draft: Draft, reading: Written, names: dict[str, str]) -> str:
    """Return a sentence on the part that wrote most; "" where none raises the logit, and at levels without such words."""
    best = max(reading.rows, key=lambda row: row[3])
    if best[3] <= 0:
        return ""
    sentence = say(draft, reading, "most", best=recipes.name_of(best, names, reading.numbers), value=recipes.written(best[3]))
    return Marked(sentence and f" {sentence}")


def chosen_cell(settings: Settings, reading: Written) -> tuple[int, int]:
    """Return the row and column that was clicked, else those of the head that wrote most."""
    columns, values, clicked = recipes.columns_of(reading.rows), recipes.board_of(reading.rows), settings.wrote_cell
    if clicked is not None and clicked[0] < len(values) and clicked[1] < len(columns):
        return clicked
    heads = np.abs(np.nan_to_num(values[:, : max(1, len(columns) - 2)]))
    row, column = np.unravel_index(int(heads.argmax()), heads.shape)
    return int(row), int(column)


def say(draft: Draft, reading: Written, heading: str, **values: object) -> str:
    """Return the words of this experiment under a heading."""
    word, total = reading.question.description.replace("*", r"\*"), recipes.written(reading.total)
    return draft.words(f"wrote {heading}", word=word, total=total, **values)


def board_part(draft: Draft, reading: Written, names: dict[str, str], cell: tuple[int, int]) -> Part:
    def numbers() -> dict[str, Numbers]:
        values = recipes.board_of(reading.rows)
        layers = ["embedding", *(f"L{number}" for number in reading.numbers[: len(values) - 2]), "final bias"]
        columns = [part if head is None else f"{part} H{head}" for part, head in recipes.columns_of(reading.rows)]
        so_far = Numbers(np.cumsum(np.nansum(values, 1)), ("layer",), {"layer": layers}, in_csv=False)
        return {"logits": Numbers(values, ("layer", "part"), {"layer": layers, "part": columns}), "sum_so_far": so_far}

    options = {**reading.options, "names": names, "chosen": cell}
    drawing = picture(reading, recipes.board, options, "What each part wrote", "board", numbers, table=reading.table)
    crossing = any(part == "cross" for part, _ in recipes.columns_of(reading.rows))
    below = [draft.words("wrote board more"), draft.words("wrote board cross") if crossing else ""]
    return draft.picture(drawing, draft.words("wrote board"), " ".join(filter(None, below)))


def list_part(draft: Draft, reading: Written, names: dict[str, str]) -> Part:
    def numbers() -> dict[str, Numbers]:
        rows = sorted(reading.rows, key=lambda row: -abs(row[3]))
        parts = [recipes.name_of(row, names, reading.numbers) for row in rows]
        return {"logits": Numbers(np.array([row[3] for row in rows]), ("part",), {"part": parts})}

    options = {**reading.options, "names": names}
    drawing = picture(reading, recipes.strongest, options, "The parts that wrote most", "list", numbers, table=reading.table)
    question = reading.question
    if question.against is None:
        return draft.picture(drawing, "", say(draft, reading, "sum", count=len(reading.rows)))
    pair = {name: question.spell(id).replace("*", r"\*") for name, id in (("first", question.token), ("other", question.against))}
    return draft.picture(drawing, "", say(draft, reading, "sum of two", count=len(reading.rows), **pair))


def title_of(draft: Draft, reading: Written, names: dict[str, str], cell: tuple[int, int]) -> str:
    part, head = recipes.columns_of(reading.rows)[cell[1]]
    row: recipes.Row = (part, cell[0] - 1, head, 0.0)
    name = recipes.name_of(row, names, reading.numbers)
    return draft.words("wrote title head", head=name) if head is not None else ""


def source_part(draft: Draft, reading: Written, names: dict[str, str], cell: tuple[int, int]) -> Part:
    """Return a head's contribution, by the tokens that it looked at; for another part, the reason why there is none."""
    question, (kind_of_part, head) = reading.question, recipes.columns_of(reading.rows)[cell[1]]
    value = recipes.board_of(reading.rows)[cell]
    if head is None:
        name = "feedforward" if kind_of_part == "feedforward" else "rest"
        layer = dict(enumerate(reading.numbers, 1)).get(cell[0])
        return Part("sources", None, say(draft, reading, name, value=recipes.written(float(np.nan_to_num(value))), layer=layer))
    stack = "decoder" if question.trace.target else "self"
    layer, kind = cell[0] - 1, "cross" if kind_of_part == "cross" else stack
    try:
        amounts = head_sources(
            question.look.model, question.trace, layer, head, question.token, question.position, question.against, kind
        )
    except ValueError as refused:
        return Part("sources", None, str(refused))
    shares = question.trace.attention[kind][layer][head, question.position]
    tokens = recipes.tokens_read(question.trace, kind, question.look.second)

    def numbers() -> dict[str, Numbers]:
        axis_names = {"token": [token.text for token in tokens]}
        return {"logits": Numbers(amounts, ("token",), axis_names), "attention": Numbers(shares, ("token",), axis_names)}

    options = {**reading.options, "kind": kind, "layer": layer, "head": head, "unit": names["unit"]}
    drawing = picture(reading, recipes.sources, options, "What a head wrote", "sources", numbers, changed=question.trace)
    best = int(np.abs(amounts).argmax())
    facts = {
        "value": recipes.written(float(value)),
        "best": tokens[best].text.strip().replace("*", r"\*") or "space",
        "share": percent(float(shares[best])),
        "brought": recipes.written(float(amounts[best])),
    }
    return draft.picture(drawing, say(draft, reading, "head", **facts))


def picture(
    reading: Written, recipe: Callable, options: dict[str, Any], title: str, name: str, numbers: Callable, **known: Any
) -> Picture:
    about = f"towards {reading.question.description}"
    return Picture(
        recipe,
        (reading.question.look,),
        options,
        KEY,
        numbers,
        words=about,
        title=title,
        part=name,
        takes=("model", "trace"),
        known=known,
    )
