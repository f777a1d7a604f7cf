"""Part "Lens": what the model would predict if it stopped after a layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from analysis.lens import Lens, lens, translator
from models.trace import Trace
from pages.layers import lens_training, recipes
from ui import state
from ui.choices.token import keep
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.show import choice, part, show
from ui.text import plain
from ui.words import say, words
from viz import Card, Part, board, percent
from viz.tokens import named, plain_sign
from viz.views.grid_view.layers import LENS

KINDS = state.LENS.values
COLOURS = dict(zip(state.LENS_COLOUR.values, LENS, strict=True))
WINDOW = 48  # positions that are shown at a time
TRANSFORM = "; t is a transform of the head: a matrix, an activation and a norm"


def draw(here: Path, look: Look) -> list[Picture]:
    model, trace = look.model, look.trace
    if trace.unembed is None:
        say(here, look.without_words, name=plain(model.info.name))
        return []
    positions = model.places(trace) if model.info.kind == "encoder" else list(range(len(trace.read)))
    if not positions:
        say(here, "unmasked" if model.info.mask else "maskless", mask=plain(model.info.mask))
        return []
    tuned = translator(model)
    if tuned is None:
        tuned = lens_training.draw(here, model)
    kind, colour = _choose(look, tuned is not None)
    positions = _window(positions)
    translate = tuned if kind == KINDS[1] else None
    subject = (lens_training.mine(model), trace.text, look.second, tuple(positions), kind)
    if translate is not None:
        lens_training.say_trained(here, model)
    seen = jobs.result(
        ("lens", *subject), lambda report: lens(trace, positions, recipes.TOP, translate, report), "Looking through every layer"
    )
    if seen is None:
        return []
    at = look.token_among(len(trace.read))
    column = positions.index(at) if at in positions else len(positions) - 1 if model.info.kind != "encoder" else 0
    last, chosen_layer = len(seen.ids) - 1, state.LENS_LAYER.get()
    layer = last if chosen_layer is None else min(chosen_layer, last)

    def react() -> None:
        match choice("lens-board"):
            case {"part": "lens", "value": [row, place]}:
                state.LENS_LAYER.set(row)
                keep(positions[place])
            case {"part": "layers" | "answer", "value": [row, _]}:
                state.LENS_LAYER.set(row)

    facts = _facts(look, seen, column, layer)
    drawings = _pictures(look, seen, positions, translate is not None, colour, column, layer)
    tuning = " tuned" if translate is not None else ""
    cards = [
        Card(
            [
                Part("words", None, words(here, f"lens{tuning}", **facts)),
                part("The lens", drawings["lens"].on_board),
            ]
        ),
        Card([part("This position", drawings["layers"].on_board)], f"{facts['where']}, layer by layer", 6),
        Card(
            [
                Part("facts", None, words(here, "settled", **facts)),
                part("The answer", drawings["answer"].on_board),
                Part("cell", None, words(here, "cell", **facts)),
            ],
            "How it comes to its answer",
            5,
        ),
    ]
    show(board(cards, "What each layer would predict"), "lens-board", chosen=react)
    return list(drawings.values())


def _choose(look: Look, tuned: bool) -> tuple[str, str]:
    """Return the chosen lens, and what its cells are coloured by. tuned: whether there is a tuned lens."""
    kind, colour = KINDS[tuned], "probability"
    if not tuned and look.beginner:
        return kind, colour
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if tuned:
            kind = one_of(state.LENS, KINDS, "the lens", label="Look through", default=state.LENS.default)
        if look.beginner:
            state.later("intermediate", state.LENS_COLOUR)
        else:
            colour = COLOURS[one_of(state.LENS_COLOUR, tuple(COLOURS), "the colour by", label="Colour by")]
    return kind, colour


def _window(positions: list[int]) -> list[int]:
    """Return a window of neighbouring positions."""
    if len(positions) <= WINDOW:
        return positions
    last = st.slider(
        "Positions up to", WINDOW, len(positions), len(positions), key=state.LENS_WINDOW.name, persist_state="session",
        help=f"{WINDOW} positions are shown at a time.",
    )  # fmt: skip
    return positions[last - WINDOW : last]


def _layer_name(trace: Trace, layer: int) -> str:
    return "input" if layer == 0 else f"L{trace.numbers[layer - 1]}"


def _pictures(
    look: Look, seen: Lens, positions: list[int], tuned: bool, colour: str, column: int, layer: int
) -> dict[str, Picture]:
    """Return the pictures of this part by the part of the board that shows them."""
    model, read = look.model, look.spell_tokens(look.trace.read)
    options, tokens = {"positions": positions, "tuned": tuned}, [read[place].text for place in positions]
    place = {"column": column, "layer": layer}
    kind, where = KINDS[tuned].capitalize(), f"{'at' if model.info.kind == 'encoder' else 'after'} “{named(tokens[column])}”"
    names: dict[str, Sequence] = {"stage": [_layer_name(look.trace, row) for row in range(len(seen.ids))], "position": positions}

    def texts(ids: np.ndarray) -> np.ndarray:
        return np.array([model.token_text(int(id)) for id in ids.ravel()], dtype=str).reshape(ids.shape)

    def cells() -> dict[str, Numbers]:
        each = {
            "probability": seen.probabilities[:, :, 0], "likeliest": texts(seen.ids[:, :, 0]), "rank of the answer": seen.rank,
            "probability of the answer": seen.probability, "nats to the answer": seen.kl,
        }  # fmt: skip
        of_position = {"token": np.array(tokens, dtype=str), "answer": texts(seen.answer)}
        of_cell = {name: Numbers(values, ("stage", "position"), names) for name, values in each.items()}
        return of_cell | {name: Numbers(values, ("position",), names) for name, values in of_position.items()}

    def layers() -> dict[str, Numbers]:
        ids, shares = seen.ids[:, column], seen.probabilities[:, column]
        each = {"probability": shares, "token": texts(ids), "id": ids}
        return {name: Numbers(values, ("stage", "place"), names) for name, values in each.items()}

    def answer() -> dict[str, Numbers]:
        each = {"probability": seen.probability, "rank": seen.rank, "nats to the answer": seen.kl}
        return {name: Numbers(values[:, column], ("stage",), names) for name, values in each.items()}

    def picture(part: str, recipe: Callable, numbers: Callable, title: str, of: str, more: dict) -> Picture:
        return Picture(
            recipe, (look,), options | more, "lens-board", numbers, words=of, title=title, part=part,
            takes=("model", "trace"), known={"predictions": seen},
        )  # fmt: skip

    grid = {"tokens": tokens, "colour": colour, "chosen": (layer, column), "simple": look.beginner}
    simple = place | {"simple": look.beginner}
    title = f"What each layer would predict by the {kind.lower()}"
    return {
        "lens": picture("lens", recipes.lens_cells, cells, title, "", grid),
        "layers": picture("layers", recipes.lens_position, layers, "The likeliest tokens of every layer", where, simple),
        "answer": picture("answer", recipes.lens_answer, answer, "The answer, layer by layer", where, simple),
    }


def _facts(look: Look, seen: Lens, column: int, layer: int) -> dict[str, object]:
    model, trace = look.model, look.trace
    place, settled = int(seen.positions[column]), int(seen.settled[column])
    token = named(look.spell_tokens(trace.read)[place].text)
    since = "from the input on" if settled == 0 else f"from {_layer_name(trace, settled)} on"
    if settled == len(seen.ids) - 1:
        since = f"only after the last layer, {_layer_name(trace, settled)}"

    def token_name(id: np.integer) -> str:
        text = model.token_text(int(id))
        return named(plain_sign(text) if look.beginner else text)

    facts = {
        "where": f"At “{token}”" if model.info.kind == "encoder" else f"After “{token}”",
        "answer": token_name(seen.answer[column]),
        "share": percent(seen.probability[-1, column]),
        "settled": since,
        "layer": _layer_name(trace, layer),
        "best": token_name(seen.ids[layer, column, 0]),
        "best_share": percent(seen.probabilities[layer, column, 0]),
        "rank": f"{seen.rank[layer, column]:,}",
        "answer_share": percent(seen.probability[layer, column]),
        "kl": f"{seen.kl[layer, column]:.3f}",
        "vocabulary": f"{model.info.vocabulary:,}",
        "d_model": model.info.d_model,
        "name": model.info.name,
        "place": place,
        "mean_settled": f"{np.mean(seen.settled):.1f}",
        "formula": model.way_out_formula("h"),
        "tuned_formula": model.way_out_formula("h + h·A + b"),
        "transform": TRANSFORM if "t(" in model.way_out_formula() else "",
        "first_kl": f"{seen.kl[0].mean():.3g}",
        "late_kl": f"{seen.kl[-2].mean():.3g}",
        "same": int(sum(trace.read[at].id == best for at, best in zip(seen.positions, seen.ids[0, :, 0], strict=True))),
        "all": len(seen.positions),
    }
    return {name: str(value).replace("*", r"\*") for name, value in facts.items()}
