"""Board "Evolution": one pair of tokens in every head, and the whole map layer by layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from analysis.evolution import Pair, strongest_key
from pages.layers import recipes
from pages.layers.settings import Evolution, Settings
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz.numbers import percent
from viz.tokens import named
from viz.views.board import Card, Part

KEY, PAIR, RANKS, FILM = "evolution", "evolution-pair", "evolution-ranks", "evolution-film"
WORDS = "evolution-words"


def add(draft: Draft, settings: Settings, reading: Evolution) -> None:
    """Add the board."""
    look, mean, in_heads, film = draft.look, reading.mean, reading.in_heads, reading.film
    attention, over = look.attention, recipes.over(mean)
    query, key = look.token, chosen_key(look, settings, over)
    head = look.head if settings.film else None
    sides = (look.spell_tokens(attention.rows), query), (look.spell_tokens(attention.keys), key)
    texts = [named(tokens[at].text) for tokens, at in sides]
    raw = {"from": texts[0], "to": texts[1], "head": look.head, "layers": attention.layers, "heads": attention.heads}
    raw |= _facts(look, in_heads) | {"from_at": query, "to_at": key, "mean": percent(np.nan_to_num(over[query, key]))}
    facts = {name: str(value).replace("*", r"\*") for name, value in raw.items()}
    in_sight = bool(np.isfinite(over[query, key]))
    changes = _changes(draft, mean, in_heads, (query, key), texts[0], in_sight)
    drawings = _pictures(look, mean, film, in_heads, (query, key), head, texts)
    if not in_sight:
        drawings = {name: drawing for name, drawing in drawings.items() if name not in ("weights", "ranks")}
    titles = f"From “{texts[0]}” to “{texts[1]}”", f"{_film(head)}, layer by layer"
    _add_cards(draft, drawings, facts, titles, changes)


def chosen_key(look: Look, settings: Settings, over: np.ndarray) -> int:
    """Return the clicked key; if the text has changed there, the key that the query looks at most. over: as `recipes.over`
    returns it."""
    keys, (key, id) = look.attention.keys, settings.pair_key
    if key is None or key >= len(keys) or keys[key].id != id:
        return strongest_key(over, look.token, itself=look.kind != "cross")
    return key


def _changes(draft: Draft, mean: np.ndarray, in_heads: Pair, at: tuple[int, int], text: str, in_sight: bool) -> str:
    """Return sentences on where the query looks in the first and in the last layer, and on the layers that look most and least
    at the key. mean: [layer, query, key]."""
    look, (query, key) = draft.look, at
    attention, row = look.attention, np.nan_to_num(mean[:, query])
    names, layers = [token.text for token in look.spell_tokens(attention.keys)], [f"L{number}" for number in attention.numbers]

    def name(place: int) -> str:
        if place == query and look.kind != "cross":
            return "itself"
        return f"“{named(names[place])}”" + (f" ({place})" if names.count(names[place]) > 1 else "")

    first, last = int(row[0].argmax()), int(row[-1].argmax())
    facts: dict[str, object] = {"from": text, "heads": attention.heads, "first_layer": layers[0], "last_layer": layers[-1]}
    facts |= {"first": name(first), "last": name(last), "to": name(key), "keys": int(in_heads.keys.max())}
    facts |= {"first_share": percent(row[0, first]), "last_share": percent(row[-1, last])}
    most, least = int(row[:, key].argmax()), int(row[:, key].argmin())
    facts |= {"most_layer": layers[most], "most": percent(row[most, key]), "even": percent(1 / max(1, int(in_heads.keys.max())))}
    facts |= {"least_layer": layers[least], "least": percent(row[least, key])}
    facts = {name: str(value).replace("*", r"\*") for name, value in facts.items()}
    headings = ["changes same" if first == last else "changes"] if len(layers) > 1 else []
    headings += ["peaks"] if len(layers) > 1 and in_sight else []
    return draft.paragraph(*headings, **facts)


def _add_cards(draft: Draft, drawings: dict[str, Picture], facts: dict[str, str], titles: tuple[str, str], changes: str) -> None:
    """Add the boards: what changes, the whole map layer by layer, the pair in every head, its ranks, and the texts to choose
    another pair from."""

    def part(name: str, picture: str, above: str, late: bool = False) -> Part:
        return draft.part(name, Draft.picture, drawings[picture], above, "", late)

    asks = "pick from cross" if draft.look.attention.chooses else "pick from"
    if changes:
        draft.add_words(WORDS, changes)
    if "movie" in drawings:
        above = draft.words(f"movie{' one' * (drawings['movie'].options['head'] is not None)}", **facts)
        draft.add_cards(FILM, [Card([part("The movie", "movie", above, True)], titles[1], 6)], titles[1])
    in_sight = "weights" in drawings
    heat = part("The pair in every head", "weights", draft.words("pair", **facts)) if in_sight else None
    heat = heat or Part("unseen", None, draft.words("out of sight", **facts))
    draft.add_cards(PAIR, [Card([heat], titles[0], 5)], titles[0], later=("grid_view",))
    if in_sight:
        draft.add_cards(RANKS, [Card([part("Its rank", "ranks", draft.words("rank", **facts))])], "Its rank in every head")
    texts = [
        part("The first text", "from", draft.words(asks, **facts)),
        part("The second text", "to", draft.words("pick to", **facts)),
    ]
    draft.add_cards(KEY, [Card(texts)], "The pair of tokens")


def _film(head: int | None) -> str:
    return "All heads together" if head is None else f"H{head} of each layer"


def _pictures(
    look: Look,
    mean: np.ndarray,
    film_maps: np.ndarray | None,
    in_heads: Pair,
    at: tuple[int, int],
    head: int | None,
    texts: list[str],
) -> dict[str, Picture]:
    """Return the pictures of this part by the part of the board that shows them. texts: of the two chosen tokens."""
    whole = replace(look, options={})  # of every token: nothing is hidden or joined here
    (query, key), of = at, f"from “{texts[0]}” to “{texts[1]}”"
    pair, film = {"query": query, "key": key}, {"head": head, "chosen": at, "name": _film(head)}
    shares = recipes.over(mean)

    def picture(part: str, recipe: Callable, title: str, of: str, options: dict, known: dict, numbers: dict) -> Picture:
        key = {"weights": PAIR, "ranks": RANKS, "movie": FILM}.get(part, KEY)
        return Picture(recipe, (whole,), options, key, lambda: numbers, words=of, title=title, part=part, known=known)

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
        "weights": picture("weights", recipes.pair_weights, "Weight in every head", of, pair, known, weights),
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
