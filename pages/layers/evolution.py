"""Part "Evolution": one pair of tokens in every head, and the whole map layer by layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import streamlit as st

from analysis import maps, pair
from analysis.evolution import Pair, strongest_key
from pages.layers import heads, recipes
from ui import state
from ui.choices.token import keep as keep_token
from ui.choices.token import press
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.show import choice, part, show
from ui.words import say, words
from viz import Card, Part, board, percent
from viz.tokens import named
from viz.views.grid_view.layers import pair_of_cell


def draw(here: Path, look: Look) -> list[Picture]:
    heads.follow()
    kind, attention = look.kind, look.attention
    if len(attention.keys) == 1:
        say(here, "single")
        return []
    subject = (look.model.info.name, look.trace.text, look.second, kind)
    mean = jobs.result(("maps", *subject), lambda report: maps(attention, report=report), "Reading every layer")
    if mean is None:
        return []
    over = recipes.over(mean)
    query, key = look.token, _key(look, over)
    in_heads = jobs.result(
        ("pair", *subject, query, key), lambda report: pair(attention, query, key, report), "Looking for the pair in every head"
    )
    if in_heads is None:
        return []
    head, film = _pick_film(look, subject, mean)
    texts = [
        named(side[at].text)
        for side, at in ((look.spell_tokens(attention.rows), query), (look.spell_tokens(attention.keys), key))
    ]
    raw = {
        "from": texts[0],
        "to": texts[1],
        "head": look.head,
        "layers": attention.layers,
        "heads": attention.heads,
        "first_layer": attention.numbers[0],
    }
    raw |= _facts(look, in_heads) | {"from_at": query, "to_at": key, "mean": percent(np.nan_to_num(over[query, key]))}
    facts = {name: str(value).replace("*", r"\*") for name, value in raw.items()}
    clicked_head, in_sight = heads.last_clicked(*in_heads.weights.shape), bool(np.isfinite(over[query, key]))
    drawings = _pictures(look, mean, film, in_heads, (query, key), clicked_head, head, texts)
    if clicked_head:
        layer, number = clicked_head
        weight = {"layer": look.number(layer), "head": number, "share": percent(in_heads.weights[clicked_head])}
        st.caption(words(here, "pressed pair", **facts | weight))
    titles = f"From “{texts[0]}” to “{texts[1]}”", f"{_film(head)}, layer by layer"
    cards = _cards(here, look, drawings, facts, titles, in_sight)
    show(board(cards, "How attention evolves"), "evolution", chosen=lambda: _react(look, key, mean if film is None else film))
    hidden = {"weights", "ranks"} if not in_sight else {"ranks"} if look.beginner else set()
    return [drawing for name, drawing in drawings.items() if name not in hidden]


def _key(look: Look, over: np.ndarray) -> int:
    """Return the key that was clicked; where the text has changed there, the one that the query looks at most."""
    keys, (key, id) = look.attention.keys, state.PAIR_KEY.get()
    if key is None or key >= len(keys) or keys[key].id != id:
        return strongest_key(over, look.token, itself=look.kind != "cross")
    return key


def _keep(look: Look, key: int) -> None:
    state.PAIR_KEY.set((key, look.attention.keys[key].id))


def _pick_film(look: Look, subject: tuple, mean: np.ndarray) -> tuple[int | None, np.ndarray | None]:
    """Return the head whose maps are played, None for the mean of all, and its maps, None until they are calculated."""
    if look.beginner:
        state.later("intermediate", state.MOVIE)
        return None, mean
    if one_of(state.MOVIE, state.MOVIE.values, "the film of", label="Play") != "one head":
        return None, mean
    head, attention = look.head, look.attention
    doing = f"Reading H{head} of every layer"
    return head, jobs.result(("maps", *subject, head), lambda report: maps(attention, head, report=report), doing)


def _react(look: Look, key: int, film: np.ndarray) -> None:
    """React to a click on the board."""
    match choice("evolution"):
        case {"part": "from", "value": position}:
            press(position, look.newest)
            _keep(look, key)
        case {"part": "to", "value": position}:
            _keep(look, position)
        case {"part": "movie", "value": [row, column]}:
            query, key = pair_of_cell(film, row, column)
            keep_token(query)
            _keep(look, key)
        case {"part": "weights" | "ranks", "value": [layer, number]}:
            heads.open_head(layer, number)


def _cards(
    here: Path, look: Look, drawings: dict[str, Picture], facts: dict[str, str], titles: tuple[str, str], in_sight: bool
) -> list[Card]:
    """Return the cards: the texts to choose the pair from, the pair in every head, and the whole map layer by layer."""
    asks = "pick from cross" if look.attention.chooses else "pick from"
    texts = [
        part("The first text", drawings["from"].on_board, words(here, asks, **facts)),
        part("The second text", drawings["to"].on_board, words(here, "pick to", **facts)),
    ]
    heat = [Part("unseen", None, words(here, "out of sight", **facts))]
    if in_sight:
        heat = [part("The pair in every head", drawings["weights"].on_board, words(here, "pair", **facts))]
    if in_sight and not look.beginner:
        heat.append(part("Its rank", drawings["ranks"].on_board, words(here, "rank", **facts)))
    movie = []
    if "movie" in drawings:
        above = words(here, f"movie{' one' * (drawings['movie'].options['head'] is not None)}", **facts)
        movie = [part("The movie", drawings["movie"].on_board, above, "", True)]
    return [Card(texts), Card(heat, titles[0], 5), Card(movie, titles[1], 6)]


def _film(head: int | None) -> str:
    return "All heads together" if head is None else f"H{head} of each layer"


def _pictures(
    look: Look, mean: np.ndarray, film_maps: np.ndarray | None, in_heads: Pair, at: tuple[int, int],
    marked: tuple[int, int] | None, head: int | None, texts: list[str],
) -> dict[str, Picture]:  # fmt: skip
    """Return the pictures of this part by the part of the board that shows them. texts: of the two chosen tokens."""
    whole = replace(look, options={})  # of every token: nothing is hidden or joined here
    (query, key), of = at, f"from “{texts[0]}” to “{texts[1]}”"
    pair, film = {"query": query, "key": key}, {"head": head, "chosen": at, "name": _film(head)}
    shares = recipes.over(mean)

    def picture(part: str, recipe: Callable, title: str, of: str, options: dict, known: dict, numbers: dict) -> Picture:
        return Picture(recipe, (whole,), options, "evolution", lambda: numbers, words=of, title=title, part=part, known=known)

    def text(side: str, title: str, values: np.ndarray, place: int, other: int) -> Picture:
        options = {"side": side, "at": place, "other": other, "texts": _texts(look, side)}
        tokens = [token.text for token in (whole.scope.queries if side == "from" else whole.scope.keys).tokens]
        numbers = {"mean_weight": Numbers(values, ("token",), {"token": tokens})}
        return picture(side, recipes.text, title, "", options, {"mean": mean}, numbers)

    weights = {"weights": Numbers(in_heads.weights, ("layer", "head"))}
    ranks = {"rank": Numbers(in_heads.ranks, ("layer", "head")), "keys_in_sight": Numbers(in_heads.keys, ("layer",))}
    name = f"Attention, layer by layer, {'mean of the heads' if head is None else f'H{head}'}"
    known = {"in_heads": in_heads}
    pictures = {
        "from": text("from", f"How much each token looks at “{texts[1]}”", shares[:, key], query, key),
        "to": text("to", f"How much “{texts[0]}” looks at each token", shares[query], key, query),
        "weights": picture(
            "weights", recipes.pair_weights, "Weight in every head", of, pair | {"chosen": marked}, known, weights
        ),
        "ranks": picture("ranks", recipes.pair_ranks, "Rank in every head", of, pair, known, ranks),
    }
    if film_maps is not None:
        maps_of = {"weights": Numbers(film_maps, ("layer", "from", "to"))}
        pictures["movie"] = picture("movie", recipes.movie, name, "", film, {"drawn": film_maps}, maps_of)
    return pictures


def _texts(look: Look, side: str) -> list[str]:
    """Return the typed texts to which the tokens of a side belong."""
    source = look.kind == "encoder" or (look.kind == "cross" and side == "to")
    return [look.trace.text] if source else [look.second] if look.trace.target else [look.trace.text, look.second]


def _facts(look: Look, in_heads: Pair) -> dict[str, object]:
    layer, head = np.unravel_index(in_heads.weights.argmax(), in_heads.weights.shape)
    first = int((in_heads.ranks == 1).sum())
    return {
        "best": look.named(int(layer), int(head)),
        "most": percent(in_heads.weights.max()),
        "firsts": first,
        "all": in_heads.ranks.size,
        "keys": int(in_heads.keys.max()),
    }
