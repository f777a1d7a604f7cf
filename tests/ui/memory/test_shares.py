"""What leaves where a server is full, for any numbers of anybody's things."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ui.memory.shares import Bound, Crowded, Share, choose_leaving, is_over

OF_NETWORK, OF_SERVER = Bound(6, 60), Bound(9, 90)
THINGS = st.tuples(st.sampled_from("abcd"), st.integers(0, 25), st.sampled_from([0, 1, None]))


def come(held: list[Share], new: Share) -> list[Share]:
    """What is held once something new has come. Errors: Crowded."""
    names = choose_leaving(held, new, OF_NETWORK, OF_SERVER)
    return [*(share for share in held if share.name not in names), new]


@given(st.lists(THINGS, max_size=40))
def test_the_bounds_hold_whatever_comes_and_nothing_leaves_for_nothing(things):
    held: list[Share] = []
    for number, (network, size, leaves) in enumerate(things):
        new = Share(str(number), network, size, leaves)
        near = [share for share in held if share.network == network]
        crowded = is_over(OF_NETWORK, near, new) or is_over(OF_SERVER, held, new)
        try:
            now = come(held, new)
        except Crowded as error:
            assert crowded
            if error.near:
                assert is_over(OF_NETWORK, [share for share in near if share.leaves is None], new)
            continue
        assert crowded == (len(now) <= len(held))
        held = now
        assert len(held) <= OF_SERVER.count and max(Counter(share.network for share in held).values()) <= OF_NETWORK.count
        assert sum(share.bytes for share in held) <= OF_SERVER.bytes


def test_what_nobody_waits_for_leaves_first_and_of_that_what_the_largest_holder_has():
    held = [Share("a", "one", 1, 1), Share("b", "two", 1, 0), Share("c", "two", 1, 0), Share("d", "one", 1, 0)]
    held += [Share(f"e{number}", f"other {number}", 1, None) for number in range(5)]
    assert choose_leaving(held, Share("new", "late", 1), OF_NETWORK, OF_SERVER) == ["b"]
    assert choose_leaving(held, Share("new", "late", 89), OF_NETWORK, Bound(20, 95)) == ["b", "c", "d"]
    assert choose_leaving([held[0], *held[4:]], Share("new", "late", 1), OF_NETWORK, Bound(6, 90)) == ["a"]


def test_whoever_holds_most_gives_way_to_a_newcomer_even_where_all_of_it_is_waited_for():
    held = [Share(f"a{number}", "large", 1, None) for number in range(6)] + [
        Share(f"b{number}", "b", 1, None) for number in range(3)
    ]
    assert choose_leaving(held, Share("new", "late", 1, None), OF_NETWORK, OF_SERVER) == ["a5"], "its newest"
    for network, near in (("large", True), ("x", False)):
        even = held if near else [Share(f"{number}", f"{number}", 1, None) for number in range(9)]
        try:
            choose_leaving(even, Share("new", network, 1, None), OF_NETWORK, OF_SERVER)
        except Crowded as error:
            assert error.near == near
        else:
            raise AssertionError("it is crowded")
