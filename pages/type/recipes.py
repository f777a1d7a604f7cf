"""Recipes for the pictures of this page: each takes a model, a trace, and options with literal values.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

import numpy as np

from analysis import Scope, paragraph, surprise
from analysis.merging import whole_characters
from analysis.scopes import typed
from models.images.model import ImageModel
from models.language_model import LanguageModel, Prediction
from models.tokens import Patch
from models.trace import Trace
from viz import View, model_view, patch_view, prediction_bars, reading_view, token_chips
from viz.tokens import plain_sign, plain_signs
from viz.views.prediction_bars import value_bars


def chips(
    trace: Trace,
    *,
    target: bool,
    special: bool,
    simple: bool,
    chosen: int | None,
    ids: bool,
    positions: bool,
    surprising: bool,
    link: str,
) -> View:
    """Draw the tokens of the text, or of the target; special: with special tokens; simple: each character is one chip, which says
    how many bytes it has; chosen: the index among the shown tokens."""
    tokens = trace.target if target else trace.tokens
    if simple:
        whole, groups = whole_characters(tokens)
        sizes = [len(token.text.strip(" ").encode()) if len(group) > 1 else 0 for token, group in zip(whole, groups, strict=True)]
        notes = [f"{size} bytes" if size else "" for size in sizes] if any(sizes) and not target else ()
        return token_chips(plain_signs(whole), chosen, ids=ids, link=link, notes=notes)
    places = list(range(len(tokens))) if special else typed(tokens)
    bits = surprise(trace)[places].tolist() if surprising else None
    return token_chips([tokens[i] for i in places], chosen, ids=ids, positions=positions, surprise=bits, link=link)


def bars(
    model: LanguageModel,
    trace: Trace,
    *,
    position: int,
    count: int,
    temperature: float,
    scores: bool,
    best: list[Prediction] | None = None,
    logits: np.ndarray | None = None,
) -> View:
    """Draw the likeliest predictions at a position; scores: with the logits from which the probabilities are computed."""
    logits = trace.scores_at(position) if logits is None else logits
    if logits is None:
        raise ValueError("This model has no language-model head, so it predicts nothing.")
    best = model.top(logits, position, count, temperature) if best is None else best
    return prediction_bars(
        [prediction.text if scores else plain_sign(prediction.text) for prediction in best],
        [prediction.probability for prediction in best],
        ids=[prediction.id for prediction in best],
        logits=[float(logits[prediction.id]) for prediction in best] if scores else None,
        what="Label" if model.info.labels else "Next token",
        whole=not scores,
    )


def numbers(model: LanguageModel, trace: Trace, *, position: int, count: int, heads: tuple[str, str]) -> View:
    """Draw the scores of labels that are numbers, not probabilities; heads: headings of the two columns."""
    scores = trace.scores_at(position)
    if scores is None:
        raise ValueError("This model gives no labels.")
    best = model.top(scores, position, count)
    return value_bars([label.text for label in best], [label.score for label in best], heads, still=True)


def reading(
    trace: Trace,
    seen: Scope,
    *,
    kind: str,
    layer: int,
    head: int,
    chosen: int | None,
    causal: bool,
    target: str,
    link: str,
    weights: np.ndarray | None = None,
) -> View:
    """Draw the text as typed, shaded by a head; in cross-attention the target below its source. weights: [query, key]."""
    weights = seen[layer][head] if weights is None else weights
    tokens, weights, start = paragraph(trace, kind, seen, weights, target)
    return reading_view(
        tokens, weights, None if chosen is None else start + chosen, causal=causal, second=start or None, link=link
    )


def patches(model: ImageModel, trace: Trace, *, layer: int, head: int, chosen: int, link: str, writes: str) -> View:
    """Draw a picture in patches, shaded by where a head looks. writes: as in `viz.patch_view`."""
    picture, weights = model.grid.image_of(trace.tokens), trace.attention["self"][layer][head]
    return patch_view(picture, trace.tokens, weights, chosen, link=link, writes=writes)


def maps_of(trace: Trace, chosen: int) -> np.ndarray:
    """Return where each head looks from a token of a picture, as pictures: [layers, heads, rows, columns]."""
    attention, last = trace.attention["self"], trace.tokens[-1]
    assert isinstance(last, Patch), "the last token of a picture is its last patch"
    places = [i for i, token in enumerate(trace.tokens) if not token.special]
    rows = np.stack([attention[layer][:, chosen][:, places] for layer in range(attention.layers)])
    return rows.reshape(attention.layers, -1, last.row + 1, last.column + 1)


def head_maps(trace: Trace, *, layer: int, head: int, chosen: int) -> View:
    """Draw the map of every head as a thumbnail; the largest weight of all has the full colour."""
    maps = maps_of(trace, chosen)
    maps = maps / max(float(maps.max()), 1e-9)
    numbers = trace.attention["self"].numbers
    return model_view(maps, chosen=(layer, head), side=32, largest=64, numbers=numbers, link="heads", legend=False)


def all_heads(trace: Trace, seen: Scope, *, layer: int, head: int) -> View:
    """Draw every head as a thumbnail."""
    attention = seen.attention
    maps = (seen[at] for at in range(attention.layers))
    return model_view(
        maps, chosen=(layer, head), side=32, largest=48, chooses=attention.chooses, numbers=attention.numbers, link="heads"
    )
