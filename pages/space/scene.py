"""What the parts of this page share: the choice of a projection, its computing beside the page, the picture and its words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st

from analysis import Projection, projection
from analysis.projection import METHODS, nearest_tokens, umap_installed, within_neighbours
from ui import state
from ui.jobs import result
from ui.show import choice, show
from ui.words import say
from viz.space_view import space_view

NAMES = dict(zip(METHODS, ("PCA", "t-SNE", "UMAP"), strict=True))
DIMENSIONS = {"3-D": 3, "2-D": 2}
MOST = 2600  # points that t-SNE and UMAP arrange unless somebody asks for all: some seconds


@dataclass(frozen=True)
class Choice:
    """How points are arranged, as chosen; for a beginner PCA in three dimensions."""

    method: str = "pca"
    dimensions: int = 3
    equal_lengths: bool = True
    perplexity: float = 30.0
    seed: int = 0
    all: bool = False


@dataclass(frozen=True)
class Arranged:
    """A projection, and each point's nearest in all dimensions."""

    found: Projection
    near: np.ndarray


def choose(extra: Callable[[], None] = lambda: None) -> Choice:
    """The pickers of a projection. extra: places one more in the same row."""
    if state.level() == "beginner":
        return Choice()
    offered = {key: name for key, name in NAMES.items() if key != "umap" or umap_installed()}
    state.check_link("projection", tuple(offered.values()), "the projection")
    state.check_link("dimensions", tuple(DIMENSIONS), "the dimensions")
    with st.container(horizontal=True, vertical_alignment="bottom", key="space-choices"):
        name = one_of("Projection", tuple(offered.values()), "projection")
        dimensions = DIMENSIONS[one_of("Dimensions", tuple(DIMENSIONS), "dimensions")]
        extra()
    method = next(key for key in offered if offered[key] == name)
    equal, perplexity, seed = True, 30.0, 0
    if state.level() == "expert":
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            equal = st.toggle("Equal lengths", True, key="equal-lengths", persist_state="session", help=LENGTHS)
            if method != "pca":
                label = "Perplexity" if method == "t-sne" else "Neighbours"
                perplexity = st.slider(label, 2, 100, 30, key="perplexity", persist_state="session", width=240)
                seed = int(st.number_input("Seed", 0, 10_000, 0, key="projection-seed", persist_state="session", width=120))
    return Choice(method, dimensions, equal, float(perplexity), seed)


LENGTHS = (
    "Give every vector the same length before projecting, as a layer norm does before a block reads it. Switched off, a token "
    "that is much longer than the others, often the first one, takes most of the picture."
)


def one_of(label: str, options: tuple[str, ...], key: str) -> str:
    if st.session_state.get(key, options[0]) not in options:
        st.session_state[key] = options[0]
    return st.segmented_control(label, options, default=options[0], required=True, key=key, bind="query-params")


def thinned(places: Sequence[int], layers: int, chosen: Choice) -> list[int]:
    """Positions, evenly left out where they would be more points than t-SNE and UMAP arrange in some seconds."""
    places = list(places)
    fit = max(2, MOST // layers)
    if chosen.method == "pca" or len(places) <= fit:
        return places
    total = f"{len(places) * layers:,}"
    every = st.toggle(
        f"All {len(places):,} tokens", key="every-token", help=f"{len(places):,} tokens × {layers} layers are {total} points."
    )
    if every:
        st.caption(f"{total} points take {NAMES[chosen.method]} minutes. You can go on meanwhile, or cancel.")
        return places
    st.caption(
        f"Shown are {fit:,} of {len(places):,} tokens, evenly spaced: {total} points would take {NAMES[chosen.method]} minutes."
    )
    return [places[i] for i in np.linspace(0, len(places) - 1, fit).round().astype(int)]


def arranged(key: Hashable, hidden: np.ndarray, chosen: Choice) -> Arranged | None:
    """The points of hidden states [layers + 1, position, d_model]; None, with progress in its place, until they are there.

    key: what the hidden states are of.
    """

    def work(report) -> Arranged:
        found = projection(
            hidden,
            chosen.method,
            chosen.dimensions,
            equal_lengths=chosen.equal_lengths,
            perplexity=chosen.perplexity,
            seed=chosen.seed,
            report=report,
        )
        return Arranged(found, nearest_tokens(hidden))

    return result(("space", key, chosen), work, f"Arranging {hidden.shape[1]:,} tokens in {len(hidden)} layers")


def axes(found: Projection) -> list[str] | None:
    """The names of principal components, with their share of the variance."""
    if found.explained is None:
        return None
    return [f"PC {i + 1} · {100 * share:.1f} %" for i, share in enumerate(found.explained)]


def view(made: Arranged, names: Sequence[str], key: str, **options) -> None:
    """Place the picture. The token that is followed stays chosen at each keystroke."""
    held = st.session_state.get(f"{key}-followed")

    def react() -> None:
        st.session_state[f"{key}-followed"] = choice(key)

    picture = space_view(names, made.found.points, axes=axes(made.found), near=made.near, chosen=held, name=key, **options)
    show(picture, key, react)


def faith(folder: Path, made: Arranged, chosen: Choice) -> None:
    """How far to believe the picture, and what it may not tell."""
    found, one = made.found, " one" if len(made.found.points) == 1 else ""
    for note in found.notes:
        st.caption(f":material/info: {note}")
    if found.explained is not None:
        say(folder, f"explained{one}", share=percent(found.explained.sum()), axes=len(found.explained))
    if found.neighbours >= 2:
        fewer = within_neighbours(found.points.shape[1])
        near = f"Of each token’s {fewer} nearest in the last layer alone, {percent(found.within[-1])} are kept. "
        say(
            folder, f"kept{one}", neighbours=found.neighbours, kept=f"{found.kept * found.neighbours:.1f}",
            share=percent(found.kept), trust=f"{found.trustworthiness:.3f}", alone=near if fewer else "",
            step=f"{found.step:.2f}",
        )  # fmt: skip
    say(folder, f"limits {found.method}", perplexity=f"{found.perplexity or 0:.3g}", seed=chosen.seed)
    say(folder, "lengths equal" if chosen.equal_lengths else "lengths kept")


def percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100 * share:.0f} %"
