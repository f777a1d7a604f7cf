"""The words beside the points: a sentence for beginners, and what limits the picture folded."""

import re
from itertools import combinations

import numpy as np
import pytest

import models
from analysis import projection
from pages.space.boards.tokens import nearest_drawn
from pages.space.contexts import TEXTS, WORD
from pages.space.recipes import word_points
from pages.space.scene import alike_pairs
from tests.pages.opening import finish, open_link, unmarked, words_on
from viz.numbers import whole_percent

TEXT = "text=The+cat+sat+on+the+mat"


@pytest.mark.parametrize("part", ["Tokens", "One word"])
def test_a_beginner_reads_a_sentence_and_unfolds_how_far_to_trust_the_picture(part):
    app = open_link("space", f"{TEXT.replace('mat', 'left')}&space={part.replace(' ', '+')}")
    (fold,) = app.expander
    folded = [caption.value for caption in fold.caption]
    assert fold.label == "How far to trust this picture" and not fold.proto.expanded
    assert any("Two lists count as near" in text for text in folded)
    opened = [unmarked(caption.value) for caption in app.main.caption if caption.value not in folded]
    assert sum("The picture shows **" in text for text in opened) == 1, "that it is a part stands in sight"
    assert sum(bool(re.search("^Each \\*\\*point|Each point is the", text)) for text in opened) == 1, (
        "the sentence about the points"
    )


def test_experts_read_all_of_it_at_once():
    assert not open_link("space", f"{TEXT}&level=expert").expander


@pytest.mark.parametrize("level", ["beginner", "intermediate"])
def test_the_pair_nearest_in_the_picture_stands_beside_all_of_the_numbers_and_beside_chance(level):
    text = "Tom had a ball, and his dog ran after the"
    trace = models.load("writer").trace(text)
    places = [i for i, token in enumerate(trace.tokens) if token.text.strip().isalpha() and not token.special]
    pairs = list(combinations(places, 2))

    def alike(layer: int, pair: tuple[int, int]) -> float:
        first, second = (trace.hidden["self"][layer][at].astype(float) for at in pair)
        return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))

    def share(layer: int, pair: tuple[int, int]) -> str:
        return whole_percent(np.mean([alike(layer, other) < alike(layer, pair) for other in pairs if other != pair]))

    def named(pair: tuple[int, int]) -> str:
        return " and ".join(f"“{trace.tokens[at].text.strip()}”" for at in pair)

    points = projection(trace.hidden["self"]).points[-1]
    near = min(pairs, key=lambda pair: float(np.linalg.norm(points[pair[0]] - points[pair[1]])))
    best = max(pairs, key=lambda pair: alike(-1, pair))
    app = open_link("space", f"text={text.replace(' ', '+')}&space=Tokens&level={level}")
    captions = unmarked(" ".join(caption.value for caption in app.caption))
    assert named(near) in captions and f"**{share(-1, near)}** of the other pairs" in captions
    assert (
        "By chance alone, you would expect about 50\u00a0%."
        if level == "beginner"
        else "ahead of 50\u00a0% of the others, on average"
    ) in captions
    assert ("the picture misleads" in captions) == (int(share(-1, near).split("\u00a0")[0]) < 50)
    assert near != best and named(best) in captions
    if level == "intermediate":
        usual = float(np.median([alike(-1, pair) for pair in pairs]))
        assert f"higher than that of {share(0, near)}" in captions
        assert f"their cosine is {alike(-1, best):.2f}, where the median pair has {usual:.2f}" in captions


def test_the_pair_that_lies_nearest_in_the_picture_is_that_of_the_drawn_points():
    points = np.array([[0.0, 0.0], [9.0, 9.0], [5.0, 0.0], [5.0, 1.0]])
    assert nearest_drawn(points, [0, 1, 2, 3]) == (2, 3) and nearest_drawn(points, [0, 1, 2]) == (0, 2)


def test_the_most_alike_pair_is_that_of_the_highest_cosine_in_the_last_layer():
    hidden = np.array([[[1, 0], [0, 1], [1, 1]], [[1, 0], [1, 0.1], [0, 1]]], dtype=np.float32)
    pairs = alike_pairs(hidden, [0, 1, 2])
    assert pairs is not None and pairs.most_alike.places == (0, 1)
    np.testing.assert_allclose(pairs.most_alike.cosines, [0, 1 / 1.01**0.5], atol=1e-6)
    assert pairs.usual == pytest.approx(0.1 / 1.01**0.5, abs=1e-6), "the median of 0.995, 0 and 0.0995"
    assert [pairs.share_below(pair, -1) for pair in ((0, 1), (0, 2), (1, 2))] == [1, 0, 0.5], "of the two other pairs"


def test_a_beginner_sees_one_word_after_the_last_layer_and_reads_what_chance_gives():
    on_screen = words_on(finish(open_link("space", "level=beginner")))
    assert "here after the last layer. Press **Play**" in on_screen and "**Near** means alike for the model: “" in on_screen
    texts = [line for line in TEXTS.splitlines() if line]
    writer = models.load("writer")
    states = word_points([writer.trace(text) for text in texts], "self", WORD, [])[2][-1].astype(float)
    units = states / np.linalg.norm(states, axis=-1, keepdims=True)
    pairs = list(combinations(range(len(texts)), 2))
    ends = [pick(pairs, key=lambda pair: float(units[pair[0]] @ units[pair[1]])) for pick in (max, min)]
    names = ["“{}: .*” and “{}: .*”".format(*(place + 1 for place in pair)) for pair in ends]
    assert re.search(
        f"{names[0]} are most alike. \\*\\*Far\\*\\* means different: {names[1]} are least alike", on_screen.replace("\\", "")
    )
    assert "Sorted at random, it would be 50\u00a0%" in on_screen


def test_beyond_beginners_the_share_that_a_picture_shows_stands_in_sight():
    app = open_link("space", f"{TEXT}&space=Tokens&level=intermediate")
    folded = [caption.value for fold in app.expander for caption in fold.caption]
    (share,) = [caption.value for caption in app.caption if caption.value.startswith("The picture shows **")]
    assert share not in folded and any("distances can only shrink" in text for text in folded)
