"""Part "Lens": what the model would predict if it stopped after a layer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from analysis.lens import Lens, lens, translator
from pages.layers import lens_training
from ui import state
from ui.choices.token import keep
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import jobs
from ui.show import choice, part, show
from ui.text import plain
from ui.words import say, words
from viz import Card, Part, board, percent
from viz.tokens import label, named
from viz.views.grid_view.layers import LENS, answer_grid, lens_grid, likeliest

if TYPE_CHECKING:
    from models.language_model import LanguageModel

KINDS = state.LENS.values
COLOURS = dict(zip(state.LENS_COLOUR.values, LENS, strict=True))
WINDOW = 48  # positions that are shown at a time
TOP = 5
TRANSFORM = "; t is a transform of the head: a matrix, an activation and a norm"


def draw(here: Path, look: Look) -> None:
    model, trace = look.model, look.trace
    if trace.unembed is None:
        return say(here, "headless", name=plain(model.info.name))
    positions = model.places(trace) if model.info.kind == "encoder" else list(range(len(trace.read)))
    if not positions:
        return say(here, "unmasked" if model.info.mask else "maskless", mask=plain(model.info.mask))
    tuned, colour = translator(model), "probability"
    if tuned is None:
        tuned = lens_training.draw(here, model)
    chosen_kind = KINDS[tuned is not None]
    if tuned is not None or not look.beginner:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            if tuned is not None:
                chosen_kind = one_of(state.LENS, KINDS, "the lens", label="Look through", default=KINDS[1])
            if look.beginner:
                state.later("intermediate", state.LENS_COLOUR)
            else:
                colour = one_of(state.LENS_COLOUR, tuple(COLOURS), "the colour by", label="Colour by", wrap=True)
    positions = _window(positions)
    translate = tuned if chosen_kind == KINDS[1] else None
    what = (lens_training.mine(model), trace.text, look.second, tuple(positions), chosen_kind)
    if translate is not None:
        lens_training.told(here, model)
    seen = jobs.result(
        ("lens", *what), lambda report: lens(trace, positions, TOP, translate, report), "Looking through every layer"
    )
    if seen is None:
        return
    at = look.token_among(len(trace.read))
    column = positions.index(at) if at in positions else len(positions) - 1 if model.info.kind != "encoder" else 0
    last, kept = len(seen.ids) - 1, state.LENS_LAYER.get()
    layer = last if kept is None else min(kept, last)

    def react() -> None:
        match choice("lens-board"):
            case {"part": "lens", "value": [row, place]}:
                state.LENS_LAYER.set(row)
                keep(positions[place])
            case {"part": "layers" | "answer", "value": [row, _]}:
                state.LENS_LAYER.set(row)

    facts = _facts(look, seen, column, layer)
    tuning = " tuned" if translate is not None else ""
    cards = [
        Card(
            [
                Part("words", None, words(here, f"lens{tuning}", **facts)),
                part("The lens", _grid, look, seen, COLOURS.get(colour, colour), (layer, column)),
            ]
        ),
        Card([part("This position", _layers, model, seen, column, layer)], f"{facts['where']}, layer by layer", 6),
        Card(
            [
                Part("facts", None, words(here, "settled", **facts)),
                part("The answer", _answer, look, seen, column, layer),
                Part("cell", None, words(here, "cell", **facts)),
            ],
            "How it comes to its answer",
            5,
        ),
    ]
    show(board(cards, "What each layer would predict"), "lens-board", chosen=react)


def _window(positions: list[int]) -> list[int]:
    """Of many positions, some neighbours."""
    if len(positions) <= WINDOW:
        return positions
    last = st.slider(
        "Positions up to", WINDOW, len(positions), len(positions), key=state.LENS_WINDOW.name, persist_state="session",
        help=f"{WINDOW} positions are shown at a time.",
    )  # fmt: skip
    return positions[last - WINDOW : last]


def _named(layer: int) -> str:
    return "start" if layer == 0 else f"L{layer - 1}"


def _grid(look: Look, seen: Lens, colour: str, chosen: tuple[int, int]) -> Part:
    model = look.model
    best = [[model.token_text(int(id)) for id in row] for row in seen.ids[:, :, 0]]
    answers = [label(model.token_text(int(id))) for id in seen.answer]
    notes = [
        [
            f"“{label(text)}” {percent(share)}\n{_beside(look, answer, rank, kl)}"
            for text, share, answer, rank, kl in zip(
                best[row], seen.probabilities[row, :, 0], answers, seen.rank[row], seen.kl[row], strict=True
            )
        ]
        for row in range(len(best))
    ]
    read = look.written(look.trace.read)
    tokens = [read[place].text for place in seen.positions]
    across = "at this mask" if model.info.kind == "encoder" else "after reading this token"
    view = lens_grid(tokens, best, seen.probabilities[:, :, 0], seen.rank, seen.kl, colour, across, chosen, notes)
    return Part("lens", view)


def _layers(model: LanguageModel, seen: Lens, column: int, layer: int) -> Part:
    ids, shares = seen.ids[:, column], seen.probabilities[:, column]
    return Part("layers", likeliest([[model.token_text(int(id)) for id in row] for row in ids], shares, layer))


def _answer(look: Look, seen: Lens, column: int, layer: int) -> Part:
    answer = look.model.token_text(int(seen.answer[column]))
    each = zip(seen.rank[:, column], seen.kl[:, column], strict=True)
    notes = [_place(rank) if look.beginner else f"rank {rank:,} · KL {kl:.2f}" for rank, kl in each]
    return Part("answer", answer_grid(answer, seen.probability[:, column], notes, layer))


def _beside(look: Look, answer: str, rank: int, kl: float) -> str:
    """What is said of the final answer where another token may be the likeliest."""
    return f"“{answer}”: {_place(rank)}" if look.beginner else f"rank of “{answer}”: {rank:,}, KL {kl:.2f} nats"


def _place(rank: int) -> str:
    """How near the answer is to being chosen, in words."""
    return "first choice" if rank == 1 else f"among the first {TOP}" if rank <= TOP else "far behind"


def _facts(look: Look, seen: Lens, column: int, layer: int) -> dict[str, object]:
    model, trace = look.model, look.trace
    place, settled = int(seen.positions[column]), int(seen.settled[column])
    token = named(look.written(trace.read)[place].text)
    facts = {
        "where": f"At “{token}”" if model.info.kind == "encoder" else f"After “{token}”",
        "answer": named(model.token_text(int(seen.answer[column]))),
        "share": percent(seen.probability[-1, column]),
        "settled": "from the very start" if settled == 0 else f"from {_named(settled)} on",
        "layer": "the embedding" if layer == 0 else f"L{layer - 1}",
        "best": named(model.token_text(int(seen.ids[layer, column, 0]))),
        "best_share": percent(seen.probabilities[layer, column, 0]),
        "rank": f"{seen.rank[layer, column]:,}",
        "answer_share": percent(seen.probability[layer, column]),
        "kl": f"{seen.kl[layer, column]:.3f}",
        "vocabulary": f"{model.info.vocabulary:,}",
        "d_model": model.info.d_model,
        "name": model.info.name,
        "row": layer,
        "place": place,
        "mean_settled": f"{np.mean(seen.settled):.1f}",
        "formula": model.way_out_formula("h[l]"),
        "tuned_formula": model.way_out_formula("h[l] + h[l]·A[l] + b[l]"),
        "transform": TRANSFORM if "t(" in model.way_out_formula() else "",
        "first_kl": f"{seen.kl[0].mean():.3g}",
        "late_kl": f"{seen.kl[-2].mean():.3g}",
        "same": int(sum(trace.read[at].id == best for at, best in zip(seen.positions, seen.ids[0, :, 0], strict=True))),
        "all": len(seen.positions),
    }
    return {name: str(value).replace("*", r"\*") for name, value in facts.items()}
