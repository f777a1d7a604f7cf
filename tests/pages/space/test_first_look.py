"""The words beside the points: a sentence for beginners, and what limits the picture folded."""

from itertools import combinations

import numpy as np
import pytest

import models
from pages.space.boards.tokens import nearest_drawn
from tests.pages.opening import open_link

TEXT = "text=The+cat+sat+on+the+mat"


@pytest.mark.parametrize("part", ["Tokens", "One word"])
def test_a_beginner_reads_a_sentence_and_unfolds_how_far_to_trust_the_picture(part):
    app = open_link("space", f"{TEXT.replace('mat', 'left')}&space={part.replace(' ', '+')}")
    (fold,) = app.expander
    folded = [caption.value for caption in fold.caption]
    assert fold.label == "How far to trust this picture" and not fold.proto.expanded
    assert any("This picture shows" in text for text in folded) and any("Two lists count as near" in text for text in folded)
    beside = [caption.value for column in app.columns for caption in column.caption if caption.value not in folded]
    assert sum("point" in text for text in beside) == 1, "the sentence about the points"


def test_experts_read_all_of_it_at_once():
    assert not open_link("space", f"{TEXT}&level=expert").expander


def test_a_beginner_reads_which_tokens_end_up_most_alike_and_how_alike_they_began():
    trace = models.load("writer").trace("A cat sat on the mat")
    places = [i for i, token in enumerate(trace.tokens) if not token.special]

    def alike(layer: int, pair: tuple[int, int]) -> float:
        first, second = (trace.hidden["self"][layer][at].astype(float) for at in pair)
        return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))

    def written(value: float) -> str:
        return f"{value:.2f}".replace("-", "−")

    pairs = list(combinations(places, 2))
    best = max(pairs, key=lambda pair: alike(-1, pair))
    first, second = (trace.tokens[at].text.strip() for at in best)
    captions = " ".join(caption.value for caption in open_link("space", "text=A+cat+sat+on+the+mat&space=Tokens").caption)
    ends = f"“{first}” and “{second}” end up most alike: **{written(alike(-1, best))}** (1 is the same)"
    more = "have made" if alike(-1, best) > alike(0, best) else "have not made"
    start = f"The layers {more} them more alike: before the first one they were **{written(alike(0, best))}** alike"
    assert f"{ends}. {start}" in captions


def test_the_pair_that_lies_nearest_in_the_picture_is_that_of_the_drawn_points():
    points = np.array([[0.0, 0.0], [9.0, 9.0], [5.0, 0.0], [5.0, 1.0]])
    assert nearest_drawn(points, [0, 1, 2, 3]) == (2, 3) and nearest_drawn(points, [0, 1, 2]) == (0, 2)
