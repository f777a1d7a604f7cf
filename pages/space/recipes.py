"""Recipes for the pictures of this page: each takes a model, a trace, and options with literal values.

A recipe makes a long calculation only if the page has not made it already. A notebook, which contains these functions, makes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import Projection, analogy, nearest, occurrences, projection, word_states, words
from analysis.embedding import vectors, word
from analysis.projections import nearest_tokens, prepared
from models.images.model import ImageModel
from models.language_model import LanguageModel
from models.tokens import Token
from models.trace import Trace
from viz import View, patch_view, percent, space_view
from viz.tokens import label, plain_signs
from viz.views.space_view import layer_names, short

if TYPE_CHECKING:
    import pandas as pd

BY = {"cosine": "by cosine", "scaled": "by distance", "raw": "by distance"}  # how nearest tokens are found


# ---------------------------------------------------------------- The tokens of the text


def tokens(
    model: LanguageModel,
    trace: Trace,
    *,
    stack: str,
    places: list[int],
    colour: str,
    arranging: dict[str, Any],
    simple: bool,
    chosen: int | None,
    arrangement: Projection | None = None,
    near: np.ndarray | None = None,
) -> View:
    """Draw the hidden states of the tokens at these positions, in all layers. arranging: options of `analysis.projection`."""
    hidden = trace.hidden[stack][:, places]
    every = trace.target if stack == "decoder" else trace.tokens
    named = plain_signs(every) if simple else every
    here = [named[place] for place in places]
    options = colour_options(colour, here, places, hidden) | {"notes": [f"position {place}" for place in places]}
    options["stages"] = stage_names(len(hidden), trace.attention[stack].numbers, simple)
    if simple and "image" not in model.info.reads:
        options["quantity"] = "place in your text"
    return points("space-view", [token.text for token in here], hidden, arranging, simple, chosen, arrangement, near, **options)


def points(
    name: str,
    names: Sequence[str],
    hidden: np.ndarray,
    arranging: dict[str, Any],
    simple: bool,
    chosen: int | None,
    arrangement: Projection | None,
    near: np.ndarray | None,
    **options: Any,
) -> View:
    """Draw hidden states [layers + 1, point, d_model] as points; near: the nearest of each point in all dimensions,
    by the same measure."""
    arrangement = arrangement or projection(hidden, **arranging)
    near = nearest_tokens(hidden, measure=arrangement.measure) if near is None else near
    axes = None if simple else axis_names(arrangement)
    options |= {"near": near, "near_by": BY[arrangement.measure], "chosen": chosen, "name": name, "simple": simple}
    return space_view(names, arrangement.points, axes=axes, **options)


def stage_names(count: int, numbers: Sequence[int], simple: bool) -> list[str]:
    """Return the names of hidden states [layers + 1, …]; simple: without signs. numbers: the layers' numbers."""
    if not simple:
        return layer_names(count, numbers)
    after = [f"after layer {number}" for number in numbers]
    return [f"before layer {numbers[0]}", *after[:-1], f"{after[-1]}, the last"]


def axis_names(arrangement: Projection) -> list[str] | None:
    """Return the names of principal components, with their share of the variance."""
    if arrangement.explained is None:
        return None
    return [f"PC {i + 1} · {percent(share)}" for i, share in enumerate(arrangement.explained)]


def colour_options(colour: str, tokens: list[Token], places: list[int], hidden: np.ndarray) -> dict[str, Any]:
    """Return the options of the view for a choice of colours."""
    match colour:
        case "Token":
            names = [short(token.text) for token in tokens]
            count = Counter(names)
            return {"values": [name if count[name] > 1 else "" for name in names], "quantity": "tokens that come twice or more"}
        case "Part of word":
            return {"values": word_parts(tokens), "quantity": "part of word"}
        case "Norm":
            norms = np.linalg.norm(hidden, axis=-1)
            return {"values": norms, "quantity": "norm", "log": bool(norms.min() > 0)}
        case "Row" | "Column":
            side = colour.lower()
            at = ["" if token.special else f"{side} {getattr(token, side) + 1}" for token in tokens]
            return {"values": at, "quantity": side}
    return {"values": np.array(places), "quantity": "position"}


def likeness(states: np.ndarray, token: int) -> np.ndarray:
    """Return the cosine between the state of one token and that of each, in each of these layers: [layer, token]. states: [layer,
    token, d]."""
    units = prepared(states, "cosine")
    return np.clip(1 - ((units - units[:, token : token + 1]) ** 2).sum(-1) / 2, -1, 1)


def patches_alike(model: ImageModel, trace: Trace, *, stack: str, token: int) -> View:
    """Draw the picture, each patch shaded by how far its cosine to one token, after the last layer, is above the median of all
    patches: hidden states share a direction, so that all cosines are high."""
    cosines = likeness(trace.hidden[stack][-1:], token)[0]
    others = [at for at, each in enumerate(trace.tokens) if at != token and not each.special]
    values = cosines - np.median(cosines[others]) if others else cosines * np.nan
    values[token] = np.nan
    unit = "from the median cosine"
    return patch_view(model.grid.image_of(trace.tokens), trace.tokens, values=values, unit=unit, chosen=token)


def word_parts(tokens: list[Token]) -> list[str]:
    """Return each token's place in its word: "whole word", "first part", "later part", or a kind of token that is no word."""
    parts = ["" for _ in tokens]
    for group in words(tokens):
        for i in group:
            if tokens[i].special:
                parts[i] = "special"
            elif not any(character.isalnum() for character in tokens[i].text):
                parts[i] = "no letter or digit"
            else:
                parts[i] = "whole word" if len(group) == 1 else "first part" if i == group[0] else "later part"
    return parts


# ---------------------------------------------------------------- One word in several texts


def contexts(
    *traces: Trace,
    stack: str,
    word: str,
    others: list[tuple[int, int]],
    meanings: list[str],
    arranging: dict[str, Any],
    simple: bool,
    chosen: int | None,
    arrangement: Projection | None = None,
    near: np.ndarray | None = None,
) -> View:
    """Draw a word at each of its places, and other tokens, each given by the number of its text and its position. meanings: of
    the word in each text, as colours."""
    names, texts, states = word_points(traces, stack, word, others)
    count = len(names) - len(others)
    values = context_colours(traces, word, meanings, names[:count]) + [""] * len(others)
    numbered = [f"{i + 1}: {name}" for i, name in enumerate(names[:count])] + names[count:]
    stages = stage_names(len(states), traces[0].attention[stack].numbers, simple)
    options = {"notes": [short(text, 90) for text in texts], "stages": stages}
    return points("context-view", numbered, states, arranging, simple, chosen, arrangement, near, values=values, **options)


def context_colours(traces: Sequence[Trace], word: str, meanings: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return what colours each place of a word: its meaning if there are several, else the place itself."""
    places = occurrences(word, [trace.text for trace in traces], [trace.tokens for trace in traces]) if meanings else []
    colours = [meanings[place.text] for place in places]
    return colours if len(set(colours)) > 1 else [f"{i + 1}: {short(name, 40)}" for i, name in enumerate(names)]


def word_points(
    traces: Sequence[Trace], stack: str, word: str, others: Sequence[tuple[int, int]]
) -> tuple[list[str], list[str], np.ndarray]:
    """Return for each place of a word, then for the other tokens: its name, its text, and its states [layers + 1, place, d]."""
    hidden = [trace.hidden[stack] for trace in traces]
    places = occurrences(word, [trace.text for trace in traces], [trace.tokens for trace in traces])
    states = word_states(hidden, places)
    if others:
        states = np.concatenate([states, np.stack([hidden[text][:, at] for text, at in others], axis=1)], axis=1)
    names = [snippet(traces[place.text], place.positions) for place in places]
    names += [traces[text].tokens[at].text for text, at in others]
    return names, [traces[text].text for text in [*(place.text for place in places), *(text for text, _ in others)]], states


def snippet(trace: Trace, positions: tuple[int, ...]) -> str:
    """Return the word in brackets with its neighbours, as typed."""
    start, end = trace.tokens[positions[0]].start, trace.tokens[positions[-1]].end
    before = "".join(re.findall(r"\S*\s*$", trace.text[:start])[:1])
    after = re.match(r"\S+|\s*\S+", trace.text[end:])
    word = trace.text[start:end]
    gap = word[: len(word) - len(word.lstrip())]  # the space that a token begins with
    return f"{before}{gap}[{word.strip()}]{after[0] if after else ''}".strip()


# ---------------------------------------------------------------- The vocabulary


def vocabulary(
    model: LanguageModel,
    *,
    words: list[str],
    centred: bool,
    arranging: dict[str, Any],
    simple: bool,
    chosen: int | None,
    arrangement: Projection | None = None,
    near: np.ndarray | None = None,
) -> View:
    """Draw the embeddings of words; centred: with the mean of the whole vocabulary subtracted."""
    readings = [word(model, text) for text in words]
    notes = ["one token" if len(reading.ids) == 1 else "mean of " + ", ".join(map(label, reading.pieces)) for reading in readings]
    hidden = vectors(model, words, centred)[None]
    options = {"stages": ["before the first layer" if simple else "embedding"], "notes": notes}
    return points("vocabulary-view", words, hidden, arranging, simple, chosen, arrangement, near, **options)


def neighbours(model: LanguageModel, *, word: str, centred: bool, words_only: bool) -> pd.DataFrame:
    return nearest(model, word, 8, centred=centred, words_only=words_only)


def answers(model: LanguageModel, *, words: list[str], centred: bool, words_only: bool) -> pd.DataFrame:
    """Return the words nearest to a − b + c, for words a, b, c."""
    a, b, c = words
    return analogy(model, a, b, c, top=5, centred=centred, words_only=words_only)
