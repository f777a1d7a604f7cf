"""How each picture of experiment "What wrote it" is made: a model, what it read, and options that can be written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis import as_written, head_sources, logit_attribution
from models.language_model import LanguageModel
from models.tokens import Token
from models.trace import Trace
from pages.change.recipes import read
from viz import View, grid_view, reading_view
from viz.tokens import plain_signs
from viz.views.prediction_bars import value_bars

if TYPE_CHECKING:
    import pandas as pd

STRONGEST = 8  # parts in the list; all others are one row of it
Row = tuple[str, int | None, int | None, float]  # part, layer, head, what it wrote


def rows_of(table: pd.DataFrame) -> list[Row]:
    """The rows of `logit_attribution`, with None where there is no layer or head."""
    return list(table.astype(object).where(table.notna(), None).itertuples(index=False, name=None))


def contributions(
    model: LanguageModel, trace: Trace, position: int, token: int, against: int | None, changes: str, second: str, other: str
) -> pd.DataFrame:
    """What each part wrote, with the changes."""
    return logit_attribution(model, read(model, trace, changes, second, other), token, position, against)


def columns_of(rows: list[Row]) -> list[tuple[str, int | None]]:
    """Part and head of each column of the board; what is no head and no feed-forward is in the last."""
    heads = sorted({(part, head) for part, _, head, _ in rows if head is not None})
    return [*heads, ("feedforward", None), ("rest", None)]


def board_of(rows: list[Row]) -> np.ndarray:
    """What was written [layers + 2, column]: a row for the start, for each layer, and for the end; NaN where nothing was."""
    columns, layers = columns_of(rows), 1 + max((layer for _, layer, _, _ in rows if layer is not None), default=-1)
    values = np.full((layers + 2, len(columns)), np.nan)
    for part, layer, head, value in rows:
        row = 0 if part == "embedding" else layers + 1 if layer is None else layer + 1
        at = row, columns.index((part, head) if (part, head) in columns else ("rest", None))
        values[at] = np.nansum([values[at], value])
    return values


def name_of(row: Row, names: dict[str, str]) -> str:
    """What a part is called. names: what each kind of part is called at a level."""
    part, layer, head, _ = row
    own = part in ("embedding", "bias", "feedforward")
    kind = part if own else "rest" if head is None else "cross" if part == "cross" else "head"
    return names[kind].format(layer=layer, head=head)


def short_name(row: Row, names: dict[str, str]) -> str:
    """The same by row and column of the board, for a list that has little room."""
    part, layer, head, _ = row
    if layer is None:
        return names["start" if part == "embedding" else "end"]
    last = "feedforward column" if part == "feedforward" else "rest column"
    return f"L{layer} {names[last] if head is None else f'X{head}' if part == 'cross' else f'H{head}'}"


def written(value: float) -> str:
    """Two digits behind the point, as the list has them."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def board(
    model: LanguageModel, trace: Trace, *, position: int, token: int, against: int | None, changes: str, second: str,
    other: str,     names: dict[str, str], chosen: tuple[int, int], table: pd.DataFrame | None = None,
) -> View:  # fmt: skip
    """A row a layer, a column a head, the feed-forward, and the rest; behind each row the sum of all so far."""
    table = contributions(model, trace, position, token, against, changes, second, other) if table is None else table
    rows = rows_of(table)
    values, columns = board_of(rows), columns_of(rows)
    most = float(np.nanmax(np.abs(values))) or 1.0
    totals = np.cumsum(np.nansum(values, 1))
    layers = range(len(values) - 2)
    short = [f"{'X' if part == 'cross' else 'H'}{head}" for part, head in columns[:-2]]
    called = [f"{names['cross column' if part == 'cross' else 'column']} {head}" for part, head in columns[:-2]]
    last = [names["feedforward column"], names["rest column"]]
    return grid_view(
        values, [names["start"], *(f"L{layer}" for layer in layers), names["end"]], [*short, *last],
        row_names=[names["start"], *(f"layer {layer}" for layer in layers), names["end"]], column_names=[*called, *last],
        row_notes=[f"= {written(total)}" for total in totals],
        signed=True, scale=(-most, most), unit=names["unit"], chosen=chosen, cell=(20, 44), height=28, numbered=True,
        label="What each part wrote",
    )  # fmt: skip


def strongest(
    model: LanguageModel, trace: Trace, *, position: int, token: int, against: int | None, changes: str, second: str,
    other: str,     names: dict[str, str], table: pd.DataFrame | None = None,
) -> View:  # fmt: skip
    """The parts that wrote most, for or against, then all others as one: the digits that stand there add up to the sum's."""
    table = contributions(model, trace, position, token, against, changes, second, other) if table is None else table
    rows = sorted(rows_of(table), key=lambda row: -abs(row[3]))
    labels, values = [short_name(row, names) for row in rows[:STRONGEST]], [round(row[3], 2) for row in rows[:STRONGEST]]
    if len(rows) > STRONGEST:
        labels.append(names["others"].format(count=len(rows) - STRONGEST))
        values.append(round(sum(row[3] for row in rows), 2) - sum(values))
    return value_bars(labels, values, (names["parts"], names["unit"]), label="The parts that wrote most", still=True)


def looked_at(trace: Trace, kind: str, second: str, simple: bool) -> list[Token]:
    """What a head looked at, as one reads it."""
    keys = trace.attention[kind].keys
    return as_written(plain_signs(keys) if simple else keys, *([second] if kind == "decoder" else [trace.text, second]))


def sources(
    model: LanguageModel, trace: Trace, *, position: int, token: int, against: int | None, changes: str, second: str,
    other: str,     kind: str, layer: int, head: int, unit: str, simple: bool, changed: Trace | None = None,
) -> View:  # fmt: skip
    """What a head wrote, as the text that it looked at: each token coloured by what its value brought."""
    changed = read(model, trace, changes, second, other) if changed is None else changed
    found = head_sources(model, changed, layer, head, token, position, against, kind)
    tokens = looked_at(changed, kind, second, simple)
    return reading_view(tokens, None, int(np.abs(found).argmax()), True, quantity=found, unit=unit)
