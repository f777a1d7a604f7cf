"""A walk from any number of a model at work back to the text that it read."""

from __future__ import annotations

from random import Random

import pytest

from analysis import inside


def walk(found: inside.Way, random: Random) -> None:
    """From any number back to the text, one source after the other, as they come: at each, the terms sum to the number."""
    stage = random.choice(found.stages)
    place = stage.place(*[random.randrange(size) for size in stage.shape])
    while place.stage not in ("ids", "positions", "segments"):
        cell = found.explain(*place)
        total = sum(term.product for term in cell.terms)
        assert cell.terms and (total == cell.value or total == pytest.approx(cell.value, abs=1e-4, rel=1e-4)), (place, total)
        for term in cell.terms:
            assert term.product == pytest.approx(term.left * term.right, nan_ok=True), place
        place = random.choice([one for term in cell.terms for one in (term.source, term.other) if one])
