"""Statistics of the heads of a model of images over the patches of pictures, beside the same weights with positions shuffled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.corpora import interval
from analysis.labels import likeness_of_maps
from analysis.statistics import Report, silent
from models.images.digits import examples
from models.images.written import PHOTOS, WrittenImage
from models.language_model import LanguageModel
from models.numbers.ragged import stacked
from models.tokens import Patch, Token
from models.trace import Attention

if TYPE_CHECKING:
    import pandas as pd

SHUFFLES, SEED = 20, 0
MARGIN = 0.05  # by which a head's mean must be above that of its shuffles for a label
LABELS = ("row", "column", "neighbours", "current", "leading")  # shares of attention, which may be labels
SCORES = (*LABELS, "distance", "positional")
SMALL = 1000  # numbers of an image, up to which a model is taken to read digits


def sample_pictures(model: LanguageModel) -> list[np.ndarray]:
    """Return the pictures on which a model's heads are measured: ten digits that no training of ours has seen, or for models of
    larger images the two photographs that come with scikit-learn."""
    if model.sample.size < SMALL:
        return [example.image for example in examples()]
    return [WrittenImage(f"photo {name}").pixels() for name in PHOTOS]


def kinds_of_patches(tokens: Sequence[Token]) -> dict[str, np.ndarray]:
    """Mark the tokens of each kind, seen from each patch: bool [patch, token] by name, and "distance" as float64, in patches.

    row, column: other patches of the same row or column. neighbours: the up to eight patches around it. current: itself. leading:
    the tokens before the patches, such as [CLS] and registers. distance: from the middle of one patch to that of the other; 0 to
    the tokens before the patches, which have no place.
    """
    is_patch = np.array([isinstance(token, Patch) for token in tokens])
    patches = [token for token in tokens if isinstance(token, Patch)]
    places = np.zeros((len(tokens), 2))
    places[is_patch] = [(patch.row, patch.column) for patch in patches]
    down, across = np.abs(places[is_patch, None] - places[None]).transpose(2, 0, 1)
    apart = is_patch & (down + across > 0)
    return {
        "row": apart & (down == 0),
        "column": apart & (across == 0),
        "neighbours": apart & (np.maximum(down, across) == 1),
        "current": is_patch & (down + across == 0),
        "leading": np.broadcast_to(~is_patch, down.shape),
        "distance": np.hypot(down, across) * is_patch,
    }


def patch_looks(attention: Attention, shuffles: int = 0, seed: int = SEED) -> dict[str, np.ndarray]:
    """Return how each head looks at patches, the mean over the queries that are patches: float64 [1 + shuffles, layers, heads].

    The first is the head itself; the others are the same weights after a random order of the keys, the same for all queries. The
    patches change places among themselves; for "leading" all tokens do. row, column, neighbours, current, leading: the share of
    attention on each kind of `kinds_of_patches`; "leading" is NaN without such tokens. distance: the mean distance in patches,
    weighted by the attention that patches get (Dosovitskiy et al. 2021, appendix D.7, in pixels there). Errors: ValueError for
    tokens without patches.
    """
    tokens = attention.queries
    is_patch = np.array([isinstance(token, Patch) for token in tokens])
    if not is_patch.any():
        raise ValueError("There is no patch among these tokens: the heads of a model of images look at some.")
    kinds = kinds_of_patches(tokens)
    generator = np.random.default_rng(seed)
    orders = [(np.arange(len(tokens)),) * 2]
    for _ in range(shuffles):
        among_patches = np.arange(len(tokens))
        among_patches[is_patch] = generator.permutation(np.flatnonzero(is_patch))
        orders.append((among_patches, generator.permutation(len(tokens))))
    layers = [_looks_of(attention[layer][:, is_patch], kinds, orders) for layer in range(attention.layers)]
    looks = {name: np.stack([stacked([layer[name][i] for layer in layers]) for i in range(len(orders))]) for name in kinds}
    if is_patch.all():
        looks["leading"] = np.full_like(looks["row"], np.nan)
    return looks


def _looks_of(weights: np.ndarray, kinds: dict[str, np.ndarray], orders: Sequence[tuple]) -> dict[str, list[np.ndarray]]:
    """Return the looks of a layer's heads for each order of the keys: [head] each. weights: [heads, patch, token]."""
    queries = weights.shape[1]
    flat = weights.reshape(len(weights), -1).astype(np.float64)
    on_patches = flat @ (~kinds["leading"]).ravel()
    looks: dict[str, list[np.ndarray]] = {name: [] for name in kinds}
    for among_patches, among_all in orders:
        for name, numbers in kinds.items():
            order = among_all if name == "leading" else among_patches
            sums = flat @ numbers[:, order].ravel().astype(np.float64)
            if name == "distance":
                looks[name].append(np.divide(sums, on_patches, out=np.full(len(sums), np.nan), where=on_patches > 0))
            else:
                looks[name].append(sums / queries)
    return looks


def positional_maps(attentions: Sequence[Attention], shuffles: int = 0, seed: int = SEED) -> np.ndarray:
    """Return how much of a head's map stays the same in other pictures: float64 [1 + shuffles, picture, layers, heads], 0..1.

    It is `analysis.labels.likeness_of_maps` over the queries that are patches. The first is the head itself; in the others the
    patches of each picture change places as keys, in another random order for each picture. NaN for a single picture.
    """
    is_patch = np.array([isinstance(token, Patch) for token in attentions[0].queries])
    if len(attentions) < 2:
        return np.full((1 + shuffles, len(attentions), attentions[0].layers, attentions[0].heads), np.nan)
    generator = np.random.default_rng(seed)
    patches = np.flatnonzero(is_patch)
    orders = [[np.arange(len(is_patch))] * len(attentions)]
    for _ in range(shuffles):
        orders.append([np.arange(len(is_patch)) for _ in attentions])
        for order in orders[-1]:
            order[patches] = generator.permutation(patches)
    layers = []
    for layer in range(attentions[0].layers):
        maps = [attention[layer][:, is_patch].astype(np.float64) for attention in attentions]
        heads = len(maps[0])
        layers.append(
            [
                likeness_of_maps(np.stack([each[..., order].reshape(heads, -1) for each, order in zip(maps, by, strict=True)]))
                for by in orders
            ]
        )
    places = [(i, picture) for i in range(len(orders)) for picture in range(len(attentions))]
    alike = np.stack([stacked([layer[i][picture] for layer in layers]) for i, picture in places])
    return alike.reshape(len(orders), len(attentions), *alike.shape[1:])


def picture_head_labels(
    model: LanguageModel, pictures: Sequence[Any] | None = None, shuffles: int = SHUFFLES, report: Report = silent
) -> pd.DataFrame:
    """Return how each head of a model of images looks at patches: a row for each head, with columns layer, head, label.

    For each of SCORES (see `patch_looks` and `positional_maps`): NAME, the mean over the pictures; NAME_low, NAME_high, the 95 %
    interval of that mean (`analysis.corpora.interval`), NaN for one picture; NAME_chance, NAME_spread and NAME_null, the mean,
    the standard deviation and the largest of the same head's mean with its positions shuffled, `shuffles` times. label: the names
    of LABELS whose low end is above the null, and whose mean is at least MARGIN above chance, the clearest first, joined by ", ";
    "leading", where heads rest, comes last. pictures: as `model.trace` takes them; by default `sample_pictures`. Errors:
    ValueError without a picture, and for a model that reads none.
    """
    import pandas as pd  # here, because it takes long to import and a first page needs none

    pictures = sample_pictures(model) if pictures is None else pictures
    if not pictures:
        raise ValueError("There is no picture to measure on: give one.")
    attentions, readings = [], []
    for i, image in enumerate(pictures):
        report(0.8 * i / len(pictures), "Reading sample pictures")
        attentions.append(model.trace(image, remember=False).attention["self"])
        readings.append(patch_looks(attentions[-1], shuffles, SEED + i))
    report(0.8, "Comparing the pictures")
    values = {name: np.stack([reading[name] for reading in readings], 1) for name in readings[0]}
    values["positional"] = positional_maps(attentions, shuffles)
    layers, heads = np.indices(values["row"].shape[2:])
    table: dict[str, np.ndarray] = {"layer": layers.ravel(), "head": heads.ravel()}
    for name in SCORES:
        low, high = interval(values[name][0])
        means = values[name].mean(1)
        by_chance = means[1:] if shuffles else np.full_like(means[:1], np.nan)
        columns = {"": means[0], "_low": low, "_high": high}
        columns |= {"_chance": by_chance.mean(0), "_spread": by_chance.std(0), "_null": by_chance.max(0)}
        table |= {name + ending: column.ravel() for ending, column in columns.items()}
    labels = pd.DataFrame(table).dropna(subset=["row"]).reset_index(drop=True)  # heads that a layer has not
    labels.insert(2, "label", [", ".join(_labels_of(row)) for _, row in labels.iterrows()])
    return labels


def _labels_of(row: pd.Series) -> list[str]:
    beyond = {name: row[name] - row[f"{name}_chance"] for name in LABELS}
    names = [name for name in LABELS if row[f"{name}_low"] > row[f"{name}_null"] and beyond[name] >= MARGIN]
    return sorted(names, key=lambda name: (name == "leading", -beyond[name]))
