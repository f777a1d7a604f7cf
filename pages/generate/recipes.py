"""How each picture of this page is made: a model, the text that it goes on from, and what was said.

A notebook that is taken away carries these very functions, and has the model say the same again: `ids` are the tokens that were
said, whatever chose them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis import as_written
from models.decoding import softmax
from models.generation import Search, Step
from models.language_model import LanguageModel
from models.strategy import Distribution, Strategy, distribution
from models.tokens import Token
from models.trace import Trace
from viz import View, grid_view, prediction_bars, reading_view
from viz.figures.beams import Way, beam_tree
from viz.figures.cache import cache_boxes
from viz.tokens import label, plain_sign, plain_signs, row_names

COMES = "…"  # stands where the next token will
ROWS, KEYS = 14, 30  # rows that are shown at a time, and tokens that each of them looks at


def said_again(model: LanguageModel, trace: Trace, said: dict[str, Any], more: bool = True) -> list[Step]:
    """The steps of what was said, and one for what comes next where there is more. said: its `ids`, the `target` before them, and
    whether it answers a turn of a `chat`."""
    options = {"target": said["target"], "chat": said["chat"]}
    return list(model.generate(trace.text, max_new_tokens=len(said["ids"]) + more, given=said["ids"], **options))


# ---------------------------------------------------------------- the text


def text(
    model: LanguageModel, trace: Trace, *, said: dict[str, Any], more: bool, kind: str, layer: int, head: int, chosen: int,
    simple: bool, steps: Sequence[Step] | None = None,
) -> View:  # fmt: skip
    """The text with all that was said, shaded by where a head looked when it chose each token."""
    steps = said_again(model, trace, said, more) if steps is None else steps
    source, shown = read_and_said(steps, more, trace.text, said["target"])
    front = source if kind == "cross" else []
    first, count = len(front) + len(shown) - len(steps), len(front) + len(shown)
    weights = np.zeros((count, count), dtype=np.float32)
    for number, row in enumerate(looks(steps, kind, layer, head)):
        if first + number >= 0:  # a token that was dropped has no place any more
            weights[first + number, : len(row)] = row
    tokens = plain_signs([*front, *shown]) if simple else [*front, *shown]
    return reading_view(tokens, weights, max(0, first + chosen), second=len(front) or None, said=max(0, first))


def read_and_said(steps: Sequence[Step], more: bool, text: str, target: str) -> tuple[list[Token], list[Token]]:
    """What the encoder read; and what the decoder read and said, with a place for what comes next where there is more. Of the
    last ones of these each step is about one."""
    last = steps[-1]
    token = Token(-1, COMES, last.token.start, last.token.start, special=True) if more else last.token
    said = [replace(one.token, after=one.tokens[-1]) for one in (steps[:-1] if more else steps)]
    shown = [*last.tokens, replace(token, after=last.tokens[-1])]
    first = len(shown) - len(steps)
    for number, one in enumerate(said):
        if first + number > 0:
            shown[first + number] = one
    return as_written(last.source, text), as_written(shown, target if last.source else text)


def rows(
    model: LanguageModel, trace: Trace, *, said: dict[str, Any], more: bool, kind: str, layer: int, head: int, chosen: int,
    simple: bool, steps: Sequence[Step] | None = None,
) -> View:  # fmt: skip
    """Where a head looked when it chose each token: a row for each, under the one before. Of a long text the last rows, or those
    up to the chosen one, and the last tokens; what was looked at before these is one column."""
    steps = said_again(model, trace, said, more) if steps is None else steps
    source, shown = read_and_said(steps, more, trace.text, said["target"])
    first = first_row(len(steps), chosen)
    dropped = steps[: max(0, 1 + len(steps) - len(shown))]  # said, and without a place in the text now: its first token stays
    gone = [replace(one.token, after=one.tokens[-1]) for one in dropped]
    found = looks(steps, kind, layer, head)[first : first + ROWS]
    names = [*gone, *shown[len(shown) + len(gone) - len(steps) :]][first : first + ROWS]
    keys = source if kind == "cross" else shown[: max(1, *map(len, found))]
    weights = np.full((len(found), len(keys)), np.nan, dtype=np.float32)
    for row, values in zip(weights, found, strict=True):
        row[: len(values)] = values
    columns = [label(token.text) for token in (plain_signs(keys) if simple else keys)]
    if before := max(0, len(keys) - KEYS):
        weights = np.column_stack([weights[:, :before].sum(axis=1), weights[:, before:]])
        columns = [f"{before:,} before", *columns[before:]]
    return grid_view(
        weights, [label(token.text) for token in (plain_signs(names, False) if simple else names)], columns, down="choosing",
        across="looks at", unit="%", scale=(0, 1), row_names=row_names(names), column_names=[f"to {name}" for name in columns],
        chosen=marked(weights, chosen - first), cell=(8, 34), height=20, label="Where it looked, a row for each token",
    )  # fmt: skip


def first_row(count: int, chosen: int) -> int:
    """Which of so many rows is the first that is shown: the last ones are, or those up to the chosen one."""
    return max(0, (count if chosen >= count - ROWS else chosen + 1) - ROWS)


def marked(weights: np.ndarray, row: int) -> tuple[int, int] | None:
    """Where a row looks most; None of one that looks nowhere."""
    known = np.isfinite(weights[row]).any()
    return (row, int(np.nanargmax(weights[row]))) if known else None


def looks(steps: Sequence[Step], kind: str, layer: int, head: int) -> list[np.ndarray]:
    """Where a head looked at each step; nothing of steps before tokens were dropped, which have other keys."""
    dropped, found = steps[-1].dropped, []
    for step in steps:
        layers, heads, _ = step.attention[kind].shape
        known = step.dropped == dropped and layer < layers and head < heads
        found.append(step.attention[kind][layer, head] if known else np.zeros(0, dtype=np.float32))
    return found


def branch(
    model: LanguageModel,
    trace: Trace,
    *,
    said: dict[str, Any],
    at: int,
    simple: bool,
    steps: Sequence[Step] | None = None,
) -> View:
    """What was said, shaded by the chance that the model gave to each token, in per cent."""
    steps = said_again(model, trace, said, False) if steps is None else steps
    tokens = [step.token for step in steps]
    return reading_view(plain_signs(tokens, False) if simple else tokens, None, at, quantity=100 * chances(steps), unit="%")


def chances(steps: Sequence[Step]) -> np.ndarray:
    """What the model itself gave to each token, before all controls: float64 [step]."""
    return np.array([softmax(step.logits)[step.token.id] for step in steps])


# ---------------------------------------------------------------- what comes next


def bars(
    model: LanguageModel, trace: Trace, *, said: dict[str, Any], strategy: dict[str, Any], count: int, percent: bool,
    step: Step | None = None,
) -> View:  # fmt: skip
    """The likeliest tokens after what was said, before and after the controls, and the one that is chosen."""
    step = said_again(model, trace, said)[-1] if step is None else step
    how = Strategy(**strategy)
    found = distribution(step.logits, step.ids, how, step.never)
    chosen, _ = found.choose(how, step.position)
    best = likeliest(found, chosen, count)
    tokens = [Token(id, model.token_text(id), 0, 0, model.is_special(id)) for id in best]
    return prediction_bars(
        [token.text if percent else plain_sign(token.text) for token in (tokens if percent else plain_signs(tokens, False))],
        [float(found.after[id]) for id in best],
        ids=best,
        percent=percent,
        before=[float(found.before[id]) for id in best] if found.stages else None,
        struck=[bool(np.isneginf(found.final[id])) for id in best],
        marked=best.index(chosen),
    )


def likeliest(found: Distribution, chosen: int, count: int) -> list[int]:
    """The ids that are shown: the likeliest before and after the controls, and the chosen one, by what they were before."""
    most = min(count, len(found.before))
    before, after = (np.argpartition(-one, most - 1)[:most].tolist() for one in (found.before, found.after))
    after = sorted((id for id in after if found.after[id]), key=lambda id: -found.after[id])[: most // 3]
    ids = sorted({*before, *after, chosen}, key=lambda id: (-found.before[id], id))
    while len(ids) > most:
        spare = next(id for id in reversed(ids) if id not in after and id != chosen)
        ids.remove(spare)
    return ids


# ---------------------------------------------------------------- beams and the cache


def tree(
    model: LanguageModel,
    trace: Trace,
    *,
    strategy: dict[str, Any],
    most: int,
    target: str,
    chat: bool,
    count: int,
    beam: int,
    step: Step | None = None,
) -> go.Figure:
    """A beam search after so many steps. beam: the one of its best answers that stands out."""
    if step is None:
        *_, step = islice(model.generate(trace.text, Strategy(**strategy), most, target, chat=chat), count)
    assert step.search is not None, "a step of a search"
    ways = [Way(one.number, one.parent, model.token_text(one.id), one.length, one.score, one.fate) for one in step.search.tree]
    return beam_tree(ways, looked_at=path(step.search, step.search.answers[beam].ids))


def path(search: Search, ids: Sequence[int]) -> list[int]:
    """The numbers of the ways on that an answer went, from the text on."""
    after = {(one.parent, one.id): one.number for one in search.tree}
    found = [-1]
    for id in ids:
        found.append(after[found[-1], id])
    return found[1:]


def cache(model: LanguageModel, trace: Trace, *, said: dict[str, Any], fresh: int, step: Step | None = None) -> go.Figure:
    """The keys and values that are kept of each token that was read; fresh: how many of them were read last."""
    step = said_again(model, trace, said)[-1] if step is None else step
    return cache_boxes(step.tokens, decoder_layers(model), each(model, step), model.info.dtype, fresh)


def decoder_layers(model: LanguageModel) -> int:
    return model.info.decoder_layers or model.info.layers


def each(model: LanguageModel, step: Step) -> int:
    """Numbers that are kept of one token in one layer, keys and values together."""
    read, source = len(step.tokens), len(step.source)
    more = model.cache_bytes(read + 1, source) - model.cache_bytes(read, source)  # a source has keys and values of its own
    return more // decoder_layers(model) // {"float32": 4}.get(model.info.dtype, 2)
