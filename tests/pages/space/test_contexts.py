"""The word that part "One word" of page Space opens with is one whose senses the shipped writer does part."""

from __future__ import annotations

import numpy as np

import models
from analysis import occurrences, word_states
from analysis.projections import prepared
from pages.space.contexts import TEXTS, WORD

AWAY, HAND = range(3), range(3, 6)  # she left, and the left hand


def test_the_first_word_is_one_point_at_first_and_comes_apart_by_its_two_senses():
    traces = [models.load("writer").trace(text) for text in TEXTS.splitlines() if text]
    places = occurrences(WORD, [trace.text for trace in traces], [trace.tokens for trace in traces])
    assert [place.text for place in places] == [*AWAY, *HAND], "once in each text"
    states = prepared(word_states([trace.hidden["self"] for trace in traces], places))
    apart = np.linalg.norm(states[:, :, None] - states[:, None], axis=-1)  # [layers + 1, place, place]
    assert apart[0].max() < 1e-5, "after the embedding they are the same"
    alike = [apart[-1][i, j] for sense in (AWAY, HAND) for i in sense for j in sense if i < j]
    other = [apart[-1][i, j] for i in AWAY for j in HAND]
    assert max(alike) < min(other), "any two places of one sense are nearer than any two of both"
