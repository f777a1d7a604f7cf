"""The recipes of this page's pictures: functions of a model, what it read, and the changes in the text form of links.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from analysis import edge_effects, head_effects, scope
from analysis.edit_numbers import fill
from analysis.effects import skip_effects
from analysis.importance import part_of
from models.edits import SAMPLE, Cut, Edit, Head, Part, Row, Skip, Stream, Temperature
from models.images.model import ImageModel
from models.language_model import LanguageModel
from models.trace import Trace
from viz import View, head_view, patch_view, prediction_bars
from viz.numbers import decimal
from viz.tokens import label, plain_sign, plain_signs
from viz.views.grid_view import grid_view

PARTS = ("feedforward", "block")
LARGEST = 10**6  # of the numbers in a change
NOTES = {  # what a word on the board means
    "off": "switched off, so it adds nothing",
    "mean": "replaced by its mean over other texts",
    "skip": "skipped, so it adds nothing",
    "text 2": "taken from the other text",
    "cut": "a line of it is cut",
    "row": "a row of it is replaced",
}
MARKS = {  # what a word says of a head that is not changed
    "try": "Begin with this head.",
    "most": "Of the heads, the likeliest token loses most without this one.",
}


# ---------------------------------------------------------------- what is changed


def is_change(text: str) -> bool:
    """Return whether a text is an edit that the board has a place for: a part, a line or a row, counted from the front."""
    try:
        edit = Edit.parse(text)
    except ValueError:
        return False
    if "*" in text or isinstance(edit, Stream):
        return False
    if (isinstance(edit, Skip) and edit.part not in PARTS) or (isinstance(edit, Part) and edit.position is not None):
        return False
    numbers = [value for value in vars(edit).values() if not isinstance(value, str | None)]
    return all(not isinstance(number, np.ndarray) and 0 <= number < LARGEST for number in numbers)


def read(model: LanguageModel, trace: Trace, changes: str, second: str, other: str = "") -> Trace:
    """Read the text again with the changes."""
    other_trace = model.trace(other, second, remember=False) if other else None
    edits = [fill(Edit.parse(change), model, trace, other_trace) for change in changes.split(",") if change]
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
    for edit in map(Edit.parse, filter(None, changes.split(","))):
        if (cell := cell_of(edit, kind, layers, heads)) is None:
            continue
        (layer, column), (strength, word) = cell, state_of(edit)
        strengths[cell] = strengths[cell] if strength is None else strength
        if column == heads + 1 and strength == 0:
            strengths[layer] = 0  # nothing of a skipped layer is left
        old_words = filter(None, words_of[layer][column].split(" and "))
        words_of[layer][column] = " and ".join(dict.fromkeys([*old_words, word]))
    return strengths, words_of


def cell_of(edit: Edit, kind: str, layers: int, heads: int) -> tuple[int, int] | None:
    """Return the row and the column on the board of the part that an edit changes; None for all heads, and of another stack."""
    match edit:
        case Skip(layer, part):
            column, its_kind = heads + (part == "block"), stack_of(kind)
        case Part(layer):
            column, its_kind = heads, stack_of(kind)
        case Head(layer, head) | Temperature(layer, head) | Row(layer, head) | Cut(layer=int(layer), head=int(head)):
            column, its_kind = head, kind
            layer = layer if head < heads else layers  # beside the board
        case _:
            return None
    return (layer, column) if edit.kind == its_kind and layer < layers else None


def state_of(edit: Edit) -> tuple[float | None, str]:
    """Return the strength of a part with an edit, None if it is unchanged, and a word for the change."""
    match edit:
        case Head(mean=None, scale=scale):
            return scale, f"×{scale:g}" if scale else "off"
        case Head(mean=source):
            return 0.0, "mean" if source == SAMPLE else "text 2"
        case Temperature(value=value):
            return None, f"T {value:g}"
        case Cut() | Row():
            return None, "cut" if isinstance(edit, Cut) else "row"
    return 0.0, "mean" if isinstance(edit, Part) else "skip"


def parts(
    model: LanguageModel,
    trace: Trace,
    *,
    changes: str,
    kind: str,
    chosen: tuple[int, int],
    names: tuple[str, str, str],
    position: int | None,
    second: str,
    factors: bool = False,
    suggested: tuple[int, int] | None = None,
    effects: np.ndarray | None = None,
) -> View:
    """Return the board: a cell for each head, and for each layer its feed-forward and the whole block. names: of a head, and of
    these two; position: where the effect of each is measured, None for none; factors: whether it is told as a factor of the
    probability and not in nats; suggested: the layer and the head to begin with, marked where no effects are measured."""
    attention = trace.attention[kind]
    layers, heads = attention.layers, attention.heads
    strengths, words_of = states(changes, kind, layers, heads)
    layer_names = [f"layer {number}" for number in attention.numbers]
    head_names = [f"{names[0]} {head}" for head in range(heads)]
    if position is not None and effects is None:
        effects = effects_of(model, trace, kind, position, second)
    marked, mark = (suggested, "try") if effects is None else (most_needed(effects), "most")
    if marked is not None and not words_of[marked[0]][marked[1]]:
        words_of[marked[0]][marked[1]] = mark
    short = [[word.split(" ")[0] + "+" if " and " in word else word for word in row] for row in words_of]
    texts: dict[str, Any] = {
        "rows": [f"L{number}" for number in attention.numbers],
        "columns": [*(f"H{head}" for head in range(heads)), *names[1:]],
        "row_names": layer_names,
        "column_names": [*head_names, *names[1:]],
        "texts": short,
        "chosen": chosen,
        "cell": (25, 58),
        "height": 30,
        "notes": [[word and (MARKS.get(word) or f"Changed: {NOTES.get(word, word)}.") for word in row] for row in words_of],
        "blank": "this model does not allow skipping it",
    }
    if effects is None:
        shades = 0.15 + 0.85 * np.clip(np.abs(strengths - 1), 0, 1)  # what is changed stands out
        ends = ("", "") if np.isin(strengths, (0, 1)).all() else ("on", "off")  # a word in its square says what is off
        return grid_view(strengths, **texts, unit="times its strength", shades=shades, ends=ends, label="The parts of the model")
    largest = float(np.nanmax(np.abs(effects)))
    most = float(np.nanmax(np.abs(effects[:, :-2]))) or largest or 1.0  # of a head: a whole layer would leave heads pale
    texts |= {"signed": True, "label": "The effect of each part"}
    shades = 0.5 - effects / (2 * most)
    if factors:
        ends = ("likelier without it", "less likely")
        return grid_view(np.exp(effects), **texts, unit="times its chance", shades=shades, ends=ends)
    ends = fall_and_rise(most, " or more" if largest > most else "")
    return grid_view(effects, **texts, unit="nats", shades=shades, ends=ends)  # what is missed is red, as in other pictures


def most_needed(effects: np.ndarray) -> tuple[int, int]:
    """Return the layer and the head without which the prediction loses most. effects: as of `effects_of`."""
    layer, head = divmod(int(np.nanargmin(effects[:, :-2])), effects.shape[1] - 2)
    return layer, head


def fall_and_rise(most: float, beyond: str = "") -> tuple[str, str]:
    """Return the words at the ends of a scale of effects: blue where the prediction rises, red where it falls. beyond: added to
    both ends where some effects are larger."""
    return f"+{decimal(most)}{beyond} (rises without it)", f"−{decimal(most)}{beyond} (falls without it)"


def candidates(before: np.ndarray, after: np.ndarray, count: int) -> list[int]:
    """Return the likeliest tokens before, then those that are among the likeliest only after."""
    few = min(count, len(before))
    best = [np.argpartition(-logits, few - 1)[:few] for logits in (before, after)]
    first, second = (ids[np.argsort(-logits[ids])].tolist() for ids, logits in zip(best, (before, after), strict=True))
    return first + [id for id in second if id not in first][: max(1, count // 2)]


def bars(
    model: LanguageModel,
    trace: Trace,
    *,
    changes: str,
    position: int,
    count: int,
    second: str,
    simple: bool,
    other: str,
    whole: str = "",
    logits: tuple[np.ndarray | None, np.ndarray | None] | None = None,
) -> View:
    """Return bars of the likeliest tokens at a position: an outline before the changes, a bar after them. whole: the picture
    before patches were covered, where they are."""
    first = model.trace(whole) if whole else trace
    before, after = logits or (first.scores_at(position), read(model, trace, changes, second, other).scores_at(position))
    if before is None or after is None:
        raise ValueError("This model has no language-model head, so it predicts nothing.")
    ids = candidates(before, after, count)
    chances = [model.chances(logits)[ids].tolist() for logits in (before, after)]
    texts = [model.outcome(id) for id in ids]
    labels = [plain_sign(text) for text in texts] if simple else texts
    what = "Label" if model.info.labels else "Next token"
    return prediction_bars(labels, chances[1], ids=ids, whole=simple, what=what, before=chances[0] if changes or whole else None)


def lines(
    model: LanguageModel,
    trace: Trace,
    *,
    changes: str,
    kind: str,
    layer: int,
    head: int,
    window: dict[str, Any],
    second: str,
    simple: bool,
    other: str,
    cuts: list[tuple[int, int, int]] | None,
    changed: Trace | None = None,
) -> View:
    """Return a view of where a head looks. window: of a long text, the first and the last of "queries" and "keys"; cuts: head,
    query and key of the lines that are cut, drawn broken; None where nothing can be cut."""
    changed = read(model, trace, changes, second, other) if changed is None else changed
    seen = scope(changed.attention[kind], **window)
    sides = (seen.queries, seen.keys)
    queries, keys = (plain_signs(side.tokens, side.start == 0) if simple else side.tokens for side in sides)
    inside = None if cuts is None else [shift_cut(cut, seen.starts) for cut in cuts]
    return head_view(
        queries,
        keys,
        seen[layer],
        layer=seen.attention.numbers[layer],
        heads=[head],
        starts=seen.starts,
        simple=simple,
        link="looks",
        cuts=inside,
    )


def picture_map(
    model: ImageModel,
    trace: Trace,
    *,
    changes: str,
    picture: str,
    layer: int,
    head: int,
    chosen: int,
    writes: str,
    changed: Trace | None = None,
) -> View:
    """Return a picture shaded by where a head looks, with the changes. picture: its name, with its covered patches; writes: the
    name that a drag over patches writes, as `patch_view` takes it."""
    changed = read(model, model.trace(picture), changes, "") if changed is None else changed
    image, weights = model.grid.image_of(changed.tokens), changed.attention["self"][layer][head]
    return patch_view(image, changed.tokens, weights, chosen, link="patches", writes=writes)


def shift_cut(cut: Sequence[int], starts: tuple[int, int]) -> tuple[int, int, int]:
    """Return a cut with its positions counted from the beginning of a window."""
    return cut[0], cut[1] - starts[0], cut[2] - starts[1]


def edges(
    model: LanguageModel,
    trace: Trace,
    *,
    kind: str,
    place: tuple[int | None, int | None],
    position: int,
    name: str,
    simple: bool,
    effects: np.ndarray | None = None,
) -> View:
    """Return a grid of each line's effect on the prediction: query down, key across. place: layer and head, None for all."""
    effects = edge_effects(model, trace, position, *place, kind=kind) if effects is None else effects
    attention, most = trace.attention[kind], float(np.nanmax(np.abs(effects))) or 1.0
    queries, keys = (plain_signs(side) if simple else side for side in (attention.queries, attention.keys))
    rows, columns = ([label(token.text) for token in side] for side in (queries, keys))
    return grid_view(
        effects,
        rows,
        columns,
        down="from (query)",
        across="to (key)",
        unit="nats",
        signed=True,
        shades=0.5 - effects / (2 * most),
        ends=fall_and_rise(most),
        cell=(14, 40),
        label=name,
    )
