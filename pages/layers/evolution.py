"""Part "Evolution": one pair of tokens in every head, and the whole map layer by layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import as_written, maps, pair
from analysis.evolution import Pair, strongest_key
from pages.layers import heads
from ui import state
from ui.choices.token import keep as keep_token
from ui.choices.token import press
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import jobs
from ui.show import choice, part, show
from ui.words import say, words
from viz import Card, Part, board, percent, reading_view
from viz.tokens import named
from viz.views.grid_view.layers import attention_movie, head_grid, pressed, rank_grid


def draw(here: Path, look: Look) -> None:
    heads.follow()
    kind, attention = look.kind, look.attention
    if len(attention.keys) == 1:
        return say(here, "single")
    what = (look.model.info.name, look.trace.text, look.second, kind)
    mean = jobs.result(("maps", *what), lambda report: maps(attention, report=report), "Reading every layer")
    if mean is None:
        return
    with np.errstate(invalid="ignore"):
        seen = np.isfinite(mean).any(0)
        over = np.where(seen, np.nan_to_num(mean).mean(0), np.nan)  # [query, key], the mean over layers and heads
    query = look.token
    key, id = state.PAIR_KEY.get()
    if key is None or key >= len(attention.keys) or attention.keys[key].id != id:  # the text has changed there
        key = strongest_key(over, query, itself=kind != "cross")
    found = jobs.result(
        ("pair", *what, query, key), lambda report: pair(attention, query, key, report), "Looking for the pair in every head"
    )
    if found is None:
        return
    head = look.head
    drawn: np.ndarray | None = mean
    if look.beginner:
        state.later("intermediate", state.MOVIE)
    else:
        way = one_of(state.MOVIE, state.MOVIE.values, "the film of", label="Play")
        if way == "one head":
            drawn = jobs.result(
                ("maps", *what, head), lambda report: maps(attention, head, report=report), f"Reading H{head} of every layer"
            )
    one = drawn is not mean

    def keep(position: int) -> None:
        state.PAIR_KEY.set((position, attention.keys[position].id))

    def react() -> None:
        match choice("evolution"):
            case {"part": "from", "value": position}:
                press(position, look.newest)
                keep(key)
            case {"part": "to", "value": position}:
                keep(position)
            case {"part": "movie", "value": [row, column]}:
                query_there, key_there = pressed(mean if drawn is None else drawn, row, column)
                keep_token(query_there)
                keep(key_there)
            case {"part": "weights" | "ranks", "value": [layer, number]}:
                heads.pressed(layer, number)

    texts = [named(side[at].text) for side, at in ((look.written(attention.rows), query), (look.written(attention.keys), key))]
    facts = {"from": texts[0], "to": texts[1], "head": head, "layers": attention.layers, "heads": attention.heads}
    facts |= _facts(found) | {"from_at": query, "to_at": key, "mean": percent(np.nan_to_num(over[query, key]))}
    facts = {name: str(value).replace("*", r"\*") for name, value in facts.items()}
    told, asks = heads.told(*found.weights.shape), "pick from cross" if kind == "cross" else "pick from"
    unseen = [Part("unseen", None, words(here, "out of sight", **facts))]
    heat = [part("The pair in every head", _weights, found, told, words(here, "pair", **facts))]
    if not look.beginner:
        heat.append(part("Its rank", _ranks, found, words(here, "rank", **facts)))
    name = f"H{head} of each layer" if one else "All heads together"
    movie = [part("The movie", _movie, look, drawn, (query, key), name, words(here, "movie one" if one else "movie", **facts))]
    cards = [
        Card(
            [
                part("The first text", _text, look, "from", over[:, key], query, words(here, asks, **facts)),
                part("The second text", _text, look, "to", over[query], key, words(here, "pick to", **facts)),
            ]
        ),
        Card(heat if seen[query, key] else unseen, f"From “{texts[0]}” to “{texts[1]}”", 5),
        Card(movie if drawn is not None else [], f"{name}, layer by layer", 6),
    ]
    if told:
        said = {"layer": told[0], "head": told[1], "share": percent(found.weights[told])}
        st.caption(words(here, "pressed pair", **facts | said))
    show(board(cards, "How attention evolves"), "evolution", chosen=react)


def _facts(found: Pair) -> dict[str, object]:
    layer, head = np.unravel_index(found.weights.argmax(), found.weights.shape)
    first = int((found.ranks == 1).sum())
    return {
        "best": f"L{layer} H{head}",
        "most": percent(found.weights.max()),
        "firsts": first,
        "all": found.ranks.size,
        "keys": int(found.keys.max()),
    }


def _text(look: Look, name: str, shares: np.ndarray, chosen: int, above: str) -> Part:
    """The text to choose one of the two tokens in; shaded by what the mean over layers and heads gives."""
    trace = look.trace
    side = look.written(look.attention.rows if name == "from" else look.attention.keys)
    source = look.kind == "encoder" or (look.kind == "cross" and name == "to")
    written = as_written(side, *([trace.text] if source else [look.second] if trace.target else [trace.text, look.second]))
    view = reading_view(written, None, chosen, name == "to", quantity=100 * np.asarray(shares, dtype=float), unit="%")
    return Part(name, view, above)


def _weights(found: Pair, told: tuple[int, int] | None, above: str) -> Part:
    size = found.ranks.shape
    notes = [[f"rank {found.ranks[at]} of {found.keys[at[0]]}" for at in row] for row in _places(size)]
    return Part("weights", head_grid(found.weights, unit="%", scale=(0, 1), notes=notes, chosen=told, label="Weight"), above)


def _movie(look: Look, drawn: np.ndarray, chosen: tuple[int, int], name: str, above: str) -> Part:
    tokens = look.written(look.attention.rows), look.written(look.attention.keys)
    return Part("movie", attention_movie(*tokens, drawn, chosen, name), above, late=True)


def _ranks(found: Pair, above: str) -> Part:
    return Part("ranks", rank_grid(found.ranks, found.keys.tolist()), above)


def _places(size: tuple[int, int]) -> list[list[tuple[int, int]]]:
    return [[(layer, head) for head in range(size[1])] for layer in range(size[0])]
