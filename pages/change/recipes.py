"""How each picture of this page is made: a model, what it read, and the changes as a link writes them.

A notebook that is taken away carries these very functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from analysis import head_effects, scope
from analysis.effects import skip_effects
from models.edits import Cut, Edit, Head, Skip, Temperature
from models.language_model import LanguageModel, softmax
from models.trace import Trace
from viz import View, head_view, prediction_bars
from viz.tokens import plain_sign, plain_signs
from viz.views.grid_view import grid_view

# h2.3 off, m2.3 mean, s2.3~1.5 strength, t2.3~0.5 temperature, c2.3.5.1 query 5 may not look at key 1, f4 feed-forward, b3 block
CHANGE = re.compile(r"(?:([hm])(\d{1,4})\.(\d{1,4})|([st])(\d{1,4})\.(\d{1,4})~(\d{1,3}(?:\.\d{1,3})?)|"
                    r"(c)(\d{1,4})\.(\d{1,4})\.(\d{1,6})\.(\d{1,6})|([fb])(\d{1,4}))(?:@(encoder|decoder|cross))?")  # fmt: skip
PARTS = ("feedforward", "block")


# ---------------------------------------------------------------- what is changed


def taken_apart(change: str) -> tuple[str, list[int], float, str]:
    """Of one change its letter, its numbers, its value (NaN for none) and its kind of attention. Errors: ValueError."""
    found = CHANGE.fullmatch(change)
    if not found:
        raise ValueError(f"“{change}” is no change.")
    *said, kind = found.groups()
    letter, *numbers = (one for one in said if one is not None)
    value = float(numbers.pop()) if letter in "st" else float("nan")
    return letter, [int(one) for one in numbers], value, kind or "self"


def edit_of(trace: Trace, change: str) -> Edit:
    """What the model is to do otherwise. A mean is that of the head over the positions of this text."""
    letter, (layer, *rest), value, kind = taken_apart(change)
    if letter in "fb":
        return Skip(layer, PARTS["fb".index(letter)], kind=kind)
    if letter == "c":
        return Cut(rest[1], rest[2], layer, rest[0], kind=kind)
    if letter == "t":
        return Temperature(layer, rest[0], value, kind=kind)
    attention = trace.attention.get(kind)
    if letter == "m" and attention and layer < attention.layers and rest[0] < attention.heads:
        return Head(layer, rest[0], mean=attention.out(layer)[rest[0]].mean(0), kind=kind)
    return Head(layer, rest[0], value if letter == "s" else 0.0, kind=kind)


def read(model: LanguageModel, trace: Trace, changes: str, second: str) -> Trace:
    """The text, read again with the changes."""
    edits = [edit_of(trace, change) for change in changes.split(",") if change]
    return model.traces([trace.text], [edits], second)[0] if edits else trace


# ---------------------------------------------------------------- pictures


def stack_of(kind: str) -> str:
    """The stack whose blocks have this kind of attention."""
    return "decoder" if kind == "cross" else kind


def effects_of(
    model: LanguageModel, trace: Trace, kind: str, position: int, second: str, report: Callable[[float, str], None] | None = None
) -> np.ndarray:
    """What the likeliest token loses in log-probability without each head, then each feed-forward and each block: [layers, heads
    + 2], in nats. NaN where the model does not let a part be skipped."""
    heads = head_effects(model, trace.text, position, target=second, kind=kind, report=report)
    columns = [heads]
    for part in PARTS:
        try:
            columns.append(skip_effects(model, trace, part, position, kind=stack_of(kind))[:, None])
        except ValueError:
            columns.append(np.full((len(heads), 1), np.nan))
    return np.hstack(columns)


def states(changes: str, kind: str, layers: int, heads: int) -> tuple[np.ndarray, list[list[str]]]:
    """How strong each part still is, [layers, heads + 2], 1 as it was, and a word for what is changed of it."""
    strengths, said = np.ones((layers, heads + 2)), [[""] * (heads + 2) for _ in range(layers)]
    for change in changes.split(","):
        if not change:
            continue
        letter, (layer, *rest), value, of = taken_apart(change)
        column = heads + "fb".index(letter) if letter in "fb" else rest[0]
        if of != (stack_of(kind) if letter in "fb" else kind) or layer >= layers or (letter not in "fb" and column >= heads):
            continue
        strengths[layer, column] = {"s": value, "t": strengths[layer, column], "c": strengths[layer, column]}.get(letter, 0.0)
        word = {"h": "off", "m": "mean", "s": f"×{value:g}", "t": f"T {value:g}", "c": "cut"}.get(letter, "skip")
        said[layer][column] = " and ".join(dict.fromkeys([*filter(None, said[layer][column].split(" and ")), word]))
    return strengths, said


def parts(
    model: LanguageModel, trace: Trace, *, changes: str, kind: str, chosen: tuple[int, int], names: tuple[str, str, str],
    position: int | None, second: str, effects: np.ndarray | None = None,
) -> View:  # fmt: skip
    """The board: a cell a head, and for each layer its feed-forward and all of it. names: of a head, of these two; position:
    where the effect of each is shown, None for none."""
    attention = trace.attention[kind]
    layers, heads = attention.layers, attention.heads
    strengths, said = states(changes, kind, layers, heads)
    layer_names = [f"layer {layer}" for layer in range(layers)]
    head_names = [f"{names[0]} {head}" for head in range(heads)]
    short = [[word.split(" ")[0] + "+" if " and " in word else word for word in row] for row in said]
    texts: dict[str, Any] = {
        "rows": [f"L{layer}" for layer in range(layers)], "columns": [*(f"H{head}" for head in range(heads)), *names[1:]],
        "row_names": layer_names, "column_names": [*head_names, *names[1:]], "texts": short, "chosen": chosen, "cell": (25, 58),
        "height": 30, "notes": [[word and f"changed: {word}" for word in row] for row in said],
    }  # fmt: skip
    if position is None:
        shades = 0.75 * np.clip(strengths, 0, 2) / max(1.0, float(strengths.max()))
        return grid_view(strengths, **texts, shades=shades, ends=("off", "on"), label="The parts of the model")
    effects = effects_of(model, trace, kind, position, second) if effects is None else effects
    most = float(np.nanmax(np.abs(effects))) or 1.0
    return grid_view(effects, **texts, unit="nats", signed=True, scale=(-most, most), label="The effect of each part")


def candidates(before: np.ndarray, after: np.ndarray, count: int) -> list[int]:
    """The likeliest tokens before, then those that are among the likeliest only after."""
    few = min(count, len(before))
    best = [np.argpartition(-logits, few - 1)[:few] for logits in (before, after)]
    first, second = (ids[np.argsort(-logits[ids])].tolist() for ids, logits in zip(best, (before, after), strict=True))
    return first + [id for id in second if id not in first][: max(1, count // 2)]


def bars(
    model: LanguageModel, trace: Trace, *, changes: str, position: int, count: int, second: str, simple: bool,
    logits: tuple[np.ndarray | None, np.ndarray | None] | None = None,
) -> View:  # fmt: skip
    """What is likeliest at a position: before the changes as an outline, after them as a bar."""
    before, after = logits or (trace.logits_at(position), read(model, trace, changes, second).logits_at(position))
    if before is None or after is None:
        raise ValueError("This model has no language-model head, so it predicts nothing.")
    ids = candidates(before, after, count)
    shares = [softmax(logits)[ids].tolist() for logits in (before, after)]
    texts = [model.token_text(id) for id in ids]
    labels = [plain_sign(text) for text in texts] if simple else texts
    return prediction_bars(labels, shares[1], ids=ids, percent=not simple, before=shares[0] if changes else None)


def lines(
    model: LanguageModel, trace: Trace, *, changes: str, kind: str, layer: int, head: int,
    window: dict[str, Any], second: str, simple: bool, cuts: list[tuple[int, int, int]] | None,
    changed: Trace | None = None,
) -> View:  # fmt: skip
    """Where a head looks. window: of a long text, the first and the last of "queries" and "keys"; cuts: head, query and key of
    those that are cut, drawn as broken lines; None where nothing can be cut."""
    changed = read(model, trace, changes, second) if changed is None else changed
    seen = scope(changed.attention[kind], **window)
    sides = (seen.queries, seen.keys)
    queries, keys = (plain_signs(side.tokens, side.start == 0) if simple else side.tokens for side in sides)
    inside = None if cuts is None else [within(cut, seen.starts) for cut in cuts]
    return head_view(
        queries, keys, seen[layer], layer=layer, heads=[head], starts=seen.starts, simple=simple, link="looks", cuts=inside
    )


def within(cut: Sequence[int], starts: tuple[int, int]) -> tuple[int, int, int]:
    """A cut, counted from where a window begins."""
    return cut[0], cut[1] - starts[0], cut[2] - starts[1]
