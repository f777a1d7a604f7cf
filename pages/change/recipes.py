"""The recipes of this page's pictures: functions of a model, what it read, and the changes in the text form of links.

A notebook that is downloaded carries these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from analysis import edge_effects, feedforward_means, head_effects, head_means, scope
from analysis.effects import skip_effects
from analysis.importance import part_of
from models.edits import Cut, Edit, Head, Part, Row, Skip, Temperature
from models.language_model import LanguageModel
from models.trace import Trace
from viz import View, head_view, prediction_bars
from viz.tokens import label, plain_sign, plain_signs
from viz.views.grid_view import grid_view

# h2.3 off, m2.3 mean, r2.3 as in another text, s2.3~1.5 strength, t2.3~0.5 temperature, f4 feed-forward, g4 its mean, b3 block;
# of query 5: c2.3.5.1 may not look at key 1, x5.1 the same in all heads, e2.3.5 its row made even, o2.3.5.4 its row as in head 4
CHANGE = re.compile(r"(?:([hmr])(\d{1,4})\.(\d{1,4})|([st])(\d{1,4})\.(\d{1,4})~(\d{1,3}(?:\.\d{1,3})?)|"
                    r"([co])(\d{1,4})\.(\d{1,4})\.(\d{1,6})\.(\d{1,6})|(e)(\d{1,4})\.(\d{1,4})\.(\d{1,6})|"
                    r"(x)(\d{1,6})\.(\d{1,6})|([fgb])(\d{1,4}))(?:@(encoder|decoder|cross))?")  # fmt: skip
PARTS = ("feedforward", "block")


# ---------------------------------------------------------------- what is changed


def parse(change: str) -> tuple[str, list[int], float, str]:
    """Return the letter of a change, its numbers, its value (NaN for none) and its kind of attention. Errors: ValueError."""
    match = CHANGE.fullmatch(change)
    if not match:
        raise ValueError(f"“{change}” is not a valid change.")
    *groups, kind = match.groups()
    letter, *numbers = (group for group in groups if group is not None)
    value = float(numbers.pop()) if letter in "st" else float("nan")
    return letter, [int(number) for number in numbers], value, kind or "self"


def edit_of(model: LanguageModel, trace: Trace, change: str, other: Trace | None = None) -> Edit:
    """Return a change as an edit of the model. A mean is that over the built-in sample of texts; other: another text, of as many
    tokens, from which a head's output is taken. Errors: ValueError, a sentence, for a change that does not fit."""
    letter, (layer, *rest), value, kind = parse(change)
    if letter in "fb":
        return Skip(layer, PARTS["fb".index(letter)], kind=kind)
    if letter == "g":
        means = feedforward_means(model, kind)
        return Part(
            layer, None, means[min(layer, len(means) - 1)], "feedforward", kind=kind
        )  # the model refuses a layer that it does not have
    if letter == "x":
        return Cut(layer, rest[0], kind=kind)
    if letter == "c":
        return Cut(rest[1], rest[2], layer, rest[0], kind=kind)
    if letter == "t":
        return Temperature(layer, rest[0], value, kind=kind)
    attention, head = trace.attention.get(kind), max(rest[0], rest[2] if letter == "o" else 0)
    if letter in "hs" or attention is None or layer >= attention.layers or head >= attention.heads:
        return Head(layer, head, value if letter == "s" else 0.0, kind=kind)  # the model refuses a head that it does not have
    if letter == "m":
        return Head(layer, rest[0], mean=head_means(model, kind)[layer, rest[0]], kind=kind)
    if letter == "r":
        return Head(layer, rest[0], mean=head_output(trace, other, layer, rest[0], kind), kind=kind)
    if rest[1] >= len(attention.queries):
        raise ValueError(f"There is no query {rest[1]}: the text has only {len(attention.queries)} tokens.")
    row = attention[layer][rest[0] if letter == "e" else rest[2], rest[1]]
    return Row(layer, rest[0], rest[1], (row > 0) / (row > 0).sum() if letter == "e" else row / row.sum(), kind=kind)


def head_output(trace: Trace, other: Trace | None, layer: int, head: int, kind: str) -> np.ndarray:
    """Return the output of a head in another text, position by position."""
    if other is None:
        raise ValueError("There is no other text to take the head’s output from. Write one.")
    ours, theirs = (len(reading.attention[kind].queries) for reading in (trace, other))
    if ours != theirs:
        raise ValueError(f"The other text has {theirs} tokens and this one has {ours}. Write one with {ours} tokens.")
    return other.attention[kind].out(layer)[head]


def read(model: LanguageModel, trace: Trace, changes: str, second: str, other: str = "") -> Trace:
    """Read the text again with the changes."""
    other_trace = model.trace(other, second, remember=False) if other else None
    edits = [edit_of(model, trace, change, other_trace) for change in changes.split(",") if change]
    return model.traces([trace.text], [edits], second)[0] if edits else trace


# ---------------------------------------------------------------- pictures


def stack_of(kind: str) -> str:
    """Return the stack whose blocks have this kind of attention."""
    return "decoder" if kind == "cross" else kind


def effects_of(
    model: LanguageModel, trace: Trace, kind: str, position: int, second: str, report: Callable[[float, str], None] | None = None
) -> np.ndarray:
    """Return the change of the likeliest token's log-probability without each head, then each feed-forward and each block:
    [layers, heads + 2], in nats. NaN where the model does not let a part be skipped."""
    reports = [report and part_of(report, number, 1 + len(PARTS)) for number in range(1 + len(PARTS))]
    heads = head_effects(model, trace.text, position, target=second, kind=kind, report=reports[0])
    columns = [heads]
    for part, part_report in zip(PARTS, reports[1:], strict=True):
        try:
            columns.append(skip_effects(model, trace, part, position, kind=stack_of(kind), report=part_report)[:, None])
        except ValueError:
            columns.append(np.full((len(heads), 1), np.nan))
    return np.hstack(columns)


def states(changes: str, kind: str, layers: int, heads: int) -> tuple[np.ndarray, list[list[str]]]:
    """Return the strength of each part, [layers, heads + 2], 1 where it is unchanged, and a word for each part's change."""
    strengths, words_of = np.ones((layers, heads + 2)), [[""] * (heads + 2) for _ in range(layers)]
    for change in changes.split(","):
        if not change:
            continue
        letter, (layer, *rest), value, its_kind = parse(change)
        if letter == "x":
            continue
        whole = letter in "fgb"  # not of a head
        column = heads + (letter == "b") if whole else rest[0]
        if its_kind != (stack_of(kind) if whole else kind) or layer >= layers or (not whole and column >= heads):
            continue
        strengths[layer, column] = value if letter == "s" else strengths[layer, column] if letter in "tceo" else 0.0
        words = {"h": "off", "m": "mean", "r": "text 2", "s": f"×{value:g}", "t": f"T {value:g}", "c": "cut", "g": "mean"}
        word = words.get(letter) or ("row" if letter in "eo" else "skip")
        words_of[layer][column] = " and ".join(dict.fromkeys([*filter(None, words_of[layer][column].split(" and ")), word]))
    return strengths, words_of


def parts(
    model: LanguageModel, trace: Trace, *, changes: str, kind: str, chosen: tuple[int, int], names: tuple[str, str, str],
    position: int | None, second: str, effects: np.ndarray | None = None,
) -> View:  # fmt: skip
    """Return the board: a cell for each head, and for each layer its feed-forward and the whole block. names: of a head, and of
    these two; position: where the effect of each is measured, None for none."""
    attention = trace.attention[kind]
    layers, heads = attention.layers, attention.heads
    strengths, words_of = states(changes, kind, layers, heads)
    layer_names = [f"layer {number}" for number in attention.numbers]
    head_names = [f"{names[0]} {head}" for head in range(heads)]
    short = [[word.split(" ")[0] + "+" if " and " in word else word for word in row] for row in words_of]
    texts: dict[str, Any] = {
        "rows": [f"L{number}" for number in attention.numbers], "columns": [*(f"H{head}" for head in range(heads)), *names[1:]],
        "row_names": layer_names, "column_names": [*head_names, *names[1:]], "texts": short, "chosen": chosen, "cell": (25, 58),
        "height": 30, "notes": [[word and f"changed: {word}" for word in row] for row in words_of],
        "blank": "this model does not allow skipping it",
    }  # fmt: skip
    if position is None:
        shades = 0.75 * np.clip(strengths, 0, 2) / max(1.0, float(strengths.max()))
        return grid_view(strengths, **texts, shades=shades, ends=("off", "on"), label="The parts of the model")
    effects = effects_of(model, trace, kind, position, second) if effects is None else effects
    most = float(np.nanmax(np.abs(effects))) or 1.0
    return grid_view(effects, **texts, unit="nats", signed=True, scale=(-most, most), label="The effect of each part")


def candidates(before: np.ndarray, after: np.ndarray, count: int) -> list[int]:
    """Return the likeliest tokens before, then those that are among the likeliest only after."""
    few = min(count, len(before))
    best = [np.argpartition(-logits, few - 1)[:few] for logits in (before, after)]
    first, second = (ids[np.argsort(-logits[ids])].tolist() for ids, logits in zip(best, (before, after), strict=True))
    return first + [id for id in second if id not in first][: max(1, count // 2)]


def bars(
    model: LanguageModel, trace: Trace, *, changes: str, position: int, count: int, second: str, simple: bool, other: str,
    logits: tuple[np.ndarray | None, np.ndarray | None] | None = None,
) -> View:  # fmt: skip
    """Return bars of the likeliest tokens at a position: an outline before the changes, a bar after them."""
    before, after = logits or (trace.scores_at(position), read(model, trace, changes, second, other).scores_at(position))
    if before is None or after is None:
        raise ValueError("This model has no language-model head, so it predicts nothing.")
    ids = candidates(before, after, count)
    chances = [model.chances(logits)[ids].tolist() for logits in (before, after)]
    texts = [model.outcome(id) for id in ids]
    labels = [plain_sign(text) for text in texts] if simple else texts
    return prediction_bars(labels, chances[1], ids=ids, percent=not simple, before=chances[0] if changes else None)


def lines(
    model: LanguageModel, trace: Trace, *, changes: str, kind: str, layer: int, head: int,
    window: dict[str, Any], second: str, simple: bool, other: str, cuts: list[tuple[int, int, int]] | None,
    changed: Trace | None = None,
) -> View:  # fmt: skip
    """Return a view of where a head looks. window: of a long text, the first and the last of "queries" and "keys"; cuts: head,
    query and key of the lines that are cut, drawn broken; None where nothing can be cut."""
    changed = read(model, trace, changes, second, other) if changed is None else changed
    seen = scope(changed.attention[kind], **window)
    sides = (seen.queries, seen.keys)
    queries, keys = (plain_signs(side.tokens, side.start == 0) if simple else side.tokens for side in sides)
    inside = None if cuts is None else [shift_cut(cut, seen.starts) for cut in cuts]
    return head_view(
        queries, keys, seen[layer], layer=seen.attention.numbers[layer], heads=[head], starts=seen.starts, simple=simple,
        link="looks", cuts=inside,
    )  # fmt: skip


def shift_cut(cut: Sequence[int], starts: tuple[int, int]) -> tuple[int, int, int]:
    """Return a cut with its positions counted from the beginning of a window."""
    return cut[0], cut[1] - starts[0], cut[2] - starts[1]


def edges(
    model: LanguageModel, trace: Trace, *, kind: str, place: tuple[int | None, int | None], position: int, name: str,
    simple: bool, effects: np.ndarray | None = None,
) -> View:  # fmt: skip
    """Return a grid of each line's effect on the prediction: query down, key across. place: layer and head, None for all."""
    effects = edge_effects(model, trace, position, *place, kind=kind) if effects is None else effects
    attention, most = trace.attention[kind], float(np.nanmax(np.abs(effects))) or 1.0
    queries, keys = (plain_signs(side) if simple else side for side in (attention.queries, attention.keys))
    rows, columns = ([label(token.text) for token in side] for side in (queries, keys))
    return grid_view(
        effects, rows, columns, down="from (query)", across="to (key)", unit="nats", signed=True, scale=(-most, most),
        cell=(14, 40), label=name,
    )  # fmt: skip
