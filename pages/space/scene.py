"""Shared by the parts of this page: the choice of a projection, its background job, the picture and its words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from analysis import Projection, projection
from analysis.projections import MEASURES, METHODS, nearest_tokens, prepared, typical_distance, umap_installed, within_neighbours
from ui import state
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory.jobs import Report, result
from ui.picture.mount import place as place_picture
from ui.picture.picture import Numbers, Picture
from ui.show import choice
from ui.words import say
from viz import View, percent

NAMES = dict(zip(METHODS, state.PROJECTION.values, strict=True))
DIMENSIONS = dict(zip(state.DIMENSIONS.values, (3, 2), strict=True))
BY = {"cosine": "cosine", "scaled": "scaled distances", "raw": "raw distances"}  # in a caption
DISTANCES = dict(zip(state.MEASURE.values, MEASURES, strict=True))
MOST = 2600  # points that t-SNE and UMAP arrange unless somebody asks for all: some seconds


@dataclass(frozen=True)
class Choice:
    """A chosen projection; for a beginner PCA in three dimensions. measure: of all distances on the page."""

    method: str = "pca"
    dimensions: int = 3
    measure: str = MEASURES[0]
    perplexity: float = 30.0
    seed: int = 0


@dataclass(frozen=True)
class Arrangement:
    """A projection, each point's nearest in all dimensions by the same measure, and the typical distance of two tokens of a
    layer [layers + 1]: as drawn, and by the vectors as they are."""

    projection: Projection
    near: np.ndarray
    drawn: np.ndarray
    raw: np.ndarray


def choose(extra: Callable[[], None] = lambda: None, one_layer: bool = False) -> Choice:
    """Draw the pickers of a projection. extra: places another picker in the same row. one_layer: there is only one layer, and
    distance is by cosine, as everywhere in the part about the vocabulary."""
    if state.level() == "beginner":
        state.later("intermediate", state.PROJECTION, state.DIMENSIONS, state.MEASURE, state.COLOUR)
        return Choice()
    offered = {key: name for key, name in NAMES.items() if key != "umap" or umap_installed()}
    measure = MEASURES[0]
    with st.container(horizontal=True, vertical_alignment="bottom", key="space-choices"):
        name = one_of(state.PROJECTION, tuple(offered.values()), "the projection")
        dimensions = DIMENSIONS[one_of(state.DIMENSIONS, tuple(DIMENSIONS), "the dimensions")]
        if not one_layer:
            measure = DISTANCES[one_of(state.MEASURE, tuple(DISTANCES), "the distance", help=HOW)]
        extra()
    method = next(key for key in offered if offered[key] == name)
    perplexity, seed = 30.0, 0
    if state.level() == "expert" and method != "pca":
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            label = "Perplexity" if method == "t-sne" else "Neighbours"
            perplexity = st.slider(label, 2, 100, 30, key=state.PERPLEXITY.name, persist_state="session", width=240)
            seed = int(st.number_input("Seed", 0, 10_000, 0, key=state.PROJECTION_SEED.name, persist_state="session", width=120))
    return Choice(method, dimensions, measure, float(perplexity), seed)


HOW = (
    "How far two vectors are from each other: in the picture, for the nearest tokens, and in the numbers. Cosine: by "
    "the angle between them, in all layers alike. Scaled: every layer is made as wide as the others, so only distances within "
    "one layer can be compared. Raw: the vectors as they are; later layers are often much wider than early ones."
)


def thin_out(places: Sequence[int], layers: int, chosen: Choice) -> list[int]:
    """Return evenly spaced positions, fewer where all would be more points than t-SNE and UMAP arrange in some seconds."""
    places = list(places)
    fit = max(2, MOST // layers)
    if chosen.method == "pca" or len(places) <= fit:
        return places
    total = f"{len(places) * layers:,}"
    every = st.toggle(
        f"All {len(places):,} tokens",
        key=state.EVERY_TOKEN.name,
        help=f"{len(places):,} tokens × {layers} layers are {total} points.",
    )
    if every:
        st.caption(f"{NAMES[chosen.method]} takes minutes for {total} points. You can do other things meanwhile, or cancel.")
        return places
    st.caption(
        f"You see {fit:,} of {len(places):,} tokens, evenly spaced: {NAMES[chosen.method]} would take minutes for {total} points."
    )
    return [places[i] for i in np.linspace(0, len(places) - 1, fit).round().astype(int)]


def arrange(key: Hashable, hidden: np.ndarray, chosen: Choice) -> Arrangement | None:
    """Arrange hidden states [layers + 1, position, d_model] as points; None, with a progress bar, while that is being calculated.

    key: identifies the hidden states.
    """

    def work(report: Report) -> Arrangement:
        arrangement = projection(hidden, **asdict(chosen), report=report)
        drawn, raw = (typical_distance(prepared(hidden, measure)) for measure in (chosen.measure, "raw"))
        return Arrangement(arrangement, nearest_tokens(hidden, measure=chosen.measure), drawn, raw)

    return result(("space", key, chosen), work, f"Arranging {hidden.shape[1]:,} tokens in {len(hidden)} layers")


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


def place(
    key: str, title: str, recipe: Callable[..., View], looks: tuple[Look, ...], options: dict[str, Any], chosen: Choice,
    arranged: Arrangement, *, takes: tuple[str, ...], names: Sequence[str], hidden: np.ndarray, columns: Mapping[str, Sequence],
    values: Any = None,
) -> Points:  # fmt: skip
    """Place a picture of points. The followed token stays chosen while the text is edited."""
    followed = state.followed_key(key).get()
    layers = looks[0].trace.attention[options["stack"]].numbers if "stack" in options else ()
    options = options | {"arranging": asdict(chosen), "simple": looks[0].beginner, "chosen": followed}

    def react() -> None:
        state.followed_key(key).set(choice(key))

    picture = Points(
        recipe, looks, options, key, lambda: numbers(names, hidden, columns, arranged, layers), react, title=title,
        words=f"{NAMES[chosen.method]} in {chosen.dimensions} dimensions, {BY[chosen.measure]}", takes=takes,
        known={"arrangement": arranged.projection, "near": arranged.near}, names=names, values=values, columns=columns,
        hidden=hidden, arranged=arranged, layers=layers,
    )  # fmt: skip
    place_picture(picture)
    return picture


def numbers(
    names: Sequence[str], hidden: np.ndarray, columns: Mapping[str, Sequence], arranged: Arrangement, layers: Sequence[int]
) -> dict[str, Numbers]:
    """Return where each point is in each layer, and what it stands for; `near`: the nearest points, by their number from 0."""
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


def faith(folder: Path, arranged: Arrangement, chosen: Choice) -> None:
    """Say how far to believe the picture, and what it does not show."""
    arrangement, single = arranged.projection, " one" if len(arranged.projection.points) == 1 else ""
    for note in arrangement.notes:
        st.caption(f":material/info: {note}")
    if arrangement.explained is not None:
        say(folder, f"explained{single}", share=percent(arrangement.explained.sum()), axes=len(arrangement.explained))
    if arrangement.neighbours >= 2:
        fewer = within_neighbours(arrangement.points.shape[1])
        few = f"{fewer} nearest" if fewer > 1 else "nearest"
        near = f"Of each token’s {few} in the last layer alone, {percent(arrangement.within[-1])} are kept. "
        say(
            folder, f"kept{single}", neighbours=arrangement.neighbours,
            kept=f"{arrangement.neighbours_kept * arrangement.neighbours:.1f}",
            share=percent(arrangement.neighbours_kept), trust=f"{arrangement.trustworthiness:.3f}", alone=near if fewer else "",
            step=f"{arrangement.step:.2f}",
        )  # fmt: skip
    say(folder, f"limits {arrangement.method}", perplexity=f"{arrangement.perplexity or 0:.3g}", seed=chosen.seed)
    if len(arrangement.points) > 1:
        facts = {
            "first": arranged.drawn[0],
            "last": arranged.drawn[-1],
            "raw_first": arranged.raw[0],
            "raw_last": arranged.raw[-1],
        }
        say(folder, f"measure {arrangement.measure}", **{name: f"{value:.3g}" for name, value in facts.items()})
