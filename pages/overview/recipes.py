"""The recipe for the picture of this page: it takes a model, a trace, and options with literal values.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from analysis import scope
from analysis.lens import guesses, layer_scores
from models.language_model import LanguageModel
from models.tokens import Patch, Token
from models.trace import Attention, Trace
from viz import View
from viz.numbers import percent, whole_percent
from viz.tokens import named, plain_name, plain_signs
from viz.views.stations_view import Gaze, Lane, Outcome, Words, stations_view

MOST = 2**21  # weights of all layers: of a longer text only the chosen layer is sent


def whole_way(
    trace: Trace,
    *,
    kind: str,
    layers: dict[str, int],
    heads: dict[str, int],
    position: int,
    rows: int,
    count: int,
    predicts: bool,
    simple: bool,
    words: dict[str, dict[str, str]] | None = None,
    leads: bool = False,
    begins: bool = False,
    links: dict[str, str] | None = None,
) -> View:
    """Draw the path of a text. layers, heads: the chosen ones, by the kind of attention; position: of the token in `trace.read`
    whose path is shown; rows: how many tokens of a lane are shown; count: how many predictions; predicts: whether the model
    predicts something at that position; simple: with tokens as beginners read them; begins: at the first station, until the text
    changes."""
    model = trace.model
    assert isinstance(model, LanguageModel), "a trace from a file has no model to ask for predictions"
    stacks = ("encoder", "decoder") if trace.target else ("self",)
    main = "cross" if trace.target else "self"
    looks = trace.attention[main][layers[main]][heads[main], position]
    of_image = isinstance(trace.tokens[-1], Patch)
    sides = sides_of(trace, position, looks, rows, simple)
    lanes = []
    for stack in stacks:
        tokens, groups = sides[stack]
        attention = trace.attention[stack]
        gaze = gaze_of(attention, groups, groups, layers[stack], heads[stack], stack == kind)
        places = [group[-1] if group else 0 for group in groups]
        vectors = trace.hidden[stack][:, places]
        name = {"self": "", "encoder": "source", "decoder": "target"}[stack]
        omitted = len(attention.queries) - len({place for group in groups for place in group})
        images = [token.picture if isinstance(token, Patch) else None for token in tokens] if of_image else ()
        lanes.append(Lane(tokens, places, vectors, gaze, attention.numbers, name, omitted, images))
    bridge = None
    if trace.target:
        read, written = sides["encoder"][1], sides["decoder"][1]
        bridge = gaze_of(trace.attention["cross"], written, read, layers["cross"], heads["cross"], kind == "cross")
    guessed, outcomes = predicted(model, trace, position, count, simple) if predicts else ([], [])
    others = "" if model.info.labels else all_others(outcomes, simple)
    row = next(i for i, group in enumerate(sides[stacks[-1]][1]) if position in group)
    return stations_view(
        lanes,
        row,
        guessed,
        outcomes,
        bridge=bridge,
        words=Words(**(words or {})),
        others=others,
        links=links,
        leads=leads,
        simple=simple,
        begins=begins,
        text="\n".join([trace.text, *(token.text for token in trace.target)]),
        label=f"The way of a {'picture' if of_image else 'text'} through {model.info.name}",
    )


Side = tuple[list[Token | None], list[list[int]]]
"""The tokens of a lane that have a row, and the positions that each joins; None and [] for the row of all others."""


def sides_of(trace: Trace, position: int, looks: np.ndarray, rows: int, simple: bool) -> dict[str, Side]:
    """Return the rows of each lane. looks: the weights of the row at the position, [token that is looked at]."""
    if isinstance(trace.tokens[-1], Patch):
        return {"self": select_patches(trace.attention["self"], position, looks, rows)}
    looked = int(looks.argmax())
    around = {"self": (position, looked), "encoder": (looked, looked), "decoder": (position, position)}
    stacks = ("encoder", "decoder") if trace.target else ("self",)
    return {stack: select_rows(trace.attention[stack], *around[stack], rows, simple) for stack in stacks}


def select_rows(attention: Attention, position: int, looked: int, most: int, simple: bool) -> Side:
    """Return the rows of a text. For a long one these are the first token, those up to `position`, and the one that is looked at.

    simple: characters in one piece, tokens as beginners read them, and no spaces before words.
    """
    side = scope(attention, whole_characters=simple and any(token.fragment for token in attention.queries)).queries
    tokens = [replace(token, text=named(token.text)) for token in plain_signs(side.tokens)] if simple else side.tokens
    count = len(tokens)
    if count <= most:
        return list(tokens), side.groups
    focus, far = (next(i for i, group in enumerate(side.groups) if at in group) for at in (position, looked))
    selected = {0, focus, far}
    for step in range(1, count):  # back from the token, then on from it
        near = focus - step if step < focus else step + 1
        selected |= {near} if len(selected) < most - 1 and near < count else set()
    places: list[int | None] = [*sorted(selected)]
    gap = next((i for i, (a, b) in enumerate(pairwise(sorted(selected)), 1) if b - a > 1), len(places))
    places.insert(gap, None)
    return [None if i is None else tokens[i] for i in places], [[] if i is None else side.groups[i] for i in places]


def select_patches(attention: Attention, position: int, weights: np.ndarray, most: int) -> Side:
    """Return the rows of an image. For more tokens than rows these are the first, the one at `position`, and those that it looks
    at most. weights: [token]."""
    tokens = attention.queries
    if len(tokens) <= most:
        return list(tokens), [[at] for at in range(len(tokens))]
    selected = {0, position}
    for at in np.argsort(-weights, kind="stable").tolist():
        if len(selected) < most - 1:
            selected.add(at)
    places = sorted(selected)
    return [*(tokens[at] for at in places), None], [*([at] for at in places), []]


def gaze_of(
    attention: Attention, queries: Sequence[Sequence[int]], keys: Sequence[Sequence[int]], layer: int, head: int, chosen: bool
) -> Gaze:
    """Return the heads' attention between rows, and the mixture that each brings back; the row of all others gets their sum."""
    cells = sum(attention.counts) * len(attention.queries) * len(attention.keys)
    sent = range(attention.layers) if cells <= MOST else [layer]
    weights = {at: between(attention[at], queries, keys) for at in sent}
    mixed: dict[int, np.ndarray] = {}
    try:
        mixed = {at: attention.out(at)[:, [group[-1] if group else 0 for group in queries]] for at in sent}
    except ValueError:  # of some models only the weights are known
        mixed = {}
    for given in mixed.values():
        given[:, [i for i, group in enumerate(queries) if not group]] = 0
    return Gaze(weights, mixed, layer, head, chosen)


def between(weights: np.ndarray, queries: Sequence[Sequence[int]], keys: Sequence[Sequence[int]]) -> np.ndarray:
    """Convert weights [head, query, key] to weights between rows: the mean over a row's queries, the sum over its keys. The row
    without tokens stands for all tokens that have no row: it gets the rest, and gives nothing."""
    if weights.shape[1:] == (len(queries), len(keys)) and all(len(group) == 1 for group in (*queries, *keys)):
        return weights
    rows = weights[:, [group[0] if group else 0 for group in queries]]
    for i, group in enumerate(queries):
        if len(group) != 1:
            rows[:, i] = weights[:, list(group)].mean(1) if group else 0
    cells = rows[:, :, [group[0] if group else 0 for group in keys]]
    for i, group in enumerate(keys):
        if len(group) != 1:
            seen = {place for others in keys for place in others}
            left = [place for place in range(weights.shape[2]) if place not in seen]
            cells[:, :, i] = rows[:, :, list(group) or left].sum(-1)
    return cells


def predicted(model: LanguageModel, trace: Trace, position: int, count: int, simple: bool) -> tuple[list[Outcome], list[Outcome]]:
    """Return the guess after each layer, and the likeliest outcomes, at a position."""
    scores = layer_scores(trace, position)
    best = model.top(scores[-1], position, count)
    outcomes = [Outcome(spelt(token.text, simple), token.probability, token.score, token.id) for token in best]
    each: list[Any] = [values.tolist() for values in guesses(model, scores)]
    guessed = [
        Outcome(spelt(model.outcome(id), simple), probability, score, id) for id, probability, score in zip(*each, strict=True)
    ]
    return guessed, outcomes


def all_others(outcomes: Sequence[Outcome], simple: bool) -> str:
    """Return the probability of all other tokens, in words; "" where nothing is left of it."""
    left = 1 - sum(outcome.probability for outcome in outcomes)
    return f"all others together: {(whole_percent if simple else percent)(left)}" if outcomes and left > 1e-4 else ""


def spelt(text: str, simple: bool) -> str:
    """Return the text of a token; simple: without the space before it."""
    return named(plain_name(text)) if simple else text
