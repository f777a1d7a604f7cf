"""Recipes for the pictures of this page: each takes a model, a trace, a stack, a layer, and options with literal values.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from analysis import inside
from models.language_model import LanguageModel
from models.trace import Trace
from viz import View, grid_view, prediction_bars, token_chips
from viz.numbers import whole_percent
from viz.tokens import plain_sign
from viz.views.sum_view import Product, sum_view
from viz.views.way_view import Stop, way_view

CLEAR = 99.0  # per cent of the numbers that stay within the colours
SHARES = "softmax"  # the formula of shares, which are coloured up to the largest
LINES = 8  # products that are shown one by one
OUTCOMES = ("vocabulary", "label")  # axes of what the model may choose
SQUARES = 16  # of a row of numbers, for beginners
SINGLE = ("token", "query", "key", "source", *OUTCOMES)  # axes whose every number means something by itself
FEW = 12  # columns up to which a cell has room for its number
MASKED = "hidden by the mask"
LOWEST = -1e8  # a score below this is masked; some models do so with a number


def way_of(model: LanguageModel, trace: Trace, stack: str, layer: int, around: int, ends: list[int] | None = None) -> inside.Way:
    return inside.follow(model, trace, layer, stack=stack, around=around, ends=ends)


def strip(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    layer: int,
    around: int,
    head: int,
    stops: list[list[str]],
    chosen: str,
    joined: bool = False,
    way: inside.Way | None = None,
) -> View:
    """Draw all stages at a glance. stops: key, name and group of each; around: the token whose numbers
    the strips of colour show; joined: whether neighbouring numbers share a square."""
    stages = {stage.name: stage for stage in (way or way_of(model, trace, stack, layer, around, [around])).stages}
    heads = trace.attention[stack].heads
    drawn_stops = [
        Stop(key, name, values=row(stages.get(key), around, head, heads, joined), group=group) for key, name, group in stops
    ]
    return way_view(drawn_stops, chosen, strip=True, label="All stages")


def row(stage: inside.Stage | None, token: int, head: int, heads: int, joined: bool = False) -> np.ndarray | None:
    """Return the numbers of a stage for a token and for one of `heads` heads; None for a stage without numbers. joined: the
    strongest of neighbouring numbers in their place, where there are many."""
    if stage is None or not known(stage):
        return None
    at = nearest(stage, token)
    values = plane(stage, [at], layer_of(stage, head, heads))
    return (peaks(values) if joined and in_squares(stage, values.shape[1]) else values)[0]


def in_squares(stage: inside.Stage, count: int) -> bool:
    """Return whether a beginner sees a row of `count` numbers as a few squares."""
    return stage.axes[-1] not in SINGLE and count > SQUARES


def members(count: int) -> list[list[int]]:
    """Return the neighbouring numbers, out of `count`, that each square stands for."""
    return [part.tolist() for part in np.array_split(np.arange(count), SQUARES)]


def peaks(values: np.ndarray) -> np.ndarray:
    """Return the strongest number of each square, the one furthest from 0: [row, square]."""
    parts = [values[:, part] for part in members(values.shape[1])]
    return np.stack([part[np.arange(len(part)), np.abs(part).argmax(1)] for part in parts], axis=1)


def stacked(stage: inside.Stage) -> bool:
    """Return whether a stage has numbers for each head or for each expert in use."""
    return stage.row_axis == 1


def layer_of(stage: inside.Stage, head: int, heads: int) -> int:
    """Return the index of a stage's head for a query head, since several query heads may share one; 0 for experts."""
    if not stacked(stage) or stage.axes[0] != "head":
        return 0
    return head * len(stage.rows(np.array([nearest(stage, 0)]))) // heads


def known(stage: inside.Stage) -> bool:
    """Return whether a stage has numbers at all."""
    return stage.recorded is not None or stage.rule is not None


def nearest(stage: inside.Stage, token: int) -> int:
    """Return the position of a stage that is nearest to a token."""
    positions = stage.positions if stage.positions is not None else np.array([0])
    return int(positions[np.abs(positions - token).argmin()])


def matrix(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    layer: int,
    around: int,
    head: int,
    stage: str,
    rows: list[int],
    columns: list[int],
    row_names: list[str],
    column_names: list[str],
    down: str,
    across: str,
    chosen: tuple[int, int],
    whole: bool = False,
    hides: bool = False,
    way: inside.Way | None = None,
) -> View:
    """Draw a stage's numbers as colours. rows: positions in the text; columns: which of the numbers of each are shown; whole:
    whether they are written in whole per cent; hides: whether the places that the mask hides later are left empty."""
    way = way or way_of(model, trace, stack, layer, around)
    drawn = stage_of(way, stage)
    values = plane(drawn, rows, head)[:, columns]
    if (hidden := masked(way, drawn, rows, head, hides)) is not None:
        values = np.where(hidden[:, columns], np.nan, values)
    limit, signed = clear_limit(values, 100.0 if drawn.formula == SHARES else CLEAR)
    write = short_percent if whole else writer_of(drawn)
    beyond = bool((np.abs(values[np.isfinite(values)]) > limit).any())
    low, high = (
        f"{'≤ ' if beyond and signed else ''}{write(-limit if signed else 0.0)}",
        f"{'≥ ' if beyond else ''}{write(limit)}",
    )
    return grid_view(
        np.where(np.isfinite(values), values, np.nan),
        row_names,
        column_names,
        down=down,
        across=across,
        scale=(-limit if signed else 0.0, limit),
        ends=(low, high),
        signed=signed,
        chosen=chosen,
        blank=MASKED,
        cell=(3, 46),
        height=20,
        texts=[["" if np.isnan(value) else write(value) for value in line] for line in values] if len(columns) <= FEW else None,
        row_names=[f"{down} {name}," for name in row_names],
        column_names=[f"{across} {name}" for name in column_names],
        label=f"{stage}: {len(rows)} × {len(columns)} numbers",
    )


def numbers(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    layer: int,
    around: int,
    head: int,
    stage: str,
    at: int,
    columns: list[int],
    name: str,
    column_names: list[str],
    chosen: int,
    hides: bool = False,
    way: inside.Way | None = None,
) -> View:
    """Draw a row of a stage, number by number. hides: as of `matrix`."""
    way = way or way_of(model, trace, stack, layer, around)
    values = plane(stage_of(way, stage), [at], head)[:, columns]
    if hides and (hidden := masked(way, stage_of(way, stage), [at], head, hides)) is not None:
        values = np.where(hidden[:, columns], np.nan, values)
    limit, signed = float(np.abs(values[np.isfinite(values)]).max(initial=0)) or 1.0, bool((values < 0).any())
    write = writer_of(stage_of(way, stage))
    return grid_view(
        np.where(np.isfinite(values), values, np.nan),
        [name],
        column_names,
        scale=(-limit if signed else 0.0, limit),
        signed=signed,
        texts=[["" if np.isnan(value) else write(value) for value in values[0]]],
        chosen=(0, chosen),
        blank=MASKED,
        cell=(52, 64),
        height=26,
        label=f"{stage}: the row of {name}",
    )


def softmax_row(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    layer: int,
    around: int,
    head: int,
    stage: str,
    at: int,
    columns: list[int],
    names: list[str],
    column_names: list[str],
    chosen: int,
    way: inside.Way | None = None,
) -> View:
    """Draw the softmax over a row in three lines: the scores, e to the power of each less the largest, and the shares. names: the
    names of the lines."""
    way = way or way_of(model, trace, stack, layer, around)
    steps = softmax_steps(way, stage_of(way, stage), at, head)
    assert steps is not None, "the shares are those of the scores"
    values = steps[:, columns]
    values[:, values[1] == 0] = np.nan
    low, high = np.nanmin(values[0]), np.nanmax(values[0])
    shades = np.stack([(values[0] - low) / ((high - low) or 1.0), values[1], values[2]])
    return grid_view(
        values,
        names,
        column_names,
        shades=shades,
        ends=("small in its row", "large"),
        texts=[
            ["" if np.isnan(value) else f"{value:.{places}f}".replace("-", "−") for value in line]
            for line, places in zip(values, (2, 3, 3), strict=True)
        ],
        chosen=(2, chosen) if chosen >= 0 else None,
        blank=MASKED,
        cell=(58, 64),
        height=26,
        label=f"{stage}: the softmax of a row",
    )


def softmax_steps(way: inside.Way, stage: inside.Stage, at: int, head: int) -> np.ndarray | None:
    """Return the scores of a row, e to the power of each less the largest, and these divided by their sum: [3, number]. None
    where the shares are not made of the scores alone, as with a sink."""
    scores = next((each for each in way.stages if stage.inputs and each.name == stage.inputs[0]), None)
    if stage.formula != SHARES or scores is None or not known(scores) or scores.axes != stage.axes:
        return None
    before, shares = plane(scores, [at], head)[0].astype(np.float64), plane(stage, [at], head)[0]
    powers = np.exp(before - before.max())
    steps = np.stack([before, powers, powers / powers.sum()])
    return steps if np.allclose(steps[2], shares, atol=1e-4) else None


def clear_limit(values: np.ndarray, clear: float = CLEAR) -> tuple[float, bool]:
    """Return the size of a number that has the strongest colour, and whether any is below zero. clear: per cent of the numbers
    that do not exceed it."""
    finite = np.abs(values[np.isfinite(values)])
    limit = float(np.percentile(finite, clear)) if finite.size else 1.0
    return limit or float(finite.max(initial=0)) or 1.0, bool((values < 0).any())


def glimpse(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    layer: int,
    around: int,
    head: int,
    stages: list[str],
    at: int,
    columns: list[int],
    names: list[str],
    column_names: list[str],
    across: str,
    chosen: int,
    joined: bool = False,
    others: Sequence[int] = (),
    sources: Sequence[tuple[str, int, int]] = (),
    way: inside.Way | None = None,
) -> View:
    """Draw the row of a token as a strip of colours without words in it; one below the other for several stages. joined: a square
    for the strongest of neighbouring numbers; columns and chosen are then squares. others: positions of tokens whose rows of the
    last stage are drawn below. sources: rows of other stages below these, each by stage, position and head."""
    followed = way or way_of(model, trace, stack, layer, around)
    whole = [plane(stage_of(followed, name), [at], head) for name in stages]
    whole += [plane(stage_of(followed, stages[-1]), [other], head) for other in others]
    whole += [plane(stage_of(followed, name), [position], of_head) for name, position, of_head in sources]
    values = np.concatenate([(peaks(each) if joined else each)[:, columns] for each in whole])
    every = joined or stage_of(followed, stages[-1]).formula == SHARES
    limit, signed = clear_limit(values, 100.0 if every else CLEAR)
    is_short = len(columns) <= FEW
    return grid_view(
        np.where(np.isfinite(values), values, np.nan),
        names,
        column_names if is_short else [""] * len(columns),
        scale=(-limit if signed else 0.0, limit),
        ends=("below zero" if signed else "zero", "above zero" if signed else "large"),
        signed=signed,
        chosen=(len(stages) - 1, chosen) if chosen >= 0 else None,
        cell=(12, 40) if joined else (1, 64),
        height=30 if joined else 26,
        texts=[[written(value) for value in line] for line in values] if is_short else None,
        column_names=[f"{across} {name}".strip() for name in column_names],
        label=f"{stages[-1]}: a strip of {len(columns)} {'squares' if joined else 'numbers'}",
    )


def products(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    layer: int,
    around: int,
    stage: str,
    index: tuple[int, ...],
    name: str,
    labels: list[str],
    factors: tuple[str, str],
    trail: list[str],
    way: inside.Way | None = None,
) -> View:
    """Draw the sum behind a number: the largest terms first, the others in one line. labels: of the terms that are shown."""
    cell = (way or way_of(model, trace, stack, layer, around)).explain(stage, index)
    terms, others = largest(cell)
    if stage == "choice":
        best = [Product(labels[0], cell.value, cell.facts["probability"], 1.0, (terms[0].source is not None, False))]
        return sum_view(name, cell.value, best, left=factors[0], right=factors[1], trail=trail, lookup=True)
    rest = (len(others), float(sum(term.product for term in others))) if others else None
    rows = [
        Product(label, term.product, term.left, term.right, (term.source is not None, term.other is not None))
        for label, term in zip(labels, terms, strict=True)
    ]
    return sum_view(name, cell.value, rows, rest, left=factors[0], right=factors[1], trail=trail)


def largest(cell: inside.Cell) -> tuple[Sequence[inside.Term], Sequence[inside.Term]]:
    """Return the terms that are shown one by one, the largest first, and the others."""
    order = cell.ranked
    most = LINES if len(order) > LINES + 1 else len(order)
    return order[:most], order[most:]


def stage_of(way: inside.Way, name: str) -> inside.Stage:
    return next(stage for stage in way.stages if stage.name == name)


def masked(way: inside.Way, stage: inside.Stage, positions: list[int], head: int, before: bool = False) -> np.ndarray | None:
    """Return which weights of attention the mask hides, [position, key]; None for other stages, and where none is hidden. before:
    whether it is asked too of the scores, of which the mask takes these places away in a later step."""
    prefix = "cross " if stage.name.startswith("cross ") else ""
    if before and stage.axes[-2:] == ("query", "key") and stage.formula not in (SHARES, "mask"):
        weights = next((each for each in way.stages if each.name == f"{prefix}weights"), None)
        return None if weights is None else masked(way, weights, positions, head)
    if not stage.name.endswith("weights") or not stage.inputs:
        return None
    scores = next((each for each in way.stages if each.name == stage.inputs[0]), None)
    if scores is None or not known(scores) or scores.axes != stage.axes:
        return None
    hidden = plane(scores, positions, head) < LOWEST
    return hidden if hidden.any() else None


def plane(stage: inside.Stage, positions: list[int], head: int) -> np.ndarray:
    """Return the numbers of a stage at some positions, for one head if it has several: [position, number]."""
    values = stage.rows(np.array(positions))
    return (values[head] if stacked(stage) else values).reshape(len(positions), -1)


def chips(trace: Trace, *, stack: str, tokens: list[str], chosen: int) -> View:
    """Draw the tokens of a stack with their ids and positions. tokens: as they are written."""
    read = trace.target if stack == "decoder" else trace.tokens
    named = [replace(token, text=text) for text, token in zip(tokens, read, strict=True)]
    return token_chips(named, chosen, positions=True)


def choice(model: LanguageModel, trace: Trace, *, token: int, top: int, plainly: bool) -> View:
    """Draw the likeliest tokens, or labels, at a position."""
    logits = trace.scores_at(token)
    assert logits is not None, "a model without a head has no such stage"
    best = model.top(logits, token, top)
    ids = [prediction.id for prediction in best]
    return prediction_bars(
        [plain_sign(prediction.text) if plainly else prediction.text for prediction in best],
        [prediction.probability for prediction in best],
        ids=ids,
        logits=None if plainly else [float(logits[id]) for id in ids],
        whole=plainly,
        marked=0,
    )


def short_percent(value: float) -> str:
    """Format a share for a cell, in whole per cent."""
    return whole_percent(value).replace("under ", "<").replace("over ", ">")


def writer_of(stage: inside.Stage) -> Callable[[float], str]:
    """Return the function that writes the numbers of a stage: shares have the same places, so that they can be compared."""
    return (lambda value: f"{value:.3f}") if stage.formula == SHARES else written


def written(value: float) -> str:
    """Format a number for a cell, with at most three significant digits."""
    if not np.isfinite(value):
        return "−∞" if value < 0 else "–"
    size = abs(value)
    places = 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2 if size >= 0.1 else 3 if size >= 0.01 else 4
    return f"{value:.{places}f}".replace("-", "−")
