"""Recipes for the pictures of this part: each takes a model, a trace, an order of its words, and options with literal values.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

import numpy as np

from analysis.word_order import BothOrders, read_orders, word_spans
from models.language_model import LanguageModel
from models.trace import Trace
from viz import View, grid_view, order_view, prediction_bars
from viz.tokens import plain_sign

LEAST = 1e-5  # a change that has no colour, and is rounding


def words(trace: Trace, *, order: list[int], changed: list[int]) -> View:
    """Draw the words in their order. changed: words whose pieces have changed."""
    return order_view([trace.text[slice(*span)] for span in word_spans(trace.text)], order, changed)


def read(model: LanguageModel, trace: Trace, order: list[int], second: str, positions: bool) -> BothOrders:
    """Read the text in both orders, with the model's positions or without them."""
    return read_orders(model if positions else model.without_positions(), trace.text, order, second)


def prediction(
    model: LanguageModel,
    trace: Trace,
    *,
    order: list[int],
    second: str,
    positions: bool,
    at: tuple[int, int],
    top: int,
    plainly: bool,
    reading: BothOrders | None = None,
) -> View:
    """Draw the predictions as typed and in the other order. at: the position in each; top: how many of the likeliest of both."""
    before, after = (reading or read(model, trace, order, second, positions)).probabilities(*at)
    best = likeliest(before, after, top)
    names = [plain_sign(text) if plainly else text for text in map(model.token_text, best)]
    return prediction_bars(names, after[best].tolist(), ids=best, whole=plainly, before=before[best].tolist())


def likeliest(before: np.ndarray, after: np.ndarray, top: int) -> list[int]:
    """Return the tokens that are likeliest in one of the two orders."""
    return np.argsort(-np.maximum(before, after), kind="stable")[:top].tolist()


def attention(
    model: LanguageModel,
    trace: Trace,
    *,
    order: list[int],
    second: str,
    positions: bool,
    moved: bool,
    kind: str,
    layer: int,
    head: int,
    causal: bool,
    rows: list[int],
    columns: list[int],
    row_names: list[str],
    column_names: list[str],
    down: str,
    across: str,
    chosen: int,
    label: str,
    reading: BothOrders | None = None,
) -> View:
    """Draw the map of a head, as typed, or of the other order (`moved`) with its rows and columns put back. rows, columns:
    positions in the text as typed; chosen: the row of the followed token."""
    both = (reading or read(model, trace, order, second, positions)).maps(kind, layer, head, causal)
    weights = both[moved][np.ix_(rows, columns)]
    place = (chosen, int(np.nan_to_num(weights[chosen], nan=-1).argmax())) if 0 <= chosen < len(rows) else None
    return grid_view(
        weights,
        row_names,
        column_names,
        down=down,
        across=across,
        unit="%",
        scale=(0.0, 1.0),
        cell=(13, 40),
        height=17,
        row_names=[f"from {name}" for name in row_names],
        column_names=[f"to {name}" for name in column_names],
        chosen=place,
        label=label,
    )


def vectors(
    model: LanguageModel,
    trace: Trace,
    *,
    order: list[int],
    second: str,
    positions: bool,
    stack: str,
    columns: list[int],
    row_names: list[str],
    column_names: list[str],
    across: str,
    exact: bool,
    label: str,
    reading: BothOrders | None = None,
) -> View:
    """Draw how far the vector of each token moved, after the embedding and after each block. Colours are logarithmic: from a
    hundred-thousandth of the vector's length, which is rounding, to its whole length. exact: with powers of ten beside the per
    cent."""
    changes = (reading or read(model, trace, order, second, positions)).changes(stack)[:, columns]
    size = np.log10(np.maximum(np.nan_to_num(changes), LEAST))
    return grid_view(
        changes,
        row_names,
        column_names,
        across=across,
        unit="%",
        shades=1 - size / np.log10(LEAST),
        ends=("the same", "100 % or more"),
        numbered=True,
        cell=(20, 46),
        height=24,
        label=label,
        notes=[[power(change) for change in row] for row in changes] if exact else None,
    )


def power(value: float) -> str:
    """Format a number with its power of ten: "4.2 · 10⁻⁷"."""
    if not np.isfinite(value) or value == 0:
        return ""
    digits, _, ten = f"{value:.1e}".partition("e")
    return f"{digits} · 10{str(int(ten)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
