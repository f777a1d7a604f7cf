"""The recipes of experiment "What wrote it": functions of a model, what it read, and options that are literals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis import as_written, head_sources, logit_attribution
from models.language_model import LanguageModel
from models.tokens import Token
from models.trace import Trace
from pages.change.recipes import read
from viz import View, grid_view, reading_view
from viz.views.prediction_bars import value_bars

if TYPE_CHECKING:
    import pandas as pd

STRONGEST = 8  # parts in the list, in which all others are one row
Row = tuple[str, int | None, int | None, float]  # part, layer, head, what it wrote


def rows_of(table: pd.DataFrame) -> list[Row]:
    """Return the rows of `logit_attribution`, with None where there is no layer or head."""
    return list(table.astype(object).where(table.notna(), None).itertuples(index=False, name=None))


def contributions(
    model: LanguageModel, trace: Trace, position: int, token: int, against: int | None, changes: str, second: str, other: str
) -> pd.DataFrame:
    """Return the contribution of each part, with the changes."""
    return logit_attribution(model, read(model, trace, changes, second, other), token, position, against)


def columns_of(rows: list[Row]) -> list[tuple[str, int | None]]:
    """Return the part and head of each column of the board; parts other than heads and feed-forwards share the last."""
    heads = sorted({(part, head) for part, _, head, _ in rows if head is not None})
    return [*heads, ("feedforward", None), ("rest", None)]


def board_of(rows: list[Row]) -> np.ndarray:
    """Return the contributions, [layers + 2, column]: a row for the start, for each layer, and for the end; NaN for none."""
    columns, layers = columns_of(rows), 1 + max((layer for _, layer, _, _ in rows if layer is not None), default=-1)
    values = np.full((layers + 2, len(columns)), np.nan)
    for part, layer, head, value in rows:
        row = 0 if part == "embedding" else layers + 1 if layer is None else layer + 1
        at = row, columns.index((part, head) if (part, head) in columns else ("rest", None))
        values[at] = np.nansum([values[at], value])
    return values


def name_of(row: Row, names: dict[str, str], numbers: Sequence[int]) -> str:
    """Return the name of a part. names: the words for each kind of part at a level; numbers: of the layers in the network."""
    part, layer, head, _ = row
    own = part in ("embedding", "bias", "feedforward")
    kind = part if own else "rest" if head is None else "cross" if part == "cross" else "head"
    return names[kind].format(layer=None if layer is None else numbers[layer], head=head)


def short_name(row: Row, names: dict[str, str], numbers: Sequence[int]) -> str:
    """Return the name of a part by its row and column on the board, for a narrow list."""
    part, layer, head, _ = row
    if layer is None:
        return names["start" if part == "embedding" else "end"]
    last = "feedforward column" if part == "feedforward" else "rest column"
    return f"L{numbers[layer]} {names[last] if head is None else f'X{head}' if part == 'cross' else f'H{head}'}"


def written(value: float) -> str:
    """Format a value with two decimals, as in the list."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def board(
    model: LanguageModel,
    trace: Trace,
    *,
    position: int,
    token: int,
    against: int | None,
    changes: str,
    second: str,
    other: str,
    names: dict[str, str],
    chosen: tuple[int, int],
    table: pd.DataFrame | None = None,
) -> View:
    """Return the board: a row for each layer, a column for each head, the feed-forward, and the rest, with running sums."""
    table = contributions(model, trace, position, token, against, changes, second, other) if table is None else table
    rows = rows_of(table)
    values, columns = board_of(rows), columns_of(rows)
    most = float(np.nanmax(np.abs(values))) or 1.0
    totals = np.cumsum(np.nansum(values, 1))
    layers = trace.numbers[: len(values) - 2]
    short = [f"{'X' if part == 'cross' else 'H'}{head}" for part, head in columns[:-2]]
    head_names = [f"{names['cross column' if part == 'cross' else 'column']} {head}" for part, head in columns[:-2]]
    last = [names["feedforward column"], names["rest column"]]
    return grid_view(
        values,
        [names["start"], *(f"L{layer}" for layer in layers), names["end"]],
        [*short, *last],
        row_names=[names["start"], *(f"layer {layer}" for layer in layers), names["end"]],
        column_names=[*head_names, *last],
        row_notes=[f"= {written(total)}" for total in totals],
        signed=True,
        scale=(-most, most),
        unit=names["unit"],
        chosen=chosen,
        cell=(20, 44),
        height=28,
        numbered=True,
        label="What each part wrote",
    )


def strongest(
    model: LanguageModel,
    trace: Trace,
    *,
    position: int,
    token: int,
    against: int | None,
    changes: str,
    second: str,
    other: str,
    names: dict[str, str],
    table: pd.DataFrame | None = None,
) -> View:
    """Return bars of the parts that wrote most, for or against, then of all others as one; the digits on screen add up."""
    table = contributions(model, trace, position, token, against, changes, second, other) if table is None else table
    rows = sorted(rows_of(table), key=lambda row: -abs(row[3]))
    labels = [short_name(row, names, trace.numbers) for row in rows[:STRONGEST]]
    values = [round(row[3], 2) for row in rows[:STRONGEST]]
    if len(rows) > STRONGEST:
        labels.append(names["others"].format(count=len(rows) - STRONGEST))
        values.append(round(sum(row[3] for row in rows), 2) - sum(values))
    return value_bars(labels, values, (names["parts"], names["unit"]), label="The parts that wrote most", still=True, signed=True)


def tokens_read(trace: Trace, kind: str, second: str) -> list[Token]:
    """Return the tokens that a head looked at, as they are read."""
    keys = trace.attention[kind].keys
    return as_written(keys, *([second] if kind == "decoder" else [trace.text, second]))


def sources(
    model: LanguageModel,
    trace: Trace,
    *,
    position: int,
    token: int,
    against: int | None,
    changes: str,
    second: str,
    other: str,
    kind: str,
    layer: int,
    head: int,
    unit: str,
    changed: Trace | None = None,
) -> View:
    """Return the text that a head looked at, each token coloured by what the head wrote because of it."""
    changed = read(model, trace, changes, second, other) if changed is None else changed
    amounts = head_sources(model, changed, layer, head, token, position, against, kind)
    tokens = tokens_read(changed, kind, second)
    return reading_view(tokens, None, int(np.abs(amounts).argmax()), True, quantity=amounts, unit=unit, diverging=True)
