"""The diagram of page "Build": the same boxes for everybody, and for beginners the purpose of each."""

from __future__ import annotations

import pytest

from models.scratch.config import KINDS, PLACES, POSITIONS, TransformerConfig
from pages.build.plan import columns, plain_stack

JARGON = ("norm", "softmax", "√", "q·k", "q [", "swiglu", "logit", "gelu", "{")


def boxes(plan):
    for _, column in plan:
        for box in column:
            yield from (box, *box.parts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("positions", POSITIONS)
def test_beginners_meet_what_each_part_is_for_and_no_formula(kind, positions):
    config = TransformerConfig(kind=kind, positions=positions, layers=3)
    plan = columns(config, 7, 5, plain_stack)
    for box in boxes(plan):
        words = f"{box.name} {box.note} {box.shape}".lower()
        assert not [word for word in JARGON if word in words], words
        assert box.note or box.name in ("Encoder", "Decoder")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
def test_both_diagrams_have_the_same_boxes(kind, place):
    config = TransformerConfig(kind=kind, norm_place=place, layers=3, positions="learned")
    plain, exact = columns(config, 7, 5, plain_stack), columns(config, 7, 5)
    outline = lambda plan: [[(len(box.parts), box.times, box.added) for box in column] for _, column in plan]  # noqa: E731
    assert outline(plain) == outline(exact)
    assert [box.added for box in boxes(plain)] == [box.added for box in boxes(exact)]
