"""Shared by the parts of this page: the choice of a projection, its background job, and the point that is followed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import streamlit as st

from analysis.projections import MEASURES, umap_installed
from pages.space import scene
from pages.space import state as page_state
from pages.space.scene import NAMES
from pages.space.settings import Arrangement, Choice
from ui import state
from ui.choices.widgets import one_of
from ui.memory.jobs import result
from ui.show import choice

DIMENSIONS = dict(zip(page_state.DIMENSIONS.values, (3, 2), strict=True))
DISTANCES = dict(zip(page_state.MEASURE.values, MEASURES, strict=True))
MOST = 2600  # points that t-SNE and UMAP arrange unless somebody asks for all: some seconds
HOW = (
    "How far two vectors are from each other: in the picture, for the nearest tokens, and in the numbers. Cosine: by "
    "the angle between them, in all layers alike. Scaled: every layer is made as wide as the others, so only distances within "
    "one layer can be compared. Raw: the vectors as they are; later layers are often much wider than early ones."
)


def projection(extra: Callable[[], None] = lambda: None, one_layer: bool = False) -> Choice:
    """Draw the pickers of a projection. extra: places another picker in the same row. one_layer: there is only one layer, and
    distance is by cosine, as everywhere in the part about the vocabulary."""
    if state.level() == "beginner":
        state.later("intermediate", page_state.PROJECTION, page_state.DIMENSIONS, page_state.MEASURE, page_state.COLOUR)
        return Choice()
    offered = {key: name for key, name in NAMES.items() if key != "umap" or umap_installed()}
    measure = MEASURES[0]
    with st.container(horizontal=True, vertical_alignment="bottom", key="space-choices"):
        name = one_of(page_state.PROJECTION, tuple(offered.values()), "the projection")
        dimensions = DIMENSIONS[one_of(page_state.DIMENSIONS, tuple(DIMENSIONS), "the dimensions")]
        if not one_layer:
            measure = DISTANCES[one_of(page_state.MEASURE, tuple(DISTANCES), "the distance", help=HOW)]
        extra()
    method = next(key for key in offered if offered[key] == name)
    perplexity, seed = 30.0, 0
    if state.level() == "expert" and method != "pca":
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            label = "Perplexity" if method == "t-sne" else "Neighbours"
            perplexity = st.slider(label, 2, 100, 30, key=page_state.PERPLEXITY.name, persist_state="session", width=240)
            seed = int(
                st.number_input("Seed", 0, 10_000, 0, key=page_state.PROJECTION_SEED.name, persist_state="session", width=120)
            )
    return Choice(method, dimensions, measure, float(perplexity), seed)


def thin_out(places: Sequence[int], layers: int, chosen: Choice) -> list[int]:
    """Return evenly spaced positions, so few that t-SNE and UMAP can arrange the points in some seconds."""
    places = list(places)
    fit = max(2, MOST // layers)
    if chosen.method == "pca" or len(places) <= fit:
        return places
    total = f"{len(places) * layers:,}"
    every = st.toggle(
        f"All {len(places):,} tokens",
        key=page_state.EVERY_TOKEN.name,
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
    doing = f"Arranging {hidden.shape[1]:,} tokens at {len(hidden)} stages"
    return result(("space", key, chosen), lambda report: scene.arrange(hidden, chosen, report), doing)


def followed(view: str) -> int | None:
    """Return the point that is followed in a view. It stays chosen while the text is edited."""
    point: int | None = page_state.FOLLOWED.get().get(view)
    return point


def follow(view: str) -> Callable[[], None]:
    """Return what a click on a point of a view does."""
    return lambda: page_state.FOLLOWED.set({**page_state.FOLLOWED.get(), view: choice(view)})
