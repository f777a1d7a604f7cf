"""Scores each head by its attention to the previous token, once per model, and picks the head that a page shows first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from models.language_model import LanguageModel

CLEAR = 0.3  # from this mean weight or correlation on, a head is said to do what it does
_scores: WeakKeyDictionary[LanguageModel, dict[str, pd.DataFrame]] = WeakKeyDictionary()
_favourites: WeakKeyDictionary[LanguageModel, dict[str, Favourite]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Favourite:
    """The head that newcomers see first, its kind and the strength of that: "previous", its mean weight on the previous token;
    "single", the largest weight of its row where a label is read; "induction", its mean weight on the tokens after earlier
    copies; "lookup", in cross-attention, how sharply it looks up each word (`analysis.heads.lookup`); "patch", of a model of
    images, the largest weight on a patch where the label is read (mean over examples)."""

    layer: int
    head: int
    score: float
    does: str = "previous"


def previous_scores(model: LanguageModel, kind: str = "self") -> pd.DataFrame:
    """Return how much each head looks at the previous token, as in `analysis.head_scores`, computed once; over words of the
    model's own vocabulary if its tokenizer cannot spell the sample texts."""
    known = _scores.setdefault(model, {})
    if kind not in known:
        from analysis import head_scores
        from analysis.samples import Unspelt, repeats

        try:
            known[kind] = head_scores(model, kind=kind, names=("previous",))
        except Unspelt:
            known[kind] = head_scores(model, repeats(model), kind, ("previous",))
    return known[kind]


def favourite(model: LanguageModel, kind: str = "self") -> Favourite:
    """Return the head of a model that looks most at the previous token, unless another was preferred; in cross-attention, the
    head that looks up each word most sharply while the model repeats a few sentences. Of a classifier without a head that clearly
    looks at the previous token: the head that looks most at a single token where the label is read."""
    known = _favourites.setdefault(model, {})
    if kind not in known and "image" in model.info.reads:
        known[kind] = _of_patches(model)
    if kind not in known:
        known[kind] = _sharpest(model) if kind == "cross" else _nearest(previous_scores(model, kind))
        if known[kind].score <= CLEAR and kind == "self" and model.info.labels:
            known[kind] = _single(model) or known[kind]
    return known[kind]


def prefer(model: LanguageModel, best: Favourite) -> None:
    """Let newcomers see this head of a model first."""
    _favourites.setdefault(model, {})["self"] = best


def _nearest(scores: pd.DataFrame) -> Favourite:
    best = scores.iloc[int(np.nanargmax(scores["previous"]))]
    return Favourite(int(best["layer"]), int(best["head"]), float(best["previous"]))


def _single(model: LanguageModel) -> Favourite | None:
    """Return the head that looks most at a single token where a label is read (mean over texts); None if none is clear."""
    from analysis.samples import SENTENCES, Unspelt, check_spelling, pairs_of

    try:
        check_spelling(model, pairs_of(SENTENCES), False)
    except Unspelt:
        return None
    scores = np.mean([_largest_weights(model, text) for text in SENTENCES], axis=0)
    layer, head = np.unravel_index(np.nanargmax(scores), scores.shape)
    best = Favourite(int(layer), int(head), float(np.nanmax(scores)), "single")
    return best if best.score > CLEAR else None


def _largest_weights(model: LanguageModel, text: str) -> np.ndarray:
    """Return the largest weight that each head gives to one of the typed tokens where a label is read, [layers, heads]."""
    from models.numbers.ragged import stacked

    trace = model.trace(text)
    attention, places = trace.attention["self"], model.places(trace)
    typed = [i for i, token in enumerate(attention.keys) if not token.special]
    rows = stacked([attention[layer][:, places] for layer in range(attention.layers)])[..., typed]
    return rows.max(-1, initial=0.0).mean(-1, dtype=np.float64)


def _of_patches(model: LanguageModel) -> Favourite:
    """Return the head of a model of images that looks most at a single patch from its first token, where a label is read."""
    from models.images.digits import examples
    from models.images.written import PHOTOS, WrittenImage
    from models.numbers.ragged import stacked

    names = [f"photo {name}" for name in PHOTOS]
    images = (
        [example.image for example in examples()] if model.sample.size < 1000 else [WrittenImage(name).pixels() for name in names]
    )
    scores = []
    for image in images:
        attention = model.trace(image).attention["self"]
        patches = [i for i, token in enumerate(attention.keys) if not token.special]
        rows = stacked([attention[layer][:, :1] for layer in range(attention.layers)])[..., patches]
        scores.append(rows.max(-1, initial=0.0).mean(-1))
    mean = np.mean(scores, axis=0)
    layer, head = np.unravel_index(np.nanargmax(mean), mean.shape)
    return Favourite(int(layer), int(head), float(np.nanmax(mean)), "patch")


def _sharpest(model: LanguageModel) -> Favourite:
    from analysis.heads import lookup
    from analysis.samples import SHORT

    scores = np.mean([lookup(model.trace(text, text)) for text in SHORT], axis=0)
    layer, head = np.unravel_index(np.nanargmax(scores), scores.shape)
    return Favourite(int(layer), int(head), float(np.nanmax(scores)), "lookup")
