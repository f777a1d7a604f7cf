"""The numbers of a picture as files: CSV for a spreadsheet, NPZ for NumPy."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Sequence
from csv import QUOTE_NONNUMERIC
from dataclasses import replace
from typing import Any

import numpy as np

from analysis import Scope
from ui.escaping import display_name
from ui.look import Look
from ui.picture.picture import Caption, Numbers, Picture
from ui.picture.provenance import MOST_IN_CELL, as_cell, as_json

MOST_ROWS = 2**20 - 1  # of a spreadsheet, below its headings
MOST_NUMBERS = 2**24  # of an NPZ: 64 MB
MOST_CHARACTERS = 2**26  # of each column of tokens of a CSV; in an NPZ, where each token takes the place of the longest:
MOST_IN_ARRAY = 2**22
USUAL_LENGTH = 64  # characters that a token may always have
USUAL = ("layer", "head", "from", "to")  # the axes of weights; an array with fewer has the last ones
AXES = {"q": ("dimension",), "k": ("to", "dimension"), "frequencies": ("pair",), "pairs": ("pair", "of pair")}
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters and signs that are drawn as nothing
SIDES = {"from": "from_", "to": "to_", "token": ""}  # axes of tokens, and what their columns begin with


def numbers(picture: Picture) -> dict[str, Numbers]:
    """Return the numbers that a picture shows, with the axes of each array."""
    arrays: dict[str, Numbers] = {}
    for name, values in picture.numbers().items():
        if isinstance(values, Numbers):
            arrays[name] = values
            continue
        values = values if isinstance(values, Scope) else np.asarray(values)
        axes = USUAL if isinstance(values, Scope) else AXES.get(name, USUAL[len(USUAL) - values.ndim :])
        heads = picture.options.get("heads")
        few = "head" in axes and heads and not isinstance(values, Scope) and values.shape[axes.index("head")] == len(heads)
        arrays[name] = Numbers(values, axes, {"head": list(heads)} if heads and few else {})
    return {name: numbered(array, picture.look) for name, array in arrays.items()}


def numbered(array: Numbers, look: Look | None) -> Numbers:
    """Return an array with its layers named by their numbers in the network, unless it already names them."""
    if look is None or not look.model.info.layer_numbers or "layer" not in array.axes or "layer" in array.names:
        return array
    numbers, size = look.attention.numbers, array.shape[array.axes.index("layer")]
    return replace(array, names={**array.names, "layer": numbers}) if size == len(numbers) else array


def limit_size(arrays: dict[str, Numbers], look: Look | None, most: int) -> tuple[dict[str, Numbers], str]:
    """Limit each array to `most` numbers: a larger one is cut to the chosen layer, then to the chosen head.

    Return the arrays, and words on the cut: "L5 H1 only", or "".
    """
    bounded_arrays, left_names = dict(arrays), {}
    for axis, chosen in (("layer", look.number(look.layer)), ("head", look.head)) if look else ():
        for name, array in bounded_arrays.items():
            if axis in array.axes and np.prod(array.shape, dtype=float) > most and array.shape[array.axes.index(axis)] > 1:
                place = array.place(axis, chosen)
                bounded_arrays[name] = array.at(axis, place)
                left_names[axis] = f"{axis[0].upper()}{array.name(axis, place)}"
    return bounded_arrays, f"{' '.join(left_names.values())} only" if left_names else ""


def in_table(arrays: dict[str, Numbers]) -> dict[str, Numbers]:
    return {name: array for name, array in arrays.items() if array.in_csv}


def rows(arrays: dict[str, Numbers]) -> tuple[tuple[str, ...], dict[str, Numbers]]:
    """Return the axes of the largest array, and the arrays that can be columns beside it: those whose axes are among them."""
    axes = max(arrays.values(), key=lambda array: (len(array.axes), np.prod(array.shape))).axes
    sizes = {axis: next(array.shape[array.axes.index(axis)] for array in arrays.values() if axis in array.axes) for axis in axes}
    fits = {
        name: array
        for name, array in arrays.items()
        if set(array.axes) <= set(axes) and array.shape == tuple(sizes[axis] for axis in array.axes)
    }
    return axes, fits


def csv(picture: Picture, about: Caption) -> bytes:
    """Return a CSV with a row for each number: its place (layer, head, from and to by position and token), and the number.

    The last column, `provenance`, says in its first row where the numbers come from: every program can read the file, and sorting
    or cutting the table keeps the column. Numbers are written so that they read back as the same float32. For a causal model,
    masked pairs have no row. If there were more rows than a spreadsheet allows (2**20), only those of the chosen head are
    written, and if these are still too many, the largest numbers. The file is UTF-8 with a byte-order mark, which Excel needs.
    Spreadsheets take a cell that begins with = + - @ for a formula: such a token, or one that begins with ', gets a ' in front,
    and so does the text after a semicolon, a tab or a line break in a token. Remove one ' to restore the token. A token that is
    far longer than usual ends in “…”: a column of tokens has at most about 2**26 characters, and no cell more than a spreadsheet
    allows.
    """
    import pandas as pd

    look = picture.look
    bounded_arrays, _ = limit_size(in_table(numbers(picture)), look, room(look) * MOST_ROWS)
    axes, fits = rows(bounded_arrays)
    main = max(fits.values(), key=lambda array: len(array.axes))
    shape = tuple(int(size) for size in main.shape)
    places = np.indices(shape).reshape(len(shape), -1) if shape else np.zeros((0, 1), dtype=int)
    sides = {axis: side(main, axis, look) for axis in axes if axis in SIDES}
    if look and look.causal and {"from", "to"} <= set(axes) - set(main.names):
        ends = np.array([group[-1] for group in look.scope.queries.groups])
        unmasked = sides["to"][0][places[axes.index("to")]] <= ends[places[axes.index("from")]]
        places = places[:, unmasked]
    if places.shape[1] > MOST_ROWS:
        best = np.argpartition(-np.abs(main.array()[tuple(places)]), MOST_ROWS)[:MOST_ROWS]
        places = places[:, np.sort(best)]
    longest = min(MOST_IN_CELL // 2, longest_of(places.shape[1], MOST_CHARACTERS))
    table = {}
    for place, axis in zip(places, axes, strict=True):
        if axis in SIDES:
            positions, tokens = sides[axis]
            table[f"{SIDES[axis]}position"] = positions[place]
            table[f"{SIDES[axis]}token"] = cells(tokens, longest)[place]
            if axis == "from" and (choosing := choosing_tokens(main, look)):
                table["choosing_token"] = cells(choosing, longest)[place]
        else:
            names = main.names.get(axis, range(shape[axes.index(axis)]))
            table[axis.replace(" ", "_")] = cells(names, longest)[place]
    for name, array in fits.items():
        values = np.asarray(array.array())[tuple(places[axes.index(axis)] for axis in array.axes)]
        table[column(name)] = cells([*map(str, values)], longest) if values.dtype.kind in "UO" else values
    frame = pd.DataFrame(table)
    frame["provenance"] = pd.Series([as_cell(about.where)], dtype=object)
    return ("\ufeff" + frame.to_csv(index=False, lineterminator="\r\n", quoting=QUOTE_NONNUMERIC)).encode()


def left_out(arrays: dict[str, Numbers], look: Look | None) -> str:
    """Return a sentence on the numbers of the picture that the files leave out; "" if they contain all."""
    few, in_csv = limit_size(in_table(arrays), look, room(look) * MOST_ROWS)
    _, in_npz = limit_size(arrays, look, MOST_NUMBERS)
    rest = sorted(arrays.keys() - rows(few)[1].keys())
    largest = max(np.prod(array.shape) for array in few.values()) > room(look) * MOST_ROWS
    parts = [f"CSV: {in_csv}, because a spreadsheet holds {MOST_ROWS + 1:,} rows"] if in_csv else []
    parts += [f"of it the {MOST_ROWS:,} largest numbers"] if largest else []
    parts += [f"NPZ: {in_npz}"] if in_npz else []
    parts += [f"only the NPZ also holds {join_names([name.replace('_', ' ') for name in rest])}"] if rest else []
    sentence = "; ".join(parts) + "." if parts else ""
    return sentence[:1].upper() + sentence[1:]


def join_names(names: Sequence[str]) -> str:
    """Join names for a sentence: "x, y and z"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def npz(picture: Picture, about: Caption) -> bytes:
    """Return an NPZ file with the arrays, the tokens, and in JSON `metadata` (caption, model, texts, options, and the axes of
    each array) and `provenance` (see `ui.picture.provenance`).

    `numpy.load(…, allow_pickle=False)` reads it. An array of more than 2**24 numbers is cut to the chosen layer, or the chosen
    head. A token that is far longer than usual ends in “…” in the array of tokens; `metadata` has all of it.
    """
    look = picture.look
    bounded_arrays, note = limit_size(numbers(picture), look, MOST_NUMBERS)
    contents: dict[str, Any] = {name: np.asarray(array.array()) for name, array in bounded_arrays.items()}
    axes = {
        name: {"axes": array.axes, **{axis: list(map(plain, names)) for axis, names in array.names.items()}}
        for name, array in bounded_arrays.items()
    }
    tokens = {}
    for array in bounded_arrays.values():
        for axis in array.axes:
            if axis in SIDES and f"{SIDES[axis]}tokens" not in contents:
                positions, texts = side(array, axis, look)
                contents[f"{SIDES[axis]}positions"] = positions
                contents[f"{SIDES[axis]}tokens"] = as_array(texts)
                tokens[f"{SIDES[axis]}tokens"] = texts  # NumPy's strings drop a NUL at their end
                if axis == "from" and (choosing := choosing_tokens(array, look)):
                    contents["choosing_tokens"], tokens["choosing_tokens"] = as_array(choosing), choosing
    metadata = {
        "caption": str(about),
        "models": [display_name(read.model.info.name) for read in picture.looks],
        "texts": list(about.texts),
        **({} if picture.title or look is None else place_of(look)),
        "options": {**picture.options, **(look.scope.options if look and "seen" in picture.takes else {})},
        "arrays": axes,
        "tokens": tokens,
        "left out": note,
    }
    file = io.BytesIO()
    np.savez_compressed(
        file, metadata=np.array(json.dumps(metadata, default=plain)), provenance=np.array(as_json(about.where)), **contents
    )
    return file.getvalue()


def place_of(look: Look) -> dict[str, Any]:
    return {"layer": look.number(look.layer), "head": look.head, "attention": look.kind}


def room(look: Look | None) -> int:
    """Return how many numbers of an array make one row of the CSV: two for a causal model, which masks half of the pairs."""
    return 2 if look and look.causal else 1


def side(array: Numbers, axis: str, look: Look | None) -> tuple[np.ndarray, list[str]]:
    """Return positions and texts of the tokens along an axis. A word has the position of its first token.

    The rows of cross-attention have the position of the token that was read in them; `choosing_tokens` returns the chosen tokens.
    """
    size = array.shape[array.axes.index(axis)]
    if axis in array.names:
        return np.arange(size), [str(name) for name in array.names[axis]]
    if look is None:
        return np.arange(size), [""] * size
    of = look.scope.keys if axis == "to" else look.scope.queries
    if len(of.tokens) == size:
        places = np.array([group[0] for group in of.groups], dtype=int)
        return places, [(token.after or token).text for token in of.tokens]
    every = look.scope.attention.keys if axis == "to" else look.scope.attention.queries
    return np.arange(size), [token.text for token in every] if len(every) == size else [""] * size


def choosing_tokens(array: Numbers, look: Look | None) -> list[str]:
    """Return the token that each row of cross-attention served to choose; nothing for other attention, or if the rows have other
    names.
    """
    if look is None or "from" in array.names or not look.scope.attention.chooses:
        return []
    of, size = look.scope.queries, array.shape[array.axes.index("from")]
    return [token.text for token in (of.tokens if len(of.tokens) == size else look.scope.attention.rows)]


def cells(names: Sequence[Any], longest: int) -> np.ndarray:
    """Return the names along an axis as cells: texts by `cell`, with at most so many characters, and numbers unchanged."""
    if any(isinstance(name, str) for name in names):
        return np.array([cell(cut(name, longest)) if isinstance(name, str) else name for name in names], dtype=object)
    return np.asarray(names)


def longest_of(count: int, most: int) -> int:
    """Return how long each token may be, so that all of them have about `most` characters."""
    return max(USUAL_LENGTH, most // max(1, count))


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def as_array(texts: Sequence[str]) -> np.ndarray:
    """Return tokens as a NumPy array of texts, in which each takes as much memory as the longest."""
    longest = longest_of(len(texts), MOST_IN_ARRAY)
    return np.array([cut(text, longest) for text in texts], dtype=str)


def cell(text: str) -> str:
    """Return a token as a cell of a spreadsheet: never a formula, and only with characters that UTF-8 has.

    A spreadsheet that splits cells at semicolons or tabs ignores the quotation marks of a CSV, so a cell also begins after each
    semicolon, tab and line break in the token.
    """
    text = text.replace("\0", "\u2400").encode("utf-8", "replace").decode()
    parts = re.split(r"(?<=[;\t\r\n])", text)
    marked = [begins_formula(text), *map(begins_formula, parts[1:])]
    return "".join("'" + part if mark else part for part, mark in zip(parts, marked, strict=True))


def begins_formula(part: str) -> bool:
    """Return whether a spreadsheet would take a cell that begins with this text for a formula, or its ' for one that we added.

    A quotation mark is written twice; at the front of a cell this reads as an empty quoted text, so the cell begins after it.
    """
    first = next((sign for sign in part if sign != '"' and not is_invisible(sign)), "")
    return bool(first) and unicodedata.normalize("NFKC", first)[0] in "=+-@'"


def is_invisible(sign: str) -> bool:
    """Return whether a spreadsheet may skip a character at the front of a cell: spaces, signs without a shape, blank letters."""
    return sign.isspace() or sign in BLANK or unicodedata.category(sign)[0] in "CMZ"


def column(name: str) -> str:
    return "weight" if name == "weights" else name.replace(" ", "_")


def plain(value: Any) -> Any:
    """Convert NumPy's numbers to Python's, for JSON."""
    return value.item() if isinstance(value, np.generic) else value.tolist() if isinstance(value, np.ndarray) else value
