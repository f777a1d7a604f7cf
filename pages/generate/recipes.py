"""The recipes of this page's pictures: functions of a model, the text that it continues, and the generated tokens.

A downloaded notebook contains these functions, and lets the model generate the same tokens again: `ids` are the generated tokens,
however they were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis import as_written
from analysis.merging import group_of, merge, whole_characters
from models.generation.generate import Search, Step
from models.generation.strategy import Distribution, Strategy, distribution
from models.language_model import LanguageModel
from models.numbers.softmax import softmax
from models.tokens import Token
from models.trace import Trace
from viz import View, grid_view, prediction_bars, reading_view
from viz.figures.beams import Way, beam_tree
from viz.figures.cache import cache_boxes
from viz.tokens import label, plain_sign, plain_signs, row_names

COMES = "…"  # stands where the next token will stand
ROWS, KEYS = 14, 30  # the most rows at a time, and the most tokens that each of them looks at


def generate_again(model: LanguageModel, trace: Trace, answer: dict[str, Any], more: bool = True) -> list[Step]:
    """Return a step for each generated token, and, with `more`, for the next one. answer: the `ids`, the `target` before them,
    and whether they answer a turn of a `chat`."""
    options = {"target": answer["target"], "chat": answer["chat"]}
    return list(model.generate(trace.text, max_new_tokens=len(answer["ids"]) + more, forced=answer["ids"], **options))


# ---------------------------------------------------------------- the text


def text(
    model: LanguageModel,
    trace: Trace,
    *,
    answer: dict[str, Any],
    more: bool,
    kind: str,
    layer: int,
    head: int,
    chosen: int,
    simple: bool,
    steps: Sequence[Step] | None = None,
) -> View:
    """Return the text with all generated tokens, shaded by where a head looked when each was chosen."""
    steps = generate_again(model, trace, answer, more) if steps is None else steps
    source, decoder_tokens = encoder_and_decoder_tokens(steps, more, trace.text, answer["target"])
    leading = source if kind == "cross" else []
    first, count = len(leading) + len(decoder_tokens) - len(steps), len(leading) + len(decoder_tokens)
    weights = np.zeros((count, count), dtype=np.float32)
    for number, row in enumerate(attention_rows(steps, kind, layer, head)):
        if first + number >= 0:  # a token that was dropped has no place any more
            weights[first + number, : len(row)] = row
    tokens, groups = in_text([*leading, *decoder_tokens], simple)
    second, at, begin = (group_of(groups, place) for place in (len(leading), max(0, first + chosen), max(0, first)))
    return reading_view(tokens, merge(weights, groups, groups), at, second=second or None, own_from=begin)


def in_text(tokens: Sequence[Token], simple: bool, first: bool = True) -> tuple[list[Token], list[list[int]]]:
    """Return the tokens for a text, and the positions of each. simple: parts of one character are joined; first: as in
    `plain_signs`."""
    whole, groups = whole_characters(tokens) if simple else (list(tokens), [[place] for place in range(len(tokens))])
    return plain_signs(whole, first) if simple else whole, groups


def encoder_and_decoder_tokens(steps: Sequence[Step], more: bool, text: str, target: str) -> tuple[list[Token], list[Token]]:
    """Return the tokens that the encoder read, and those that the decoder read and generated, with a place for the next token if
    there is `more`. The last of the decoder's tokens belong to the steps, one to each."""
    last = steps[-1]
    token = Token(-1, COMES, last.token.start, last.token.start, special=True) if more else last.token
    tokens = [replace(step.token, after=step.tokens[-1]) for step in (steps[:-1] if more else steps)]
    decoder_tokens = [*last.tokens, replace(token, after=last.tokens[-1])]
    first = len(decoder_tokens) - len(steps)
    for number, token in enumerate(tokens):
        if first + number > 0:
            decoder_tokens[first + number] = token
    return as_written(last.source, text), as_written(decoder_tokens, target if last.source else text)


def rows(
    model: LanguageModel,
    trace: Trace,
    *,
    answer: dict[str, Any],
    more: bool,
    kind: str,
    layer: int,
    head: int,
    chosen: int,
    simple: bool,
    steps: Sequence[Step] | None = None,
) -> View:
    """Return a grid of where a head looked: a row for each token that was chosen, in order. Of a long text it has the last rows,
    or those up to the chosen one, and the last tokens; the weights of all tokens before these are one column."""
    steps = generate_again(model, trace, answer, more) if steps is None else steps
    source, decoder_tokens = encoder_and_decoder_tokens(steps, more, trace.text, answer["target"])
    first = first_row(len(steps), chosen)
    dropped = steps[: max(0, 1 + len(steps) - len(decoder_tokens))]  # said, and no longer in the text, whose first token stays
    dropped_tokens = [replace(step.token, after=step.tokens[-1]) for step in dropped]
    row_weights = attention_rows(steps, kind, layer, head)[first : first + ROWS]
    names = [*dropped_tokens, *decoder_tokens[len(decoder_tokens) + len(dropped_tokens) - len(steps) :]][first : first + ROWS]
    keys = source if kind == "cross" else decoder_tokens[: max(1, *map(len, row_weights))]
    weights = np.full((len(row_weights), len(keys)), np.nan, dtype=np.float32)
    for row, values in zip(weights, row_weights, strict=True):
        row[: len(values)] = values
    columns = [label(token.text) for token in (plain_signs(keys) if simple else keys)]
    if before := max(0, len(keys) - KEYS):
        weights = np.column_stack([weights[:, :before].sum(axis=1), weights[:, before:]])
        columns = [f"{before:,} before", *columns[before:]]
    names = plain_signs(names, False) if simple else names
    return grid_view(
        weights,
        [label(token.text) for token in names],
        columns,
        down="choosing",
        across="looks at",
        unit="%",
        scale=(0, 1),
        row_names=row_names(names),
        column_names=[f"to {name}" for name in columns],
        chosen=strongest_cell(weights, chosen - first),
        cell=(8, 34),
        height=20,
        label="Where it looked, a row for each token",
    )


def first_row(count: int, chosen: int) -> int:
    """Return the number of the first row on screen: the last rows are shown, or those up to the chosen one."""
    return max(0, (count if chosen >= count - ROWS else chosen + 1) - ROWS)


def strongest_cell(weights: np.ndarray, row: int) -> tuple[int, int] | None:
    """Return the row and column of a row's largest weight; None for a row without weights."""
    has_weights = np.isfinite(weights[row]).any()
    return (row, int(np.nanargmax(weights[row]))) if has_weights else None


def attention_rows(steps: Sequence[Step], kind: str, layer: int, head: int) -> list[np.ndarray]:
    """Return a head's row of weights at each step; an empty one for steps before tokens were dropped, which have other keys."""
    dropped, rows = steps[-1].dropped, []
    for step in steps:
        layers, heads, _ = step.attention[kind].shape
        has_row = step.dropped == dropped and layer < layers and head < heads
        rows.append(step.attention[kind][layer, head] if has_row else np.zeros(0, dtype=np.float32))
    return rows


def branch(
    model: LanguageModel,
    trace: Trace,
    *,
    answer: dict[str, Any],
    at: int,
    simple: bool,
    steps: Sequence[Step] | None = None,
) -> View:
    """Return the generated tokens, shaded by the probability that the model gave to each, in per cent."""
    steps = generate_again(model, trace, answer, False) if steps is None else steps
    tokens, groups = in_text([step.token for step in steps], simple, first=False)
    shares = chances(steps)
    joint = np.array([np.prod(shares[group]) for group in groups])  # of a character of several tokens, that all of them come
    return reading_view(tokens, None, group_of(groups, at), quantity=100 * joint, unit="%")


def chances(steps: Sequence[Step]) -> np.ndarray:
    """Return the probability that the model itself gave to each token, before all controls: float64 [step]."""
    return np.array([softmax(step.logits)[step.token.id] for step in steps])


# ---------------------------------------------------------------- what comes next


def bars(
    model: LanguageModel,
    trace: Trace,
    *,
    answer: dict[str, Any],
    strategy: dict[str, Any],
    count: int,
    simple: bool,
    step: Step | None = None,
) -> View:
    """Return bars of the likeliest next tokens, before and after the controls, with the one that is chosen."""
    step = generate_again(model, trace, answer)[-1] if step is None else step
    controls = Strategy(**strategy)
    scores = distribution(step.logits, step.ids, controls, step.never)
    chosen, _ = scores.choose(controls, step.position)
    best = likeliest_ids(scores, chosen, count)
    tokens = [Token(id, model.token_text(id), 0, 0, model.is_special(id)) for id in best]
    return prediction_bars(
        [plain_sign(token.text) for token in plain_signs(tokens, False)] if simple else [token.text for token in tokens],
        [float(scores.after[id]) for id in best],
        ids=best,
        whole=simple,
        before=[float(scores.before[id]) for id in best] if scores.stages else None,
        stages=("model’s own", "to choose from"),
        struck=[bool(np.isneginf(scores.final[id])) for id in best],
        marked=best.index(chosen),
    )


def likeliest_ids(scores: Distribution, chosen: int, count: int) -> list[int]:
    """Return `count` ids: the likeliest before and after the controls, and the chosen one, by probability before the controls."""
    most = min(count, len(scores.before))
    before, after = (np.argpartition(-probabilities, most - 1)[:most].tolist() for probabilities in (scores.before, scores.after))
    after = sorted((id for id in after if scores.after[id]), key=lambda id: -scores.after[id])[: most // 3]
    ids = sorted({*before, *after, chosen}, key=lambda id: (-scores.before[id], id))
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
    """Return the tree of a beam search after `count` steps. beam: the number of the answer that stands out."""
    if step is None:
        *_, step = islice(model.generate(trace.text, Strategy(**strategy), most, target, chat=chat), count)
    assert step.search is not None, "a step of a search"
    ways = [
        Way(branch.number, branch.parent, model.token_text(branch.id), branch.length, branch.score, branch.fate)
        for branch in step.search.tree
    ]
    return beam_tree(ways, looked_at=path(step.search, step.search.answers[beam].ids))


def path(search: Search, ids: Sequence[int]) -> list[int]:
    """Return the numbers of the branches that lead from the text to an answer."""
    number_of = {(branch.parent, branch.id): branch.number for branch in search.tree}
    numbers = [-1]
    for id in ids:
        numbers.append(number_of[numbers[-1], id])
    return numbers[1:]


def cache(model: LanguageModel, trace: Trace, *, answer: dict[str, Any], fresh: int, step: Step | None = None) -> go.Figure:
    """Return a figure of the keys and values in the cache, for each token that was read. fresh: how many were read last."""
    step = generate_again(model, trace, answer)[-1] if step is None else step
    return cache_boxes(step.tokens, decoder_layers(model), numbers_per_token(model, step), model.info.dtype, fresh, trace.numbers)


def decoder_layers(model: LanguageModel) -> int:
    return model.info.decoder_layers or model.info.layers


def numbers_per_token(model: LanguageModel, step: Step) -> int:
    """Return how many numbers the cache holds of one token in one layer, keys and values together."""
    read, source = len(step.tokens), len(step.source)
    more = model.cache_bytes(read + 1, source) - model.cache_bytes(read, source)  # a source has keys and values of its own
    return more // decoder_layers(model) // {"float32": 4}.get(model.info.dtype, 2)
