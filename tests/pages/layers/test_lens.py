"""What page "Layers" says of a lens to beginners."""

from pages.layers.lens import TOP, _place


def test_a_rank_is_said_in_words():
    assert _place(1) == "first choice" and _place(TOP) == "among the first 5" and _place(8191) == "far behind"
