"""The pictures of this part: the words, and for both orders the predictions, the maps of a head, and how far vectors moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.word_order import BothOrders
from pages.inside.order import recipes
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from viz.tokens import label, named

SUBJECTS = ("next", "map", "vectors")
CHIPS, BOARD = "inside-words", "inside-order"
SHOWN = 24  # tokens of a map that are shown at a time
TOP = 6  # predictions
HOW = {True: "with positions", False: "without positions"}


@dataclass(frozen=True)
class Window:
    """The visible part of a map: positions of queries and keys in the text as typed."""

    rows: list[int]
    columns: list[int]


def window(look: Look) -> Window:
    """Return all tokens, or for a long text those around the followed one."""
    queries, keys = len(look.attention.queries), len(look.attention.keys)
    return Window(near(queries, look.token), near(keys, look.token if look.kind != "cross" else 0))


def near(count: int, at: int) -> list[int]:
    first = max(0, min(count - SHOWN, at - SHOWN // 2))
    return list(range(first, min(count, first + SHOWN)))


def spots(look: Look, reading: BothOrders) -> dict[str, tuple[int, int]]:
    """Return the positions at which predictions are compared, as typed and in the other order: the end, and the followed token if
    it is another one."""
    if reading.before.unembed is None:
        return {}
    kind, end = look.model.info.kind, (len(reading.before.read) - 1, len(reading.after.read) - 1)
    places = {} if kind == "encoder" else {"end": end}
    if look.kind == "encoder":
        return places  # nothing is predicted at the tokens of a source
    at = look.token_among(len(reading.before.read))
    place = at if kind == "encoder-decoder" else int(reading.places[at])
    if place >= 0 and (at, place) != places.get("end"):
        places["token"] = (at, place)
    return places


def chips(look: Look, order: tuple[int, ...], reading: BothOrders | None) -> Picture:
    options = {"order": list(order), "changed": list(reading.changed) if reading else []}

    def numbers() -> dict[str, Numbers]:
        return {"typed_as": Numbers(np.array(order) + 1, ("word",), {"word": list(range(1, len(order) + 1))})}

    title = "The words in their order"
    return Picture(recipes.words, (look,), options, CHIPS, numbers, title=title, takes=("trace",))


def of(look: Look, order: tuple[int, ...], reading: BothOrders, positions: bool, subject: str) -> list[Picture]:
    """Return the pictures of one subject, with or without positions."""
    base = {"order": list(order), "second": look.second, "positions": positions}
    if subject == "next":
        return [prediction(look, reading, base, name, at) for name, at in spots(look, reading).items()]
    if subject == "map":
        return [attention(look, reading, base, moved) for moved in (False, True)]
    return [vectors(look, reading, base)]


def prediction(look: Look, reading: BothOrders, base: dict[str, Any], spot: str, at: tuple[int, int]) -> Picture:
    before, after = reading.probabilities(*at)
    best = recipes.likeliest(before, after, TOP)

    def numbers() -> dict[str, Numbers]:
        names = {"place": [look.model.token_text(id) for id in best]}
        each = {"before": before, "after": after}
        return {name: Numbers(values[best].astype(np.float32), ("place",), names) for name, values in each.items()}

    where = "at the end" if spot == "end" else f"at “{named(reading.before.read[at[0]].text)}”"
    options = base | {"at": at, "top": TOP, "plainly": look.beginner}
    return picture_of(look, recipes.prediction, options, reading, numbers, f"Predictions {where}", spot, HOW[base["positions"]])


def attention(look: Look, reading: BothOrders, base: dict[str, Any], moved: bool) -> Picture:
    seen, which = window(look), "in the other order" if moved else "as typed"
    queries, keys = (look.spell_tokens(tokens) for tokens in (look.attention.queries, look.attention.keys))
    names = [label(queries[at].text) for at in seen.rows], [label(keys[at].text) for at in seen.columns]
    options = base | {
        "moved": moved,
        "kind": look.kind,
        "layer": look.layer,
        "head": look.head,
        "causal": look.causal,
        "rows": seen.rows,
        "columns": seen.columns,
        "row_names": names[0],
        "column_names": names[1],
        "down": "from",
        "across": "to",
        "chosen": seen.rows.index(look.token) if look.token in seen.rows else -1,
        "label": f"Where {look.head_name} looks {which}, {HOW[base['positions']]}",
    }

    def numbers() -> dict[str, Numbers]:
        weights = reading.maps(look.kind, look.layer, look.head, look.causal)[moved][np.ix_(seen.rows, seen.columns)]
        return {"weights": Numbers(weights, ("from", "to"), {"from": names[0], "to": names[1]})}

    part = "map-after" if moved else "map-before"
    return picture_of(
        look, recipes.attention, options, reading, numbers, f"{look.head_name} {which}", part, HOW[base["positions"]]
    )


def vectors(look: Look, reading: BothOrders, base: dict[str, Any]) -> Picture:
    stack = stack_of(look)
    tokens = look.spell_tokens(reading.before.target if stack == "decoder" else reading.before.tokens)
    columns = near(len(tokens), look.token_among(len(tokens)))
    names = [label(tokens[at].text) for at in columns]
    changes = reading.changes(stack)
    layer_numbers = reading.before.attention[stack].numbers
    rows = ["at the start", *(f"after L{number}" for number in layer_numbers)]
    options = base | {
        "stack": stack,
        "columns": columns,
        "row_names": rows,
        "column_names": names,
        "across": "token",
        "exact": not look.beginner,
        "label": f"How far each vector moved, {HOW[base['positions']]}",
    }

    def numbers() -> dict[str, Numbers]:
        return {"change": Numbers(changes[:, columns].astype(np.float32), ("after", "token"), {"after": rows, "token": names})}

    return picture_of(
        look, recipes.vectors, options, reading, numbers, "How far each vector moved", "vectors", HOW[base["positions"]]
    )


def stack_of(look: Look) -> str:
    """Return the stack whose vectors are compared: the one that holds the queries."""
    return "decoder" if look.kind == "cross" else look.kind


def picture_of(
    look: Look, recipe: Any, options: dict[str, Any], reading: BothOrders, numbers: Any, title: str, part: str, words: str
) -> Picture:
    return Picture(
        recipe,
        (look,),
        options,
        BOARD,
        numbers,
        title=f"{title}, {words}",
        part=f"{part} {words}",
        takes=("model", "trace"),
        known={"reading": reading},
    )
