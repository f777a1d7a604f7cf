"""Shared by the boards of this page: the arrangement of points, their picture, and how far to believe it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis import projection
from analysis.projections import METHODS, nearest_tokens, prepared, typical_distance, within_neighbours
from pages.space.settings import Arrangement, Choice, Settings
from ui.look import Look
from ui.picture.board import Draft, Note
from ui.picture.picture import Numbers, Picture
from viz import View, percent

NAMES = dict(zip(METHODS, ("PCA", "t-SNE", "UMAP"), strict=True))
BY = {"cosine": "cosine", "scaled": "scaled distances", "raw": "raw distances"}  # in a caption


def arrange(hidden: np.ndarray, chosen: Choice, report: Callable[[float, str], None]) -> Arrangement:
    """Arrange hidden states [layers + 1, position, d_model] as points."""
    arrangement = projection(hidden, **asdict(chosen), report=report)
    drawn, raw = (typical_distance(prepared(hidden, measure)) for measure in (chosen.measure, "raw"))
    return Arrangement(arrangement, nearest_tokens(hidden, measure=chosen.measure), drawn, raw)


@dataclass(frozen=True, kw_only=True)
class Points(Picture):
    """A picture of points, and what other programs need to show them: names, values for colours, columns (a value for each point,
    by name), the states [layers + 1, point, d] that the points stand for, and the numbers of the layers in the network."""

    names: Sequence[str]
    values: Any
    columns: Mapping[str, Sequence]
    hidden: np.ndarray
    arranged: Arrangement
    layers: Sequence[int]


def picture(
    key: str,
    title: str,
    recipe: Callable[..., View],
    looks: tuple[Look, ...],
    options: dict[str, Any],
    settings: Settings,
    arranged: Arrangement,
    *,
    takes: tuple[str, ...],
    names: Sequence[str],
    hidden: np.ndarray,
    columns: Mapping[str, Sequence],
    values: Any = None,
) -> Points:
    """Return a picture of points."""
    chosen = settings.chosen
    layers = looks[0].trace.attention[options["stack"]].numbers if "stack" in options else ()
    options = options | {"arranging": asdict(chosen), "simple": looks[0].beginner, "chosen": settings.followed}
    return Points(
        recipe,
        looks,
        options,
        key,
        lambda: numbers(names, hidden, columns, arranged, layers),
        title=title,
        words=f"{NAMES[chosen.method]} in {chosen.dimensions} dimensions, {BY[chosen.measure]}",
        takes=takes,
        known={"arrangement": arranged.projection, "near": arranged.near},
        names=names,
        values=values,
        columns=columns,
        hidden=hidden,
        arranged=arranged,
        layers=layers,
    )


def numbers(
    names: Sequence[str], hidden: np.ndarray, columns: Mapping[str, Sequence], arranged: Arrangement, layers: Sequence[int]
) -> dict[str, Numbers]:
    """Return the place of each point in each layer, and its token; `near`: the nearest points, by their number from 0."""
    stages = {"layer": ["input", *layers]}
    axes = ("layer", "point")
    nearest = np.array([[", ".join(names[i].strip(" ") for i in point) for point in layer] for layer in arranged.near], dtype=str)
    each = {
        **dict(zip("xyz", np.moveaxis(arranged.projection.points, -1, 0), strict=False)),
        "norm": np.linalg.norm(hidden, axis=-1),
    }
    return {
        **{name: Numbers(np.array(values), axes[1:]) for name, values in columns.items()},
        **{name: Numbers(values, axes, stages) for name, values in (each | {"nearest": nearest}).items()},
        "points": Numbers(arranged.projection.points, (*axes, "direction"), stages, in_csv=False),
        "near": Numbers(arranged.near, (*axes, "place"), stages, in_csv=False),
        "hidden": Numbers(hidden, (*axes, "dimension"), stages, in_csv=False),
    }


@dataclass(frozen=True)
class Pair:
    """Two points, and their cosine in each layer [layers + 1]."""

    places: tuple[int, int]
    cosines: np.ndarray


@dataclass(frozen=True)
class Pairs:
    """All pairs of some points, with the cosine of each in each layer: cosines [layers + 1, pair]."""

    pairs: Sequence[tuple[int, int]]
    cosines: np.ndarray

    @property
    def most_alike(self) -> Pair:
        """The pair with the highest cosine in the last layer."""
        best = int(self.cosines[-1].argmax())
        return Pair(self.pairs[best], self.cosines[:, best])

    @property
    def usual(self) -> float:
        """The median cosine of the last layer."""
        return float(np.median(self.cosines[-1]))

    def of(self, pair: tuple[int, int]) -> np.ndarray:
        """Return the cosines of a pair [layers + 1]."""
        return self.cosines[:, self.pairs.index(pair)]

    def share_below(self, pair: tuple[int, int], layer: int) -> float:
        """Return the share of the other pairs that have a lower cosine in a layer than this one: ½ on average for a pair drawn at
        random."""
        return float((self.cosines[layer] < self.of(pair)[layer]).sum() / (len(self.pairs) - 1))


def alike_pairs(hidden: np.ndarray, places: Sequence[int]) -> Pairs | None:
    """Compare these points in pairs; None for fewer than three points. hidden: [layers + 1, point, d]."""
    if len(places) < 3:
        return None
    units = prepared(hidden, "cosine")[:, list(places)]
    first, second = np.triu_indices(len(places), 1)
    cosines = np.clip(1 - ((units[:, first] - units[:, second]) ** 2).sum(-1) / 2, -1, 1)
    return Pairs([(places[i], places[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True)], cosines)


def cosine_words(value: float, digits: int = 2) -> str:
    """Format a cosine; 0 has no minus."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def digits_of(look: Look) -> int:
    """Return the decimals of a cosine in a sentence: beginners read one."""
    return 1 if look.beginner else 2


def faith(draft: Draft, arranged: Arrangement, chosen: Choice) -> list[Note]:
    """Return sentences on how far to believe the picture, and what it does not show."""
    arrangement, single = arranged.projection, " one" if len(arranged.projection.points) == 1 else ""
    sentences, open_notes = [f":material/info: {note}" for note in arrangement.notes], list[Note]()
    if arrangement.explained is not None:
        facts: dict[str, object] = {"share": percent(arrangement.explained.sum()), "axes": len(arrangement.explained)}
        explained = draft.words(f"explained{single}", **facts)
        if explained and draft.look.level != "expert":  # that it is a part stands in sight
            open_notes.append(Note(explained))
        else:
            sentences.append(explained)
    if arrangement.neighbours >= 2:
        fewer = within_neighbours(arrangement.points.shape[1])
        few = f"{fewer} nearest" if fewer > 1 else "nearest neighbour"
        near = f"Of each token’s {few} in the last layer alone, {percent(arrangement.within[-1])} are kept. "
        facts = {
            "neighbours": arrangement.neighbours,
            "kept": f"{arrangement.neighbours_kept * arrangement.neighbours:.1f}",
            "share": percent(arrangement.neighbours_kept),
            "trust": f"{arrangement.trustworthiness:.3f}",
            "alone": near if fewer else "",
            "step": f"{arrangement.step:.2f}",
        }
        sentences.append(draft.words(f"kept{single}", **facts))
    limits = {"perplexity": f"{arrangement.perplexity or 0:.3g}", "seed": chosen.seed}
    sentences.append(draft.words(f"limits {arrangement.method}", **limits))
    if len(arrangement.points) > 1:
        distances = {
            "first": arranged.drawn[0],
            "last": arranged.drawn[-1],
            "raw_first": arranged.raw[0],
            "raw_last": arranged.raw[-1],
        }
        facts = {name: f"{value:.3g}" for name, value in distances.items()}
        sentences.append(draft.words(f"measure {arrangement.measure}", **facts))
    fold = draft.words("fold")  # beginners first look
    return open_notes + [Note(sentence, fold=fold) for sentence in sentences if sentence]
