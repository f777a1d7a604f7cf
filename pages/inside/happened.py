"""Computed sentences for beginners: what each station did with this text, and how the best guess changed from layer to layer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from analysis import inside
from analysis.lens import guesses, layer_scores
from models.trace import Trace
from pages.inside import naming, recipes
from pages.inside.pieces.sentences import quantity
from ui.look import Look
from ui.picture.board import Draft
from viz.numbers import whole_percent
from viz.tokens import named

RUNS = 4  # layers with another guess than the one before, that a sentence lists
Guess = tuple[int, float]  # the likeliest outcome and its chance


def by_layer(look: Look, way: inside.Way) -> list[Guess]:
    """Return the best guess after the embedding and after each layer; [] where the model makes no guess there."""
    trace: Trace = look.trace
    if way.stack == "encoder" or trace.unembed is None or not len(trace.stream):
        return []
    at = look.token_among(trace.stream.shape[1])
    ids, chances, _ = guesses(look.model, layer_scores(trace, at))
    return list(zip(ids.tolist(), chances.tolist(), strict=True))


def around_layer(look: Look, way: inside.Way) -> dict[str, str]:
    """Return the best guess before the followed layer and after it; nothing where there is none."""
    best = by_layer(look, way)
    if way.layer is None or len(best) <= way.layer + 1:
        return {}
    (before, before_share), (after, after_share) = best[way.layer], best[way.layer + 1]
    return {
        "before": quoted(look, before),
        "before_share": whole_percent(before_share),
        "after": quoted(look, after),
        "after_share": whole_percent(after_share),
        "changed": " changed" if before != after else "",
        "layer": str(look.trace.numbers[way.layer]),
    }


def runs(look: Look, way: inside.Way) -> list[tuple[str, str]]:
    """Return the layers that agree on their best guess, by name, and the guess; the middle of many is left out."""
    best, numbers = by_layer(look, way)[1:], look.trace.numbers
    if len(best) != len(numbers):
        return []
    parts = []
    for guess, members in groupby(zip(numbers, best, strict=True), lambda pair: pair[1][0]):
        layers = [number for number, _ in members]
        where = f"L{layers[0]}" if len(layers) == 1 else f"L{layers[0]} to L{layers[-1]}"
        parts.append((where, quoted(look, guess)))
    return parts if len(parts) <= RUNS else [parts[0], ("…", ""), *parts[-(RUNS - 1) :]]


def listed(parts: Sequence[tuple[str, str]]) -> str:
    """Return layers and their guesses as a list in words."""
    return ", ".join(f"{where} {guess}".strip() for where, guess in parts)


def line(draft: Draft, way: inside.Way, stage: inside.Stage | str) -> str:
    """Return what a station did with this text in a few words; "" where there is nothing to compute."""
    look, name = draft.look, stage if isinstance(stage, str) else stage.name
    if name == "pieces":
        return draft.words("happened pieces", tokens=quantity(len(way.tokens), "token"))
    if isinstance(stage, str) or not recipes.known(stage):
        return ""
    if name in ("weights", "mixed values", "cross weights"):
        facts = looked_most(look, way, "cross weights" if name.startswith("cross") else "weights")
    elif name == "embeddings":
        facts = {"token": token_of(look, stage), "size": f"{stage.sizes[-1]:,}"}
    elif name == "feed-forward":
        facts = around_layer(look, way)
        name += facts.get("changed", "")
    elif name == "blocks":
        on_the_way = [guess or where for where, guess in runs(look, way)]
        facts = {"guesses": " → ".join(on_the_way)} if on_the_way else {}
        name += " same" if len(on_the_way) == 1 else ""
    elif name == "choice":
        facts = chosen(look, way)
    else:
        facts = {}
    return draft.words(f"happened {name}", **facts) if facts else ""


def chosen(look: Look, way: inside.Way) -> dict[str, str]:
    """Return the best guess at the end, with its chance."""
    best = by_layer(look, way)
    return {"guess": quoted(look, best[-1][0]), "share": whole_percent(best[-1][1])} if best else {}


def looked_most(look: Look, way: inside.Way, name: str) -> dict[str, str]:
    """Return the token, the one that it looks at most, and its share; nothing where the weights are not known."""
    weights = next((stage for stage in way.stages if stage.name == name and recipes.known(stage)), None)
    if weights is None:
        return {}
    row = recipes.nearest(weights, look.token)
    shares = recipes.plane(weights, [row], recipes.layer_of(weights, look.head, look.trace.attention[way.stack].heads))[0]
    if not np.isfinite(shares).any():
        return {}
    best = int(np.nanargmax(shares))
    most = naming.along(look, weights, weights.axes[-1], best)
    return {"token": token_of(look, weights), "most": most, "share": whole_percent(float(shares[best]))}


def token_of(look: Look, stage: inside.Stage) -> str:
    """Return the followed token in quotes."""
    axis = naming.row_axis(stage)
    return naming.along(look, stage, axis, recipes.nearest(stage, look.token))


def quoted(look: Look, outcome: int) -> str:
    """Return a guess in quotes."""
    return f"“{named(look.outcome(outcome))}”"
