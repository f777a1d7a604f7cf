"""The sentences that the parts of page "Heads" begin with, and the bars of "Importance"."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import models
from analysis import head_importance, head_labels
from analysis.labels import whole_words
from pages.heads import standins
from pages.heads.naming import WRITTEN
from tests.pages.opening import open_link, words_on
from viz.figures.importance import importance_bars, largest_bar


@pytest.mark.thorough
def test_importance_begins_with_the_heads_that_are_missed_most():
    """It takes twenty seconds: the loss of all texts is computed once without each of the 48 heads."""
    page = words_on(open_link("heads", "level=intermediate&heads-part=Importance"))
    importance = head_importance(models.load("writer"))
    best, second, *_ = importance.table.sort_values("effect", ascending=False).itertuples()
    assert f"**Without L{best.layer} H{best.head} the loss rises most, by {best.effect:.3f} nats a token**" in page
    assert f"without L{second.layer} H{second.head}, the next, by {second.effect:.3f}" in page
    assert f"change it by {importance.table['effect'].abs().median():.3f} or less" in page


@pytest.mark.thorough
def test_labels_begin_with_how_many_heads_clearly_do_something():
    page = words_on(open_link("heads", "level=intermediate"))
    labels = head_labels(models.load("writer"))["label"]
    (name, count), *_ = Counter(name for label in labels for name in label.split(", ") if name).most_common()
    labelled, several = int((labels != "").sum()), int(labels.str.contains(", ").sum())
    single = f"{labelled - several} have one label, and {several} have more."
    assert f"**What does each head do? {labelled} of the 48 heads have a label that says so: {single}**" in page
    first = int(labels.str.startswith(name).sum())
    assert f"The most frequent label is “{WRITTEN[name]}”: {count} heads have it. You can read it in {first} squares" in page
    assert "weights were put in random order" in page and "A blank square is a head without a label" in page


@pytest.mark.parametrize(("most", "verdict"), [(0.21, "hardly"), (0.5, "partly"), (0.89, "partly"), (0.9, "yes")])
def test_whether_a_head_could_stand_in_is_said_by_the_most_alike_pair(most, verdict):
    assert standins.verdict(np.array([[1.0, most], [most, 1.0]])) == verdict


def test_a_bar_that_is_far_longer_than_the_others_is_cut_and_has_its_number():
    values, names = np.array([1.07, 0.25, 0.1, -0.13]), ["L0 H4", "L0 H5", "L0 H3", "L1 H5"]
    figure = importance_bars(names, values, np.full((2, 4), np.nan), [""] * 4, chosen=1)
    (bars,) = figure.data
    assert largest_bar(values) == 0.25 and 0.25 < bars.y[0] < 0.5 and [*bars.y[1:]] == [*values[1:]]
    (number,) = figure.layout.annotations
    assert (number.x, number.text, bars.customdata[0][0]) == ("L0 H4", "↑ 1.07", "1.0700")
    assert len({bars.marker.color[0], bars.marker.color[1]}) == 2, "the chosen head has a colour of its own"
    even = importance_bars(names, values / [4, 1, 1, 1], np.full((2, 4), np.nan), [""] * 4)
    assert not even.layout.annotations, "no bar is far longer than the next"
    with pytest.raises(ValueError, match="4 names"):
        importance_bars(names, values[:2], np.full((2, 4), np.nan), [""] * 4)


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [np.nan, 0.3], [0.5]])
def test_bars_of_few_heads_have_an_axis(values):
    assert largest_bar(np.array(values)) == max([value for value in values if value > 0], default=1.0)


def test_tokens_that_are_parts_of_words_are_no_whole_words():
    text = "I don't know where Dinn may be, said the fishermen"
    tokens = models.load("writer").trace(text).tokens
    whole = whole_words(text, tokens)
    for token, is_whole in zip(tokens, whole, strict=True):
        before, after = text[: token.start] + token.text[: len(token.text) - len(token.text.lstrip())], text[token.end :]
        is_part = not token.special and ((before[-1:].isalnum() and token.text[:1].isalnum()) or after[:1].isalnum())
        assert bool(is_whole) == (not is_part), token
    assert 0 < (~whole).sum() < len(whole)
