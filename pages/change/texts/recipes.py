"""The recipes of two texts: functions of a model, what it read of both, and options that are literals.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

import numpy as np

from analysis.patches import Patches
from models.language_model import LanguageModel
from models.trace import Trace
from viz import View, prediction_bars
from viz.tokens import named
from viz.views.grid_view import grid_view

SEEN = 0.05  # of the whole effect; a smaller one has no number in its square

# ---------------------------------------------------------------- what is compared


def names(patches: Patches, part: str) -> tuple[list[str], list[str], list[str], list[str]]:
    """Return the labels of the map's rows and columns, and the names of both in words."""
    count = patches.shape(part)[1]
    numbers = patches.base.attention[patches.where].numbers
    first = ["embedding"] if part == "stream" else []
    rows = [*first, *(f"L{number}" for number in numbers)]
    after = ["before the first layer", *(f"after layer {number}" for number in numbers)]
    row_names = after if part == "stream" else [f"layer {number}" for number in numbers]
    if part == "head":
        return rows, [f"H{head}" for head in range(count)], row_names, [f"head {head}" for head in range(count)]
    base, source = map(patches.tokens, (patches.base, patches.source))
    column_names = []
    for at, token in enumerate(base):
        counterpart = source[patches.places[at]].text if at in patches.places else token.text
        replacement = f", in place of “{named(token.text)}”" if counterpart != token.text else ""
        column_names.append(f"“{named(counterpart)}”{replacement}")
    return rows, [token.text.strip(" ") or token.text for token in base], row_names, column_names


def candidates(patches: Patches, answers: tuple[int, int], after: np.ndarray | None, count: int) -> list[int]:
    """Return the two answers, then the other likeliest tokens of either text or with the patch. after: ln p [vocabulary]."""
    logs = [*patches.logs.values(), *([] if after is None else [after])]
    best = np.argsort(-np.max(logs, axis=0), kind="stable")[: count + 2].tolist()
    return list(dict.fromkeys([*answers, *best]))[:count]


# ---------------------------------------------------------------- pictures


def effects(
    model: LanguageModel,
    trace: Trace,
    _: LanguageModel,
    other: Trace,
    *,
    part: str,
    measure: str,
    direction: str,
    kind: str,
    position: int,
    answers: tuple[int, int],
    cell: tuple[int, int] | None,
    values: np.ndarray | None = None,
) -> View:
    """Return the map of how much of an answer each piece restores, or removes."""
    patches = Patches(model, trace, other, direction, kind, position)
    values = patches.effects(part, measure, *answers) if values is None else values
    rows, columns, row_names, column_names = names(patches, part)
    rounded = np.where(np.abs(values) < 1e-6, 0, values)
    return grid_view(
        rounded,
        rows,
        columns,
        row_names=row_names,
        column_names=column_names,
        numbered=True,
        scale=(-1, 1),
        signed=True,
        least=SEEN,
        chosen=cell,
        blank="the other text has nothing at its place",
        cell=(23, 58),
        height=30,
        label="How much of the answer each part brings" if patches.denoises else "How much of the answer each part takes",
    )


def bars(
    model: LanguageModel,
    trace: Trace,
    _: LanguageModel,
    other: Trace,
    *,
    which: str,
    part: str,
    direction: str,
    kind: str,
    position: int,
    answers: tuple[int, int],
    cell: tuple[int, int] | None,
    count: int,
    patched: np.ndarray | None = None,
) -> View:
    """Return bars of the likeliest tokens. which: in the "base", an outline without the patch and a bar with it, or the
    "source"."""
    patches = Patches(model, trace, other, direction, kind, position)
    if cell is not None and patched is None:
        patched = patches.read([patches.edits(part)[cell]])[0]
    ids = candidates(patches, answers, patched, count)
    source, base = (np.exp(patches.logs[name]) for name in (("clean", "corrupt") if patches.denoises else ("corrupt", "clean")))
    token_texts = [model.token_text(id) for id in ids]
    if which == "source":
        return prediction_bars(token_texts, source[ids].tolist(), ids)
    if patched is None:
        return prediction_bars(token_texts, base[ids].tolist(), ids)
    return prediction_bars(token_texts, np.exp(patched[ids]).tolist(), ids, before=base[ids].tolist())
