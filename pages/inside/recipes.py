"""How each picture of this page is made: a model and what it read, a stack and a layer, and options that can be written down.

A notebook that is taken away carries these very functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis import inside
from models.language_model import LanguageModel
from models.trace import Trace
from viz import View, grid_view, prediction_bars, token_chips
from viz.tokens import plain_sign
from viz.views.sum_view import Product, sum_view
from viz.views.way_view import Stop, way_view

CLEAR = 99.0  # per cent of the numbers that stay within the colours
LINES = 8  # products that are shown one by one
OUTCOMES = ("vocabulary", "label")  # axes of what the model may choose
FEW = 12  # columns up to which a cell has room for its number


def way_of(model: LanguageModel, trace: Trace, stack: str, layer: int, around: int, ends: list[int] | None = None) -> inside.Way:
    return inside.follow(model, trace, layer, stack=stack, around=around, ends=ends)


def strip(
    model: LanguageModel, trace: Trace, *, stack: str, layer: int, around: int, head: int, stops: list[list[str]], chosen: str,
    way: inside.Way | None = None,
) -> View:  # fmt: skip
    """All stages at a glance. stops: key, name and group of each; around: the token whose numbers the strips of colour are."""
    found = {one.name: one for one in (way or way_of(model, trace, stack, layer, around, [around])).stages}
    heads = trace.attention[stack].heads
    made = [Stop(key, name, values=row(found.get(key), around, head, heads), group=group) for key, name, group in stops]
    return way_view(made, chosen, strip=True, label="All stages")


def row(stage: inside.Stage | None, token: int, head: int, heads: int) -> np.ndarray | None:
    """The numbers of a stage that belong to a token and to a head, one of so many; None of a stage that has none."""
    if stage is None or not known(stage):
        return None
    at = nearest(stage, token)
    return plane(stage, [at], layer_of(stage, head, heads))[0]


def stacked(stage: inside.Stage) -> bool:
    """Whether a stage has its numbers several times, for each head or for each expert that is used."""
    return stage.row_axis == 1


def layer_of(stage: inside.Stage, head: int, heads: int) -> int:
    """Which of its heads belongs to a head of queries, of which several may share one; of experts the first."""
    if not stacked(stage) or stage.axes[0] != "head":
        return 0
    return head * len(stage.rows(np.array([nearest(stage, 0)]))) // heads


def known(stage: inside.Stage) -> bool:
    """Whether a stage has numbers at all."""
    return stage.recorded is not None or stage.rule is not None


def nearest(stage: inside.Stage, token: int) -> int:
    """The position that a stage shows which is nearest to one."""
    shown = stage.positions if stage.positions is not None else np.array([0])
    return int(shown[np.abs(shown - token).argmin()])


def matrix(
    model: LanguageModel, trace: Trace, *, stack: str, layer: int, around: int, head: int, stage: str, rows: list[int],
    columns: list[int], row_names: list[str], column_names: list[str], down: str, across: str, chosen: tuple[int, int],
    way: inside.Way | None = None,
) -> View:  # fmt: skip
    """A stage's numbers as colours. rows: positions in the text; columns: which of the numbers of each are shown."""
    values = plane(stage_of(way or way_of(model, trace, stack, layer, around), stage), rows, head)[:, columns]
    known = np.abs(values[np.isfinite(values)])
    limit, signed = float(np.percentile(known, CLEAR)) if known.size else 1.0, bool((values < 0).any())
    limit = limit or float(known.max(initial=0)) or 1.0
    beyond = bool(known.size and known.max() > limit)
    low, high = (
        f"{'≤ ' if beyond and signed else ''}{written(-limit if signed else 0.0)}",
        f"{'≥ ' if beyond else ''}{written(limit)}",
    )
    return grid_view(
        np.where(np.isfinite(values), values, np.nan), row_names, column_names, down=down, across=across,
        scale=(-limit if signed else 0.0, limit), ends=(low, high), signed=signed, chosen=chosen, cell=(3, 46), height=20,
        texts=[[written(value) for value in one] for one in values] if len(columns) <= FEW else None,
        row_names=[f"{down} {name}," for name in row_names], column_names=[f"{across} {name}" for name in column_names],
        label=f"{stage}: {len(rows)} × {len(columns)} numbers",
    )  # fmt: skip


def numbers(
    model: LanguageModel, trace: Trace, *, stack: str, layer: int, around: int, head: int, stage: str, at: int,
    columns: list[int], name: str, column_names: list[str], chosen: int, way: inside.Way | None = None,
) -> View:  # fmt: skip
    """One row of a stage, number by number."""
    values = plane(stage_of(way or way_of(model, trace, stack, layer, around), stage), [at], head)[:, columns]
    limit, signed = float(np.abs(values[np.isfinite(values)]).max(initial=0)) or 1.0, bool((values < 0).any())
    return grid_view(
        np.where(np.isfinite(values), values, np.nan), [name], column_names, scale=(-limit if signed else 0.0, limit),
        signed=signed, texts=[[written(value) for value in values[0]]], chosen=(0, chosen), cell=(52, 64), height=26,
        label=f"{stage}: the row of {name}",
    )  # fmt: skip


def products(
    model: LanguageModel, trace: Trace, *, stack: str, layer: int, around: int, stage: str, index: tuple[int, ...],
    name: str, labels: list[str], factors: tuple[str, str], trail: list[str], way: inside.Way | None = None,
) -> View:  # fmt: skip
    """How a number came about: the largest terms first, the others in one line. labels: of the terms that are shown."""
    found = (way or way_of(model, trace, stack, layer, around)).explain(stage, index)
    shown, others = largest(found)
    rest = (len(others), float(sum(one.product for one in others))) if others else None
    made = [
        Product(label, one.product, one.left, one.right, (one.source is not None, one.other is not None))
        for label, one in zip(labels, shown, strict=True)
    ]
    return sum_view(name, found.value, made, rest, left=factors[0], right=factors[1], trail=trail)


def largest(cell: inside.Cell) -> tuple[list[inside.Term], list[inside.Term]]:
    """The terms that are shown one by one, the largest first, and the others."""
    order = sorted(cell.terms, key=lambda one: -abs(one.product))
    most = LINES if len(order) > LINES + 1 else len(order)
    return order[:most], order[most:]


def stage_of(way: inside.Way, name: str) -> inside.Stage:
    return next(one for one in way.stages if one.name == name)


def plane(stage: inside.Stage, positions: list[int], head: int) -> np.ndarray:
    """The numbers of a stage at some positions, of one head where it has several: [position, number]."""
    values = stage.rows(np.array(positions))
    return (values[head] if stacked(stage) else values).reshape(len(positions), -1)


def chips(trace: Trace, *, stack: str, tokens: list[str], chosen: int) -> View:
    """The tokens of a stack with their ids and positions. tokens: as they are written."""
    read = trace.target if stack == "decoder" else trace.tokens
    named = [replace(token, text=text) for text, token in zip(tokens, read, strict=True)]
    return token_chips(named, chosen, positions=True)


def choice(model: LanguageModel, trace: Trace, *, token: int, top: int, plainly: bool) -> View:
    """The likeliest tokens, or labels, at a position."""
    logits = trace.scores_at(token)
    assert logits is not None, "a model without a head has no such stage"
    best = model.top(logits, token, top)
    ids = [one.id for one in best]
    return prediction_bars(
        [plain_sign(one.text) if plainly else one.text for one in best], [one.probability for one in best], ids=ids,
        logits=None if plainly else [float(logits[id]) for id in ids], percent=not plainly, marked=0,
    )  # fmt: skip


def written(value: float) -> str:
    """A number as it stands in a cell: three significant digits at the most."""
    if not np.isfinite(value):
        return "−∞" if value < 0 else "–"
    size = abs(value)
    places = 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2 if size >= 0.1 else 3 if size >= 0.01 else 4
    return f"{value:.{places}f}".replace("-", "−")
