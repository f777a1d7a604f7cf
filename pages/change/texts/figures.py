"""The pictures of two texts: the map of each piece's effect, and the two predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from pages.change.texts import recipes
from pages.change.texts.comparison import Comparison
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import Part, percent
from viz.tokens import named

BARS = 6
MOST = 0.5  # of the answer: a place with more has most of it
LITTLE = {"logit difference": 0.5, "probability": 0.05, "KL": 0.05}  # a smaller difference of two texts says hardly anything


def grid(draft: Draft, comparison: Comparison, effects: np.ndarray) -> Part:
    """Return the map. effects: of each piece."""

    def numbers() -> dict[str, Numbers]:
        rows, columns, _, _ = recipes.names(comparison.patches, comparison.part)
        across = "head" if comparison.part == "head" else "token"
        return {"effect": Numbers(effects.astype(np.float32), ("layer", across), {"layer": rows, across: columns})}

    drawing = comparison.picture(
        recipes.effects,
        "map",
        "What each part does",
        {"measure": comparison.measure},
        numbers=numbers,
        known={"values": effects},
    )
    above = draft.words(f"texts map {comparison.direction}", **facts(draft, comparison))
    above = "\n\n".join([*same_answer(draft, comparison), above])
    below = [
        *small_difference(draft, comparison),
        *movement(draft, comparison, effects),
        draft.words(f"texts measured {comparison.direction}", **facts(draft, comparison)),
        *unmatched_tokens(draft, comparison),
    ]
    below.append(draft.words("texts most", **strongest(comparison, effects)))
    below += [draft.words("texts always")] * (comparison.part == "stream" and comparison.kind != "encoder")
    return draft.picture(drawing, above, "\n\n".join(filter(None, below)))


def facts(draft: Draft, comparison: Comparison) -> dict[str, Any]:
    """Return the facts for sentences about the texts and their answers."""
    token, against = comparison.answers
    low, high = comparison.patches.ends(comparison.measure, *comparison.answers)
    names = {"answer": comparison.spell(token), "against": comparison.spell(against)}
    return names | {
        "measure": draft.words(f"texts measure {comparison.measure}", **names),
        "piece": draft.words(f"texts piece {comparison.part}"),
        "low": signed(low),
        "high": signed(high),
    }


def unmatched_tokens(draft: Draft, comparison: Comparison) -> list[str]:
    """Return a sentence on the tokens that only one of the texts has."""
    ours, theirs = comparison.patches.tokens(comparison.patches.base), comparison.patches.tokens(comparison.patches.source)
    places = comparison.patches.places
    if len(places) == len(ours) == len(theirs):
        return []
    alone = [named(token.text) for at, token in enumerate(ours) if at not in places]
    unused = [named(token.text) for at, token in enumerate(theirs) if at not in places.values()]
    token_names = ", ".join(f"“{text}”" for text in [*alone, *unused][:6]) + ("" if len(alone + unused) <= 6 else " …")
    heading = "texts unequal" if alone + unused else "texts equal"
    return [
        draft.words(
            heading, ours=len(comparison.look.trace.tokens), theirs=len(comparison.other.trace.tokens), tokens=token_names
        )
    ]


def same_answer(draft: Draft, comparison: Comparison) -> list[str]:
    """Return a sentence where both texts have the same likeliest token, so that no answer has to come back."""
    best = {name: int(np.argmax(logs)) for name, logs in comparison.patches.logs.items()}
    if len({*best.values()}) > 1 or draft.look.level != "intermediate":
        return []
    chances = [percent(comparison.chance(name, token)) for name, token in best.items()]
    return [draft.words("texts same answer", answer=comparison.spell(best["clean"]), first=chances[0], second=chances[1])]


def small_difference(draft: Draft, comparison: Comparison) -> list[str]:
    """Return a sentence where both texts have nearly the same answer."""
    low, high = comparison.patches.ends(comparison.measure, *comparison.answers)
    return [draft.words("texts little")] * (abs(high - low) < LITTLE[comparison.measure])


def movement(draft: Draft, comparison: Comparison, effects: np.ndarray) -> list[str]:
    """Return a sentence on the layer in which the answer moves: where the streams of one place, and then of that of the
    prediction, bring most of it back; none where more places do so by turns."""
    if comparison.part != "stream" or comparison.kind == "encoder" or not comparison.patches.denoises:
        return []
    leaders = np.nanargmax(effects, axis=1)
    moves = np.flatnonzero(np.diff(leaders))
    if len(moves) != 1 or np.nanmax(effects, axis=1).min() < MOST:
        return []
    _, _, rows, columns = recipes.names(comparison.patches, comparison.part)
    before, after = int(moves[0]), int(moves[0]) + 1
    facts = {"last": rows[before], "next": rows[after]}
    facts |= {"first": columns[leaders[before]].replace("*", r"\*"), "place": columns[leaders[after]].replace("*", r"\*")}
    return [draft.words("texts travel", **facts)]


def strongest(comparison: Comparison, effects: np.ndarray) -> dict[str, str]:
    """Return the square with the largest effect, except for the stream after the last layer, from which the prediction is
    made."""
    row, column = np.unravel_index(int(np.nanargmax(effects[:-1] if comparison.part == "stream" else effects)), effects.shape)
    return {"where": square_name(comparison, (int(row), int(column))), "share": signed(float(effects[row, column]))}


def square_name(comparison: Comparison, cell: tuple[int, int]) -> str:
    """Return the name of a square."""
    _, _, rows, columns = recipes.names(comparison.patches, comparison.part)
    at = rows[cell[0]], columns[cell[1]].replace("*", r"\*")
    return f"{at[1]} of {at[0]}" if comparison.part == "head" else f"{at[1]}, {at[0]}"


def signed(value: float) -> str:
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−")


def prediction(draft: Draft, comparison: Comparison, effects: np.ndarray, patched: np.ndarray | None) -> tuple[Part, Part]:
    """Return the prediction of the text that receives the piece, without and with it; and that of the other text. effects: as in
    `grid`; patched: ln p [vocabulary] with the piece."""
    names = [draft.words(f"texts name {name}") for name in ("clean", "corrupt")]
    names = names if comparison.patches.denoises else names[::-1]
    source, base = ("clean", "corrupt") if comparison.patches.denoises else ("corrupt", "clean")

    def picture(which: str, title: str, **fields: Any) -> Picture:
        def numbers() -> dict[str, Numbers]:
            ids = recipes.candidates(comparison.patches, comparison.answers, patched, BARS)
            tokens = {"token": [comparison.look.model.token_text(id) for id in ids]}
            logs = (
                {"without": comparison.patches.logs[base]}
                if which == "base"
                else {"probability": comparison.patches.logs[source]}
            )
            logs |= {"with the piece": patched} if which == "base" and patched is not None else {}
            return {name: Numbers(np.exp(values[ids]), ("token",), tokens) for name, values in logs.items()}

        return comparison.picture(recipes.bars, which, title, {"which": which, "count": BARS}, numbers=numbers, **fields)

    known = {} if patched is None else {"patched": patched}
    first = picture("base", f"The answer of the {names[1]}, with the piece", known=known)
    second = picture("source", f"The answer of the {names[0]}", known=known)
    above = "\n\n".join([sentence(draft, comparison, effects, patched), draft.words("texts base", text=names[1])])
    return draft.picture(first, above), draft.picture(second, draft.words("texts source", text=names[0]))


def sentence(draft: Draft, comparison: Comparison, effects: np.ndarray, patched: np.ndarray | None) -> str:
    """Return a sentence on the effect of the piece."""
    if comparison.cell is None or patched is None:
        return draft.words("texts press", **facts(draft, comparison))
    base, source = ("corrupt", "clean") if comparison.patches.denoises else ("clean", "corrupt")
    share, now = float(effects[comparison.cell]), int(patched.argmax())
    facts_of_cell: dict[str, str] = facts(draft, comparison) | {
        "where": square_name(comparison, comparison.cell),
        "share": signed(share),
        "now": comparison.spell(now),
    }
    for name, token in zip(("answer", "against"), comparison.answers, strict=True):
        chances = {
            "before": comparison.chance(base, token),
            "end": comparison.chance(source, token),
            "after": float(np.exp(patched[token])),
        }
        facts_of_cell |= {f"{name}_{when}": percent(chance) for when, chance in chances.items()}
    return draft.words(f"texts patched {comparison.direction}", **facts_of_cell)
