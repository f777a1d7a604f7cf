"""The path of a text through a model in one picture: tokens, vectors, one block, the stack of layers, and the probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from viz.numbers import percent_or_score
from viz.tokens import named, pieces
from viz.view import View, pack

CELLS = 16  # of a strip: of more numbers, each cell is the one furthest from 0 of those that it covers
CLEAR = 0.92  # of the cells stay within the colours; the others have the strongest
_LONGEST = 24  # characters of a token that are sent
STATIONS = ("tokens", "vectors", "look", "bridge", "mix", "forward", "layers", "chances")
TITLES = {
    "tokens": "Tokens",
    "vectors": "Vectors",
    "look": "Looking",
    "bridge": "Across",
    "mix": "Mixing",
    "forward": "Feed-forward",
    "layers": "Layers",
    "chances": "Chances",
}


@dataclass(frozen=True)
class Gaze:
    """The attention of some layers' heads from the rows of a lane, and the mixture of values that each head brings back.

    weights: by layer, [heads, row, row that is looked at], attention in [0, 1]. mixed: by layer, [heads, row, d_head], or {} if
    unknown. layer, head: the chosen ones. chosen: whether it is the chosen kind of attention.
    """

    weights: Mapping[int, np.ndarray]
    mixed: Mapping[int, np.ndarray]
    layer: int
    head: int
    chosen: bool = True


@dataclass(frozen=True)
class Lane:
    """The lane of one stack of layers. tokens: of each row, or None for the row of tokens without room; places: their positions.
    vectors: float [layers + 1, row, d_model]. gaze: its self-attention; numbers: of its layers. images: of each row, the pixels
    of its patch, uint8 [height, width, 3], or None; () for a text."""

    tokens: Sequence[Any]
    places: Sequence[int]
    vectors: np.ndarray
    gaze: Gaze
    numbers: Sequence[int]
    name: str = ""
    omitted: int = 0  # tokens that the row without a token stands for
    images: Sequence[np.ndarray | None] = ()


@dataclass(frozen=True)
class Outcome:
    """A token or a label with its probability; NaN if it only has a score."""

    text: str
    probability: float
    score: float = 0.0
    id: int | None = None


@dataclass(frozen=True)
class Words:
    """The words beside the picture. titles, notes, steps: by station, its name, a few words below that, and the sentence of its
    step, in which `{token}`, `{key}`, `{share}`, `{head}`, `{head_words}`, `{layer}`, `{layer_number}`, `{guess}`, `{chance}`,
    `{best}` and `{best_share}` are placeholders. titles["whole"]: the player's name for the step after the last station. rest:
    sentences for it ("rest", "sum", "again", "next", "no guess"), for a token that is pointed at ("pointed"), for the opening
    ("start"), and about the open head ("open"), the first token ("sink"), a word in several tokens ("cut") and the stripes
    ("stripes")."""

    titles: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    steps: Mapping[str, str] = field(default_factory=dict)
    rest: Mapping[str, str] = field(default_factory=dict)


def stations_view(
    lanes: Sequence[Lane],
    row: int,
    guesses: Sequence[Outcome],
    outcomes: Sequence[Outcome],
    *,
    bridge: Gaze | None = None,
    words: Words | None = None,
    others: str = "",
    links: Mapping[str, str] | None = None,
    leads: bool = False,
    simple: bool = False,
    begins: bool = False,
    text: str = "",
    label: str = "",
) -> View:
    """Draw a text's path through a model. lanes: one, or those of an encoder and a decoder, which `bridge` joins.

    row: the row of the last lane whose path is shown while none is pointed at. guesses: the predictions at that row if the model
    stopped after the embedding and after each layer; () where it predicts nothing. outcomes: the model's predictions; others: a
    few words on all others. links: by station, the page of the app that shows it, with the entries that its address adds to this
    page's. leads: whether a click on a layer or head is sent to the app; else only the picture turns to it. simple: chances in
    whole per cent, and no guess before the first layer. begins: whether the picture opens at its first station, until it is
    played or `text` changes; text: all that the model read, "" to tell by the rows.

    Vectors and mixtures are sent as uint8, 128 for 0, each layer with its own scale; weights as uint8, exact to 1/510, and
    the largest of each row, which is also written, as two bytes, exact to 1/131070. A click sends `chosen`: `{"open": station}`,
    `{"token": [lane, position]}`, `{"layer", "head"}` or `{"outcome": id}`, each with `n`, which grows. Raises ValueError for a
    row that does not exist, and for a wrong number of guesses.
    """
    words = words or Words()
    last = lanes[-1]
    if not 0 <= row < len(last.tokens):
        raise ValueError(f"Row {row} of {len(last.tokens)}: give the place of a token in the last lane.")
    if guesses and len(guesses) != len(last.vectors):
        raise ValueError(f"{len(guesses)} guesses for {len(last.vectors)} vectors of a token: give one for each.")
    arrays: dict[str, np.ndarray] = {}
    gazes = {**{f"lane{i}": lane.gaze for i, lane in enumerate(lanes)}, **({"bridge": bridge} if bridge else {})}
    for i, lane in enumerate(lanes):
        arrays[f"vectors-lane{i}"] = shades(lane.vectors)
        if patches := [image for image in lane.images if image is not None]:
            none = np.zeros_like(patches[0])
            arrays[f"images-lane{i}"] = np.stack([none if image is None else image for image in lane.images])
    for name, gaze in gazes.items():
        arrays |= _packed(name, gaze)
    stations = [name for name in STATIONS if (name != "bridge" or bridge) and (name != "chances" or outcomes)]
    header: dict[str, Any] = {
        "label": label or "The way of a text through the model",
        "row": row,
        "leads": leads,
        "simple": simple,
        "begins": begins,
        "text": text,
        "lanes": [_lane(lane) for lane in lanes],
        "gazes": {name: _gaze(gaze) for name, gaze in gazes.items()},
        "stations": [
            {
                "key": name,
                "title": words.titles.get(name) or TITLES[name],
                "note": words.notes.get(name, ""),
                "step": words.steps.get(name, ""),
                "link": (links or {}).get(name, ""),
            }
            for name in stations
        ],
        "whole": words.titles.get("whole") or "All together",
        "rest": dict(words.rest),
        "others": others,
        "guesses": [_outcome(guess, simple) for guess in guesses],
        "outcomes": [_outcome(outcome, simple) for outcome in outcomes],
    }
    return View("stations_view", pack(header, **arrays), header["label"])


def shades(values: np.ndarray) -> np.ndarray:
    """Return the cells of strips, uint8 [layer, …, CELLS], 128 for 0, each layer with its own scale."""
    flat = np.nan_to_num(np.asarray(values, dtype=np.float32))
    if flat.shape[-1] > CELLS:
        if flat.shape[-1] % CELLS:
            starts = np.arange(CELLS) * flat.shape[-1] // CELLS
            low, high = np.minimum.reduceat(flat, starts, axis=-1), np.maximum.reduceat(flat, starts, axis=-1)
        else:
            blocks = flat.reshape(*flat.shape[:-1], CELLS, -1)
            low, high = blocks.min(-1), blocks.max(-1)
        flat = np.where(-low > high, low, high)
    sizes = np.abs(flat).reshape(len(flat), -1)
    at = int(CLEAR * (sizes.shape[1] - 1)) if sizes.shape[1] else 0
    limits = np.partition(sizes, at, axis=1)[:, at] if sizes.size else np.ones(len(flat), np.float32)
    limits = np.where(limits > 0, limits, np.maximum(sizes.max(1, initial=0.0), 1e-9))
    scaled = flat / limits.reshape(-1, *[1] * (flat.ndim - 1))
    return np.rint(128 + 127 * np.clip(scaled, -1, 1)).astype(np.uint8)


def _packed(name: str, gaze: Gaze) -> dict[str, np.ndarray]:
    """Return the weights of a gaze, the largest of each row as two bytes, and the strips; missing heads of layers with fewer
    heads are 0."""
    layers = sorted(gaze.weights)
    weights = np.nan_to_num(_stacked([gaze.weights[layer] for layer in layers]))
    largest = np.rint(65535 * np.clip(weights.max(-1, initial=0.0), 0, 1)).astype(">u2")
    each = np.rint(255 * np.clip(weights, 0, 1)).astype(np.uint8)
    arrays = {f"weights-{name}": each, f"largest-{name}": largest[..., None].view(np.uint8)}
    if gaze.mixed:
        arrays[f"mixed-{name}"] = shades(_stacked([gaze.mixed[layer] for layer in layers]))
    return arrays


def _stacked(layers: list[np.ndarray]) -> np.ndarray:
    """Stack arrays [head, …] of layers; heads that a layer does not have are 0."""
    most = max(map(len, layers))
    return np.stack([np.pad(of, [(0, most - len(of)), (0, 0), (0, 0)]) if len(of) < most else of for of in layers])


def _gaze(gaze: Gaze) -> dict[str, Any]:
    layers = sorted(gaze.weights)
    counts = [len(gaze.weights[layer]) for layer in layers]
    return {"layers": layers, "counts": counts, "layer": gaze.layer, "head": gaze.head, "chosen": gaze.chosen}


def _lane(lane: Lane) -> dict[str, Any]:
    texts = [None if token is None else token if isinstance(token, str) else token.text for token in lane.tokens]
    short = [None if text is None else text.replace(", column ", ", col ") if lane.images else text for text in texts]
    return {
        "name": lane.name,
        "tokens": [None if text is None else pieces(text[:_LONGEST]) for text in short],
        "names": ["" if text is None else named(text[:_LONGEST]) for text in texts],
        "places": [int(place) for place in lane.places],
        "numbers": [int(number) for number in lane.numbers],
        "omitted": lane.omitted,
        "pictured": [image is not None for image in lane.images],
    }


def _outcome(outcome: Outcome, simple: bool) -> dict[str, Any]:
    share = outcome.probability if outcome.probability == outcome.probability else 0.0
    return {
        "text": pieces(outcome.text[:_LONGEST]),
        "name": named(outcome.text[:_LONGEST]),
        "share": float(f"{share:.4g}"),
        "number": percent_or_score(outcome.probability, outcome.score, whole=simple),
        "id": outcome.id,
    }
