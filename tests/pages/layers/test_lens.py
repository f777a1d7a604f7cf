"""What page "Layers" says of a lens to beginners."""

from pages.layers.recipes import TOP, rank_in_words


def test_a_rank_is_said_in_words():
    assert (
        rank_in_words(1) == "first choice" and rank_in_words(TOP) == "among the first 5" and rank_in_words(8191) == "far behind"
    )
