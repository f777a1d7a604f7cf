"""The diagram of page "Build": the same boxes for everybody, and for beginners the purpose of each."""

from __future__ import annotations

import pytest

from models.scratch.config import KINDS, PLACES, POSITIONS, TransformerConfig
from pages.build.plan import columns, plain_stack
from tests.pages.opening import open_link

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


def test_a_beginner_steps_from_one_number_of_heads_that_fits_to_the_next():
    app = open_link("build", "build-heads=8")
    control = lambda name: app.number_input(key=f"build-{name}")  # noqa: E731  (it is another one after each run)
    for chosen, becomes in ((9, 16), (15, 8), (7, 4), (200, 128)):
        control("heads").set_value(chosen).run()
        assert (control("heads").value, app.error) == (becomes, [])
    control("d_model").set_value(300).run()
    assert (control("d_model").value, app.error) == (256, [])
    control("d_model").set_value(1000).run()
    assert control("d_model").value == 1024 and not app.exception
