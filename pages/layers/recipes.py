"""Recipes for the pictures of this page: each takes a trace, its shown part, and options with literal values.

A recipe makes a long calculation only if the page has not made it already. A notebook, which contains these functions, makes it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from analysis import HeadMap, Pair, Scope, as_written, head_divergence, head_map, head_statistics, maps, pair
from analysis.lens import Lens, lens, translator
from models.images.model import ImageModel
from models.language_model import LanguageModel
from models.trace import Attention, Trace
from viz import View, grid_view, patch_view, percent, reading_view
from viz.figures.heads import head_scatter
from viz.tokens import label, plain_name
from viz.views.grid_view.layers import answer_grid, attention_movie, head_grid, lens_grid, likeliest, rank_grid

TOP = 5  # likeliest tokens that are shown


# ---------------------------------------------------------------- Evolution


def text(trace: Trace, seen: Scope, *, side: str, at: int, other: int, texts: list[str], mean: np.ndarray | None = None) -> View:
    """Draw the text of the queries ("from") or of the keys ("to"), shaded by the mean over layers and heads; one is chosen."""
    shares = over(maps(seen.attention) if mean is None else mean)
    tokens = as_written((seen.queries if side == "from" else seen.keys).tokens, *texts)
    of = shares[:, other] if side == "from" else shares[other]
    return reading_view(tokens, None, at, side == "to", quantity=100 * np.asarray(of, dtype=float), unit="%")


def layer_on_picture(model: ImageModel, trace: Trace, *, layer: int, chosen: int, link: str) -> View:
    """Draw a picture shaded by where the heads of a layer look, on average."""
    weights = trace.attention["self"][layer].mean(0)
    return patch_view(model.grid.image_of(trace.tokens), trace.tokens, weights, chosen, link=link, small=True)


def over(mean: np.ndarray) -> np.ndarray:
    """Return the mean of maps [layer, query, key] over the layers: [query, key]; NaN where no layer sees the key."""
    return np.where(np.isfinite(mean).any(0), np.nan_to_num(mean).mean(0), np.nan)


def pair_weights(trace: Trace, seen: Scope, *, query: int, key: int, in_heads: Pair | None = None) -> View:
    in_heads = in_heads or pair(seen.attention, query, key)
    notes = [[f"rank {rank} of {keys}" for rank in row] for row, keys in zip(in_heads.ranks, in_heads.keys, strict=True)]
    numbers = seen.attention.numbers
    return head_grid(in_heads.weights, unit="%", scale=(0, 1), notes=notes, label="Weight", numbers=numbers)


def pair_ranks(trace: Trace, seen: Scope, *, query: int, key: int, in_heads: Pair | None = None) -> View:
    in_heads = in_heads or pair(seen.attention, query, key)
    return rank_grid(in_heads.ranks, in_heads.keys.tolist(), numbers=seen.attention.numbers)


def movie(
    trace: Trace,
    seen: Scope,
    *,
    head: int | None,
    chosen: tuple[int, int],
    name: str,
    drawn: np.ndarray | None = None,
) -> View:
    """Draw the map of a head, or of the mean of all, layer by layer."""
    drawn = maps(seen.attention, head) if drawn is None else drawn
    return attention_movie(seen.queries.tokens, seen.keys.tokens, drawn, chosen, name, seen.attention.numbers)


# ---------------------------------------------------------------- Statistics


def statistic(
    trace: Trace,
    seen: Scope,
    *,
    name: str,
    title: str,
    unit: str,
    scale: tuple[float, float] | None,
    chosen: tuple[int, int] | None,
    values: np.ndarray | None = None,
) -> View:
    """Draw a number of every head, [layer, head]."""
    if values is None:
        values = head_statistics(seen.attention)[name].to_numpy().reshape(seen.attention.layers, seen.attention.heads)
    notes = [[f"{nats / np.log(2):.2f} bits" for nats in row] for row in values] if name == "entropy" else None
    each = [f"Σ {total / 2:.3g}" for total in values.sum(-1)] if name == "diversity" else None
    return head_grid(
        values, unit=unit, scale=scale, notes=notes, row_notes=each, chosen=chosen, label=title, numbers=seen.attention.numbers
    )


def head_points(trace: Trace, seen: Scope, *, plane: HeadMap | None = None) -> go.Figure:
    plane = plane or head_map(head_divergence(seen.attention))
    return head_scatter(plane.points, seen.attention.layers, numbers=seen.attention.numbers)


def divergences(trace: Trace, seen: Scope, *, divergence: np.ndarray | None = None) -> View:
    """Draw the distances between heads, [head, head]."""
    divergence = head_divergence(seen.attention) if divergence is None else divergence
    names = head_names(seen.attention)
    return grid_view(
        divergence,
        names,
        names,
        down="head",
        across="head",
        unit="bits",
        row_names=[f"{name} and" for name in names],
        cell=(2, 12),
        label="Divergence of every two heads",
    )


def head_names(attention: Attention) -> list[str]:
    return [f"L{number} H{head}" for number in attention.numbers for head in range(attention.heads)]


# ---------------------------------------------------------------- Lens


def lens_cells(
    model: LanguageModel,
    trace: Trace,
    *,
    positions: list[int],
    tokens: list[str],
    tuned: bool,
    colour: str,
    chosen: tuple[int, int],
    simple: bool,
    predictions: Lens | None = None,
) -> View:
    """Draw what each layer would predict at each position; beginners do not see the input, which is no layer."""
    predictions = shown_rows(predictions or through(model, trace, positions, tuned), simple)
    spell = plain_name if simple else str
    best = [[spell(model.token_text(int(id))) for id in row] for row in predictions.ids[:, :, 0]]
    answers = [label(spell(model.token_text(int(id)))) for id in predictions.answer]
    notes = [
        [
            f"“{label(text)}” {percent(share)}\n{beside(answer, rank, kl, simple)}"
            for text, share, answer, rank, kl in zip(
                best[row], predictions.probabilities[row, :, 0], answers, predictions.rank[row], predictions.kl[row], strict=True
            )
        ]
        for row in range(len(best))
    ]
    across = "at this mask" if model.info.kind == "encoder" else "after reading this token"
    return lens_grid(
        tokens,
        best,
        predictions.probabilities[:, :, 0],
        predictions.rank,
        predictions.kl,
        colour,
        across,
        (chosen[0] - simple, chosen[1]),
        notes,
        trace.numbers,
    )


def lens_position(
    model: LanguageModel,
    trace: Trace,
    *,
    positions: list[int],
    tuned: bool,
    column: int,
    layer: int,
    simple: bool,
    predictions: Lens | None = None,
) -> View:
    """Draw the likeliest tokens of every layer at one position."""
    predictions = shown_rows(predictions or through(model, trace, positions, tuned), simple)
    ids, shares = predictions.ids[:, column], predictions.probabilities[:, column]
    spell = plain_name if simple else str
    return likeliest([[spell(model.token_text(int(id))) for id in row] for row in ids], shares, layer - simple, trace.numbers)


def lens_answer(
    model: LanguageModel,
    trace: Trace,
    *,
    positions: list[int],
    tuned: bool,
    column: int,
    layer: int,
    simple: bool,
    predictions: Lens | None = None,
) -> View:
    """Draw how the answer of the last layer rises through the layers at one position."""
    predictions = shown_rows(predictions or through(model, trace, positions, tuned), simple)
    answer = model.token_text(int(predictions.answer[column]))
    answer = plain_name(answer) if simple else answer
    each = zip(predictions.rank[:, column], predictions.kl[:, column], strict=True)
    notes = [rank_in_words(rank) if simple else f"rank {rank:,} · KL {kl:.2f}" for rank, kl in each]
    return answer_grid(answer, predictions.probability[:, column], notes, layer - simple, trace.numbers)


def shown_rows(predictions: Lens, simple: bool) -> Lens:
    """Return the predictions of the rows on screen: all, or those of the layers."""
    rows = {name: getattr(predictions, name)[simple:] for name in ("ids", "probabilities", "rank", "probability", "kl")}
    return replace(predictions, **rows)


def through(model: LanguageModel, trace: Trace, positions: list[int], tuned: bool) -> Lens:
    """Return the predictions through the lens. Errors: ValueError for a tuned lens if these weights have none."""
    translate = translator(model) if tuned else None
    if tuned and translate is None:
        raise ValueError("There is no tuned lens for this model yet. Train one on page Layers, part Lens, first.")
    return lens(trace, positions, TOP, translate)


def beside(answer: str, rank: int, kl: float, simple: bool) -> str:
    """Return a note on the final answer for a cell, whose likeliest token may be another one."""
    return f"“{answer}”: {rank_in_words(rank)}" if simple else f"rank of “{answer}”: {rank:,}, KL {kl:.2f} nats"


def rank_in_words(rank: int) -> str:
    """Return words on how near the answer is to being chosen."""
    return "first choice" if rank == 1 else f"among the first {TOP}" if rank <= TOP else "far behind"
