"""The comparison of all methods: their agreement, the cost of each, and its change with another seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from analysis import Explanation, agreement
from analysis.ranks import extremes_by_chance, pair_by_chance, rank_correlation
from pages.explain import recipes
from pages.explain.asked import TITLES, Request
from pages.explain.boards.text import text_picture
from ui.escaping import plain
from ui.lexicon.marks import Marked
from ui.picture.board import Draft, Note, Table
from ui.picture.picture import Numbers, Picture
from viz import Card, Part
from viz.numbers import decimal

KEY, SILENT, COSTS, SPREAD, TEXTS = "agreement", "says nothing", "costs", "spread", "agreement-texts"
SEEDS = 5


def add(draft: Draft, request: Request, answers: Mapping[str, Explanation | str]) -> None:
    """Add the square of agreement, below a sentence for each method without an answer."""
    for method, answer in answers.items():
        if isinstance(answer, str):
            sentence = f"{TITLES[method]} says nothing here. {plain(answer)}"
            draft.contents[f"{SILENT} {method}"] = Note(sentence, "info", ":material/info:")
    explanations = explanations_of(answers)
    say_extremes(draft, request, explanations)
    draft.add(square(request, explanations), KEY)
    for method in answers:
        if line := draft.words(f"line {method}"):
            draft.beside.append(Note(Marked(f"**{TITLES[method]}:** {line}"), fold=draft.words("fold lines")))
    draft.note("agreement-words", "agreement", units=len(request.question.units))


def add_texts(draft: Draft, request: Request, explanations: Sequence[Explanation], pair: tuple[str, ...]) -> None:
    """Add the text as two methods colour it, one below the other. pair: their names, () for the two most alike and the two
    least."""
    pairs = ranked_pairs(explanations, request.question.units)
    places = {explanation.method: place for place, explanation in enumerate(explanations)}
    chosen = [each for each in pairs if {each[1], each[2]} == {places.get(name) for name in pair}]
    compared = {"chosen": chosen[0]} if chosen else {"most": pairs[0], "least": pairs[-1]} if len(pairs) > 1 else {}
    cards = []
    for kind, (rank, *both) in compared.items():
        first, second = (explanations[place] for place in both)
        title = draft.words(f"pair {kind}", first=TITLES[first.method], second=TITLES[second.method], rank=in_words(rank))
        cards.append(Card([text_part(draft, request, explanation, kind) for explanation in (first, second)], title, 5))
    if cards:
        draft.add_cards(TEXTS, cards, "The text by two methods")
        units = len(request.question.units)
        low, high = (in_words(rank) for rank in pair_by_chance(units))
        draft.note("texts-words", "pair read", word=plain(request.description), units=units, low=low, high=high)


def text_part(draft: Draft, request: Request, explanation: Explanation, kind: str) -> Part:
    """Return the text as a method colours it, with its name above."""
    drawing = text_picture(request, explanation, key=TEXTS, part=f"{kind} {explanation.method}")
    line = draft.words(f"line {explanation.method}")
    return draft.picture(drawing, f"**{TITLES[explanation.method]}{':' * bool(line)}** {line}".strip())


def ranked_pairs(explanations: Sequence[Explanation], units: Sequence[int]) -> list[tuple[float, int, int]]:
    """Return the rank correlation of each pair of methods that has one, with their places, the most alike first."""
    ranks = agreement(explanations, units)
    pairs = [(float(ranks[i, j]), i, j) for i in range(len(ranks)) for j in range(i + 1, len(ranks)) if np.isfinite(ranks[i, j])]
    return sorted(pairs, reverse=True)


def in_words(rank: float, digits: int = 2) -> str:
    """Format a rank correlation."""
    return f"{rank:.{digits}f}".replace("-", "−")


def say_extremes(draft: Draft, request: Request, explanations: Sequence[Explanation]) -> None:
    """Say which two methods rank the tokens most alike, and which two least, beside what random orders reach, below the experts'
    level."""
    pairs = ranked_pairs(explanations, request.question.units)
    if len(pairs) < 2:
        return
    names = {place: TITLES[explanation.method] for place, explanation in enumerate(explanations)}
    facts: dict[str, object] = {"units": len(request.question.units)}
    for end, (rank, i, j) in (("most", pairs[0]), ("least", pairs[-1])):
        digits = 2 if sum(f"{other:.2f}" == f"{rank:.2f}" for other, _, _ in pairs) == 1 else 3  # the square has two
        facts |= {end: in_words(rank, digits), f"{end}_first": names[i], f"{end}_second": names[j]}
    count = len({place for _, *both in pairs for place in both})
    high, low = extremes_by_chance(count, len(request.question.units))
    facts |= {"count": count, "high": in_words(high), "low": in_words(low)}
    draft.note("extremes", "extremes" if pairs[0][0] > high else "extremes random", **facts)


def add_costs(
    draft: Draft, request: Request, explanations: Sequence[Explanation], spreads: Mapping[str, np.ndarray] | None
) -> None:
    """Add a table of cost and spread."""
    draft.contents[COSTS] = Table(costs(request, explanations, spreads))
    if spreads is not None:
        draft.note(SPREAD, "spread", seeds=SEEDS)


def explanations_of(answers: Mapping[str, Explanation | str]) -> list[Explanation]:
    """Return the answers that are explanations."""
    return [answer for answer in answers.values() if isinstance(answer, Explanation)]


def square(request: Request, explanations: list[Explanation]) -> Picture:
    titles = [TITLES[explanation.method] for explanation in explanations]
    options = {"methods": [explanation.method for explanation in explanations], "titles": titles}

    def numbers() -> dict[str, Numbers]:
        ranks = agreement(explanations, request.question.units)
        scores = np.array([[explanation.scores[i] for i in request.question.units] for explanation in explanations])
        tokens = [*request.look.trace.tokens, *request.look.trace.target]
        texts = [tokens[i].text for i in request.question.units]
        return {
            "rank correlation": Numbers(ranks, ("method", "other method"), {"method": titles, "other method": titles}),
            "score": Numbers(scores, ("method", "token"), {"method": titles, "token": texts}, in_csv=False),
        }

    return request.picture(
        recipes.agreeing, KEY, "Agreement of the methods", options, numbers=numbers, known={"explanations": explanations}
    )


def costs(request: Request, explanations: Sequence[Explanation], spreads: Mapping[str, np.ndarray] | None) -> pd.DataFrame:
    """Return a row for each method: the texts that it read, the time for that, its sum, and its spread over seeds."""
    rows = {}
    for explanation in explanations:
        seeds = spreads.get(explanation.method) if spreads else None
        rows[TITLES[explanation.method]] = [
            f"{explanation.passes:,}",
            f"{explanation.seconds:.2g} s",
            "–" if explanation.difference is None else f"{decimal(explanation.total)} of {decimal(explanation.difference)}",
            ("–" if spreads is None else "none") if seeds is None else spread_of(seeds[:, request.question.units], request.unit),
        ]
    columns = ["Texts read", "Time", f"Sum, of what it should be ({request.unit})", "Spread over seeds"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def spread_of(seeds: np.ndarray, unit: str) -> str:
    """Return the standard deviation over seeds, a mean over tokens, and the mean rank correlation of every two seeds."""
    pairs = [rank_correlation(seeds[i], seeds[j]) for i in range(len(seeds)) for j in range(i)]
    ranks = [pair for pair in pairs if pair is not None]
    deviation = f"± {decimal(float(seeds.std(axis=0, ddof=1).mean()))} {unit}"
    return f"{deviation}; rank correlation {np.mean(ranks):.2f}".replace("-", "−") if ranks else deviation
