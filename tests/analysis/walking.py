"""A walk from any number of a model at work back to the text that it read."""

from __future__ import annotations

from random import Random

import pytest

from analysis import inside

# Formulas whose factors are the very numbers of other stages, and nothing that was made of them.
HANDED_ON = {
    "add",
    "same",
    "linear",
    "dot product",
    "weighted sum",
    "gate",
    "scale",
    "rotary",
    "mask",
    "position bias",
    "soft cap",
}


def formula(way: inside.Way, place: inside.Place) -> str:
    is_own = place.layer in (None, way.layer) and place.stack == way.stack
    place_way = way if is_own else way._at(place.layer or 0, place.stack)
    return place_way.stage(place.stage, place.layer).formula


def walk(way: inside.Way, random: Random) -> None:
    """From any number back to the text, one source after the other, as they come: at each, the terms sum to the number."""
    stage = random.choice(way.stages)
    place = stage.place(*[random.randrange(size) for size in stage.shape])
    while place.stage not in ("ids", "positions", "segments"):
        cell = way.explain(*place)
        total = sum(term.product for term in cell.terms)
        assert cell.terms and (total == cell.value or total == pytest.approx(cell.value, abs=1e-4, rel=1e-4)), (place, total)
        handed_on = formula(way, place) in HANDED_ON
        for term in cell.terms:
            for factor, source in ((term.left, term.source), (term.right, term.other)):
                if handed_on and source:
                    assert factor == pytest.approx(way.explain(*source).value, abs=1e-4, rel=1e-4), (place, source)
            assert term.product == pytest.approx(term.left * term.right, nan_ok=True), place
        place = random.choice([next_place for term in cell.terms for next_place in (term.source, term.other) if next_place])
