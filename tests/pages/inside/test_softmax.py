"""Scores and the softmax on page Inside: the steps are those of the model, a reader can check the example, and what the mask
hides is left out."""

from __future__ import annotations

import re

import numpy as np
import pytest

import models
from analysis import inside
from pages.inside import recipes, softmax
from pages.inside.compose import HERE
from pages.inside.detail import KEY, drawings
from pages.inside.opened import OpenStage, open_stage
from pages.inside.spots import Selection
from tests.grids import grid
from tests.pages.opening import header_of
from ui.look import Look
from ui.picture.board import Draft

TEXT = "Tom had a ball, and his dog ran after the"
CHECK = re.compile(r"`e\^\((\S+) − (\S+)\)` = (\S+), and (\S+) / (\S+) = \*\*(\S+)\*\*")


def opened(stage: str, level: str = "intermediate", token: int = 11) -> OpenStage:
    model = models.load("writer")
    look = Look(model, model.trace(TEXT), "self", level, picked=(2, 1), chosen_token=token)
    way = inside.follow(model, look.trace, 2, around=token)
    return open_stage(look, way, recipes.stage_of(way, stage), Selection(stage))


@pytest.mark.parametrize("token", [11, 4])
def test_the_steps_of_the_softmax_end_with_the_shares_of_the_model(token):
    here = opened("weights", token=token)
    steps = recipes.softmax_steps(here.way, here.stage, token, 1)
    assert steps is not None
    np.testing.assert_allclose(steps[2], recipes.plane(here.stage, [token], 1)[0], atol=1e-6)
    assert steps[1].max() == 1 and not steps[1][token + 1 :].any()
    assert recipes.softmax_steps(here.way, recipes.stage_of(here.way, "queries"), token, 1) is None


@pytest.mark.parametrize("level", grid(["intermediate", "expert"], ["intermediate"]))
@pytest.mark.parametrize("token", [11, 4])
def test_the_example_can_be_checked_by_hand(level, token):
    here = opened("weights", level, token)
    steps = recipes.softmax_steps(here.way, here.stage, token, 1)
    words = Draft(HERE, here.look).words("row softmax", **softmax.worked_out(here, steps))
    score, largest, power, again, total, share = (float(text.replace("−", "-")) for text in CHECK.search(words).groups())
    assert power == again
    np.testing.assert_allclose(np.exp(score - largest), power, rtol=3e-3)
    np.testing.assert_allclose(power / total, share, rtol=3e-3)


def test_beginners_and_other_stages_keep_their_row():
    for here in (opened("weights", "beginner"), opened("queries")):
        assert softmax.part(Draft(HERE, here.look), here, KEY) is None


def test_scores_that_the_mask_hides_are_left_out_at_intermediate():
    here = opened("scores", token=4)
    assert here.place[1] <= 4, "it opens at a score that counts"
    for level, hidden in (("intermediate", True), ("expert", False)):
        here = opened("scores", level)
        texts = header_of(drawings(Draft(HERE, here.look), here)["matrix"].drawn.data)["texts"]
        later = [texts[row][column] for row in range(12) for column in range(row + 1, 12)]
        assert any(later) is not hidden and all(texts[row][column] for row in range(12) for column in range(row + 1))
