"""Page "Change" offers the head that matters most, and folds a map in which nothing changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import models
from analysis.effects import divergence
from models.edits import Head
from pages.change import baseline, changed_text, changes, figures
from pages.change.compose import HERE
from tests.pages.opening import unmarked
from ui.look import Look
from ui.picture.board import Draft

WORDS = "The dog saw the dog"


@pytest.fixture(scope="module")
def look() -> Look:
    model = models.load("writer")
    return Look(model, model.trace(WORDS), picked=(3, 1), level="intermediate")


def test_the_head_to_begin_with_is_the_one_without_which_the_prediction_changes_most(look):
    beginning = baseline.beginning(look, look.predicted_at, False)
    places, model = baseline.heads_of(look, "self"), look.model
    base = look.trace.logits_at(-1)
    after = {place: model.trace(WORDS, edits=[Head(*place, 0.0)]).logits_at(-1) for place in places}
    nats = {place: divergence(base, logits) for place, logits in after.items()}
    assert beginning.place == max(nats, key=nats.get) and beginning.heads == len(places)
    best, middle = int(base.argmax()), sorted(places, key=lambda place: -nats[place])[len(places) // 2]
    chances = [float(model.chances(logits)[best]) for logits in (base, after[beginning.place], after[middle])]
    assert [beginning.before, beginning.after, beginning.middle] == pytest.approx(chances, abs=1e-4)
    written = baseline.beginning(look, look.predicted_at, True)
    assert written.place == baseline.suggestion(look, look.predicted_at) and written.after is None


def test_a_map_in_which_nothing_changed_is_folded_and_the_head_that_changed_most_is_named(look):
    plain, off = replace(look, level="beginner"), ["h2.3"]
    through = changes.through_changed_head(plain, off)
    assert (through.layer, through.head) == (2, 3) and changes.through_changed_head(look, off) is look
    draft = Draft(HERE, through)
    edited = changed_text.ChangedText(off, {}, look.model.trace(WORDS, edits=[Head(2, 3, 0.0)]))
    part = figures.lines(draft, edited, "after")
    before, after = (trace.attention["self"] for trace in (look.trace, edited.trace))
    moved = {(i, j): float(np.abs(after[i][j] - before[i][j]).sum(-1).mean() / 2) for i, j in baseline.heads_of(look, "self")}
    layer, head = max(moved, key=moved.get)
    assert part.folds and f"**L{layer} H{head}**" in unmarked(part.above)
    assert not figures.lines(Draft(HERE, through.at(layer, head)), edited, "after").folds, "there it has changed"
