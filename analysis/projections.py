"""Hidden states of all layers as points in two or three dimensions, in one space, so that points move and do not jump.

Projecting each layer by itself gives each its own axes, arbitrarily turned and mirrored. Here all layers are projected together,
so a point's path from layer to layer is a path in one space. Distances in that space depend on their measure, and one measure
serves for the points, their neighbours, and how far to believe the picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

Report = Callable[[float, str], None]

METHODS = ("pca", "t-sne", "umap")
MEASURES = ("cosine", "scaled", "raw")  # of distance, see `prepared`
COMPONENTS = 50  # principal components that t-SNE and UMAP begin with (van der Maaten and Hinton 2008)
NEIGHBOURS = 10  # that should stay neighbours in the picture
PAIRED = 400  # positions of a layer for a typical distance, at most
MEASURED = 1500  # points for measuring neighbours, at most: the work grows with their square
EXACT = 1500  # dimensions up to which principal components are computed exactly
EARLY, LATE = 250, 500  # iterations of t-SNE, the first ones with exaggerated attraction
EVERY = 25  # iterations between two reports


@dataclass(frozen=True)
class Projection:
    """Points, and how far to believe them.

    points: float32 [layers + 1, position, dimensions].
    explained: of PCA, each axis's share of the variance [dimensions]; else None.
    trustworthiness: in 0..1, how rarely the picture shows false neighbours (Venna and Kaski 2001), over `neighbours` neighbours
    among all points of all layers; neighbours_kept: the share of each point's nearest that are among its nearest in the picture.
    within: the same share among the points of one layer only, for each layer [layers + 1]. step: the mean distance that a point
    moves from a layer to the next, over the root mean square distance of two points. measure: the measure for all of these.
    perplexity: of t-SNE, as used. notes: sentences on deviations from the request.
    """

    points: np.ndarray
    method: str
    explained: np.ndarray | None
    trustworthiness: float
    neighbours_kept: float
    within: np.ndarray
    neighbours: int
    step: float
    measure: str = "cosine"
    perplexity: float | None = None
    notes: tuple[str, ...] = ()


def project(hidden: np.ndarray, method: str = "pca", dimensions: int = 3, **options: Any) -> np.ndarray:
    """Return points in one common space for all layers: float32 [layers + 1, position, dimensions]. Options and errors as
    `projection`."""
    return _arrange(hidden, method, dimensions, **options)[0]


def projection(hidden: np.ndarray, method: str = "pca", dimensions: int = 3, **options: Any) -> Projection:
    """Return the points of `project`, with measures of how far to believe them.

    hidden: [layers + 1, position, d_model], as `trace.hidden["self"]`; positions may be those of several texts, one after the
    other. method: "pca", "t-sne" (openTSNE on 50 principal components, initialised with the first of them) or "umap" (if
    umap-learn is installed). The same input and seed give the same numbers.

    measure: of distance, "cosine", "scaled" or "raw", as explained in `prepared`.
    perplexity (30), seed (0): of t-SNE and UMAP (where the perplexity stands for its number of neighbours).
    report(share, words): called with the progress; it may raise to stop.
    Errors: ValueError for fewer than two tokens, for points that are all the same, and for a wrong name or number.
    """
    points, ready, explained, perplexity, notes = _arrange(hidden, method, dimensions, **options)
    options.get("report", _silent)(0.95, "Comparing neighbours")
    trust, kept_share, neighbours = faithfulness(ready, points)
    within, measure = kept_within(ready, points), options.get("measure", MEASURES[0])
    return Projection(
        points, method, explained, trust, kept_share, within, neighbours, step(points), measure, perplexity, tuple(notes)
    )


def prepared(hidden: np.ndarray, measure: str = "cosine") -> np.ndarray:
    """Return hidden states whose Euclidean distance is the distance by `measure`: float64 [layers + 1, position, d_model].

    "cosine": every vector has length 1, so that distance is √(2 − 2 cos) of the angle, within a layer and between layers. After
    its norm a block also reads only directions; and some tokens, often the first, have vectors so long that they leave no room
    for the others (Sun et al. 2024).
    "raw": unchanged, with their lengths. Vectors of later layers are much longer than those of early ones.
    "scaled": each layer is centred on its mean token and divided so that its mean square length is 1. All layers then take the
    same room, and distances are meaningful only within a layer. A layer whose tokens are all the same is zero.
    Errors: as `projection`.
    """
    if measure not in MEASURES:
        raise ValueError(f"There is no measure “{measure}”: choose one of {', '.join(MEASURES)}.")
    hidden = np.asarray(hidden, dtype=np.float64)
    if hidden.ndim != 3:
        raise ValueError(f"Hidden states are [layers + 1, position, d_model]; these are {list(hidden.shape)}.")
    if hidden.shape[1] < 2:
        raise ValueError("A single token has no place among others: a projection needs at least two. Type another word.")
    if not np.isfinite(hidden).all():
        raise ValueError("Some of the hidden states are not numbers (NaN or infinite), so they have no place in a picture.")
    if measure == "cosine":
        hidden = hidden / np.maximum(np.linalg.norm(hidden, axis=-1, keepdims=True), np.finfo(np.float64).tiny)
    centred = hidden - hidden.mean(axis=1, keepdims=True)
    size = np.sqrt((centred**2).sum(-1).mean(1))[:, None, None]
    differ = size > 1e-7 * np.sqrt((hidden**2).sum(-1).mean(1))[:, None, None]  # by more than the float32 of a model rounds
    if not differ.any():
        raise ValueError("All tokens have the same hidden state in every layer, so there is nothing to spread out.")
    return np.divide(centred, size, out=np.zeros_like(centred), where=differ) if measure == "scaled" else hidden


def typical_distance(states: np.ndarray) -> np.ndarray:
    """Return the distance of two tokens of a layer, the median over all pairs: [layers + 1]. states: [layers + 1, position, d],
    two or more; of more positions than 400, evenly spaced ones are used."""
    from scipy.spatial.distance import pdist

    some = np.linspace(0, states.shape[1] - 1, min(states.shape[1], PAIRED)).round().astype(int)
    return np.array([np.median(pdist(layer[some])) for layer in np.asarray(states, dtype=np.float64)])


def step(points: np.ndarray) -> float:
    """Return the mean distance that a point moves from a layer to the next, over the root mean square distance of two points of
    any layers.

    points: [layers + 1, position, dimensions]. 0: nothing moves; about 1: each layer has its own region.
    """
    if len(points) < 2:
        return 0.0
    flat = points.reshape(-1, points.shape[-1]).astype(np.float64)
    spread = math.sqrt(2 * ((flat - flat.mean(0)) ** 2).sum(-1).mean())
    return float(np.linalg.norm(np.diff(points.astype(np.float64), axis=0), axis=-1).mean() / spread) if spread else 0.0


def faithfulness(high: np.ndarray, low: np.ndarray, neighbours: int = NEIGHBOURS) -> tuple[float, float, int]:
    """Return trustworthiness, the share of nearest neighbours kept, and the number of neighbours considered.

    high, low: the same points, [..., d_model] and [..., dimensions], in the same order. Of more than 1,500 points, that many are
    drawn at random (always the same ones). NaN for fewer than five points.
    """
    from sklearn.manifold import trustworthiness

    high, low = high.reshape(-1, high.shape[-1]), low.reshape(-1, low.shape[-1])
    if len(high) > MEASURED:
        some = np.sort(np.random.default_rng(0).choice(len(high), MEASURED, replace=False))
        high, low = high[some], low[some]
    neighbours = min(neighbours, (len(high) - 1) // 2)  # trustworthiness is defined below half of the points
    if neighbours < 2:
        return math.nan, math.nan, max(neighbours, 0)
    return (
        float(trustworthiness(high, low, n_neighbors=neighbours)),
        float(np.mean(_neighbours_kept(high, low, neighbours))),
        neighbours,
    )


def kept_within(high: np.ndarray, low: np.ndarray, neighbours: int = NEIGHBOURS) -> np.ndarray:
    """Return the share of each token's nearest within its layer that are among its nearest in the picture: [layers + 1].

    `within_neighbours` of them are considered. NaN for fewer than four tokens.
    """
    neighbours = within_neighbours(high.shape[1], neighbours)
    if neighbours < 1:
        return np.full(len(high), math.nan)
    return np.array([np.mean(_neighbours_kept(*layers, neighbours)) for layers in zip(high, low, strict=True)])


def within_neighbours(tokens: int, neighbours: int = NEIGHBOURS) -> int:
    """Return how many nearest tokens `kept_within` considers: at most a third of the others, lest chance keeps them."""
    return min(neighbours, (tokens - 1) // 3)


def nearest_tokens(hidden: np.ndarray, count: int = 3, measure: str = "cosine") -> np.ndarray:
    """Return the nearest of the other positions in each layer, in all dimensions: int32 [layers + 1, position, count].

    measure: as in `prepared`; "raw" and "scaled" give the same result, because a layer's scale does not change the order. If
    there are fewer than `count` others, all are returned. Equally near ones are in the order of the text.
    """
    states = prepared(hidden, measure)
    count = min(count, states.shape[1] - 1)
    neighbours = np.empty((*states.shape[:2], count), dtype=np.int32)
    for layer, vectors in enumerate(states):
        squares = (vectors**2).sum(-1)
        distances = squares[:, None] + squares - 2 * (vectors @ vectors.T)
        distances = (distances / max(float(squares.mean()), np.finfo(np.float64).tiny)).round(6)
        np.fill_diagonal(distances, np.inf)
        neighbours[layer] = np.argsort(distances, axis=1, kind="stable")[:, :count]
    return neighbours


def umap_installed() -> bool:
    """Return whether umap-learn is installed. It brings a compiler of 200 MB, so it is not required."""
    return find_spec("umap") is not None


def _silent(share: float, doing: str) -> None:
    pass


def _arrange(
    hidden: np.ndarray,
    method: str,
    dimensions: int,
    *,
    measure: str = MEASURES[0],
    perplexity: float = 30.0,
    seed: int = 0,
    report: Report = _silent,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, float | None, list[str]]:
    """Return the points, the states that they stand for, the explained variance, the perplexity used, and notes."""
    if method not in METHODS:
        raise ValueError(f"There is no projection “{method}”: choose one of {', '.join(METHODS)}.")
    if dimensions not in (2, 3):
        raise ValueError(f"A picture has 2 or 3 dimensions, not {dimensions}.")
    if not perplexity > 1:
        raise ValueError(f"The perplexity is about how many neighbours count; it must be above 1, not {perplexity}.")
    report(0.0, "Finding the main directions")
    ready = prepared(hidden, measure)
    flat = ready.reshape(-1, ready.shape[-1])
    explained: np.ndarray | None
    main, explained = _components(flat, dimensions if method == "pca" else COMPONENTS, seed)
    if method == "pca":
        points = main
        used_perplexity: float | None = None
        notes: list[str] = []
    else:
        explained = None
        points, used_perplexity, notes = (_tsne if method == "t-sne" else _umap)(main, dimensions, perplexity, seed, report)
    points = np.pad(points, ((0, 0), (0, dimensions - points.shape[1]))).astype(np.float32)
    if explained is not None:
        explained = np.pad(explained, (0, dimensions - len(explained)))
    return points.reshape(*ready.shape[:2], dimensions), ready, explained, used_perplexity, notes


def _components(flat: np.ndarray, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first principal components of points [point, d_model]: [point, count or fewer], and their shares of the
    variance."""
    from sklearn.decomposition import PCA

    count = min(count, *flat.shape)
    if min(flat.shape) > EXACT:
        pca = PCA(count, svd_solver="randomized", iterated_power=7, random_state=seed)
    else:
        pca = PCA(count, svd_solver="covariance_eigh" if len(flat) >= flat.shape[1] else "full")
    return pca.fit_transform(flat), pca.explained_variance_ratio_


def _fitting(perplexity: float, count: int) -> tuple[float, list[str]]:
    """Return a perplexity that is at most a third of the points, and a note if it was lowered."""
    most = (count - 1) / 3
    if perplexity <= most:
        return float(perplexity), []
    return most, [f"With {count} points the perplexity can be at most {most:.3g}, so this is used instead of {perplexity:g}."]


def _tsne(main: np.ndarray, dimensions: int, perplexity: float, seed: int, report: Report) -> tuple[np.ndarray, float, list[str]]:
    from openTSNE import TSNE
    from openTSNE.initialization import rescale

    perplexity, notes = _fitting(perplexity, len(main))
    iterations = 0

    def tell(iteration: int, error: float, embedding: np.ndarray) -> None:
        nonlocal iterations
        iterations += EVERY
        report(0.1 + 0.85 * iterations / (EARLY + LATE), f"Arranging {len(main):,} points")

    report(0.05, f"Finding the neighbours of {len(main):,} points")
    start = np.pad(main[:, :dimensions], ((0, 0), (0, max(0, dimensions - main.shape[1]))))
    start = rescale(start) + np.random.default_rng(seed).normal(0, 1e-6, start.shape)  # which parts points that are the same
    arrangement = TSNE(
        n_components=dimensions,
        perplexity=perplexity,
        early_exaggeration_iter=EARLY,
        n_iter=LATE,
        initialization=start,
        neighbors="exact",
        negative_gradient_method="auto" if dimensions == 2 else "bh",
        n_jobs=1,
        random_state=seed,
        callbacks=tell,
        callbacks_every_iters=EVERY,
    ).fit(main)
    points = np.asarray(arrangement)
    if not np.isfinite(points).all():
        raise ValueError("t-SNE found no arrangement of these points. Choose another perplexity, or PCA.")
    return points - points.mean(0), perplexity, notes


def _umap(main: np.ndarray, dimensions: int, perplexity: float, seed: int, report: Report) -> tuple[np.ndarray, float, list[str]]:
    if not umap_installed():
        raise ValueError("UMAP needs the package umap-learn, which is not installed here: pip install umap-learn.")
    from umap import UMAP

    report(0.1, "Arranging the points (UMAP does not say how far it is)")
    neighbours = min(round(perplexity), len(main) - 1)
    notes = (
        []
        if neighbours == round(perplexity)
        else [f"With {len(main)} points there are at most {neighbours} neighbours, so this is used instead of {perplexity:g}."]
    )
    if neighbours < 2 or len(main) < dimensions + 3:
        raise ValueError("UMAP needs a few more points than these. Type more words, or choose PCA.")
    start = main[:, :dimensions] / (np.abs(main[:, :dimensions]).max() or 1) * 10
    start = start + np.random.default_rng(seed).normal(0, 1e-4, start.shape)
    umap = UMAP(n_components=dimensions, n_neighbors=neighbours, init=start.astype(np.float32), random_state=seed, n_jobs=1)
    points = umap.fit_transform(main.astype(np.float32))
    return points - points.mean(0), float(neighbours), notes


def _neighbours_kept(high: np.ndarray, low: np.ndarray, count: int) -> np.ndarray:
    """Return the share of each point's `count` nearest that are among its `count` nearest in the other space: [point]."""
    near = [_near(space, count) for space in (high, low)]
    return np.array([len(np.intersect1d(ours, theirs, assume_unique=True)) for ours, theirs in zip(*near, strict=True)]) / count


def _near(space: np.ndarray, count: int) -> np.ndarray:
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=count).fit(space).kneighbors(return_distance=False)
