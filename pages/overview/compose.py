"""The board of page "Overview": a text's whole path through the model in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analysis import scope
from analysis.lens import guesses, layer_scores
from pages.overview import recipes, stations
from ui.look import Look
from ui.memory.favourites import favourite
from ui.picture.board import Board, Draft
from ui.picture.picture import Numbers, Picture
from viz.tokens import named

HERE = Path(__file__).parent
KEY = "overview"
ROWS = 16  # tokens that are shown of a text
OF_TWO, NARROW = 7, {1: 9, 2: 5}  # of each of two texts; on a telephone
BARS = {"beginner": 5, "intermediate": 8, "expert": 8}


def compose(look: Look) -> Board:
    """Return the board of a text. It does not read the session, so any thread may call it."""
    draft = Draft(HERE, look)
    with draft.attempt("The overview", KEY):
        draft.add(picture(draft), KEY)
    with draft.attempt("The words below"):
        stations.say(draft)
    return draft.finished()


def compose_from(look: Look, values: Mapping[str, Any]) -> Board:
    """Return the board of a text, for a message. values: none, because all that is chosen here holds for every page."""
    return compose(look)


def picture(draft: Draft) -> Picture:
    look = draft.look
    trace, at = look.trace, position_of(look)
    lanes, predicts = 2 if trace.target else 1, predicts_at(look, at)
    options = {
        "kind": look.kind,
        **chosen_heads(look),
        "position": at,
        "rows": NARROW[lanes] if look.narrow else OF_TWO if lanes == 2 else ROWS,
        "count": BARS[look.level],
        "predicts": predicts,
        "simple": look.beginner,
        "words": stations.words(draft, predicts, named(look.spell_tokens(trace.read)[at].text)),
        "leads": not look.beginner,
        "begins": look.level != "expert" and look.chosen_token is None,
        "links": stations.links(look),
    }
    return Picture(
        recipes.whole_way,
        (look,),
        options,
        KEY,
        lambda: numbers(look, at, predicts),
        title="Overview",
        words=f"through {look.head_name}",
        takes=("trace",),
    )


def position_of(look: Look) -> int:
    """Return the position in `trace.read` whose path is shown: the selected token's, or for encoders and classifiers one with a
    prediction."""
    model, trace = look.model, look.trace
    if look.kind == "encoder":
        return len(trace.read) - 1
    places = model.places(trace) if trace.predicts else []
    if model.info.labels:
        return look.predicted_at
    if model.info.kind == "encoder" and places:
        return look.token if look.token in places else look.default_position
    return look.token_among(len(trace.read))


def predicts_at(look: Look, position: int) -> bool:
    """Return whether the model predicts something at a position: an encoder only at its masks."""
    if not look.trace.predicts:
        return False
    return look.model.info.kind != "encoder" or position in look.model.places(look.trace)


def chosen_heads(look: Look) -> dict[str, dict[str, int]]:
    """Return the layer and head for each kind of attention: the chosen ones, and for other kinds the favourite's, in the same
    block if possible."""
    if not look.trace.target:
        return {"layers": {"self": look.layer}, "heads": {"self": look.head}}
    kinds = {kind: favourite(look.model, kind) for kind in ("encoder", "decoder", "cross")}
    layers = {kind: first.layer for kind, first in kinds.items()} | {look.kind: look.layer}
    block = layers[look.kind if look.kind != "encoder" else "cross"]
    layers |= {"decoder": block, "cross": block}
    heads = {kind: first.head if first.layer == layers[kind] else 0 for kind, first in kinds.items()}
    return {"layers": layers, "heads": heads | {look.kind: look.head}}


def numbers(look: Look, position: int, predicts: bool) -> dict[str, Numbers]:
    """Return the picture's numbers for download: the weights, and the guess after each layer."""
    model, trace = look.model, look.trace
    arrays = {"weights": Numbers(scope(trace.attention[look.kind]), ("layer", "head", "from", "to"))}
    if not predicts:
        return arrays
    ids, probabilities, scores = guesses(model, layer_scores(trace, position))
    after = {"stage": ["input", *(f"L{number}" for number in trace.numbers)]}
    texts = np.array([model.outcome(id) for id in ids.tolist()], dtype=str)
    return arrays | {
        "guess": Numbers(texts, ("stage",), after),
        "probability of the guess": Numbers(probabilities, ("stage",), after),
        "score of the guess": Numbers(scores, ("stage",), after),
    }
