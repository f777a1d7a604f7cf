"""The words beside the points: a sentence for beginners, and what limits the picture folded."""

import pytest

from tests.pages.opening import open_link

TEXT = "text=The+cat+sat+on+the+mat"


@pytest.mark.parametrize("part", ["Tokens", "One word"])
def test_a_beginner_reads_a_sentence_and_unfolds_how_far_to_trust_the_picture(part):
    app = open_link("space", f"{TEXT}&space={part.replace(' ', '+')}")
    (fold,) = app.expander
    folded = [caption.value for caption in fold.caption]
    assert fold.label == "How far to trust this picture" and not fold.proto.expanded
    assert any("This picture shows" in text for text in folded) and any("Two lists count as near" in text for text in folded)
    beside = [caption.value for column in app.columns for caption in column.caption if caption.value not in folded]
    assert sum("point" in text for text in beside) == 1, "the sentence about the points"


def test_other_levels_read_all_of_it_at_once():
    assert not open_link("space", f"{TEXT}&level=intermediate").expander
