"""Networks take turns, and none has all of them."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ui.memory.fair import Fair


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=40), st.integers(1, 4), st.integers(0, 2))
def test_all_have_their_turn_and_no_network_more_than_its_part_at_a_time(asked, of_network, more):
    """Workers that take while they may, and end the oldest when they may not."""
    fair: Fair[int] = Fair(of_network + more, of_network)
    for number, (network, who) in enumerate(asked):
        fair.add(number, network, who)
    running, done = [], []
    while len(done) < len(asked):
        while (number := fair.take()) is not None:
            running.append(number)
            assert len(running) <= of_network + more
            assert max(Counter(asked[number][0] for number in running).values()) <= of_network
        done.append(running.pop(0))
        fair.end(done[-1])
    assert sorted(done) == list(range(len(asked))) and fair.count("a") == (0, 0)


def test_whoever_comes_last_is_next_where_a_single_network_has_asked_a_thousand_times():
    fair: Fair[str] = Fair(3, 2)
    for number in range(1000):
        fair.add(f"flood {number}", "attacker", f"cookie {number}")
    assert [fair.take(), fair.take(), fair.take()] == ["flood 0", "flood 1", None]
    fair.add("honest", "home", "me")
    assert fair.take() == "honest" and fair.count("attacker") == (1000, 1001)


def test_in_a_network_visitors_take_turns():
    fair: Fair[str] = Fair(1, 1)
    for what, who in (("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("b2", "b")):
        fair.add(what, "school", who)
    order = []
    while what := fair.take():
        order.append(what)
        fair.end(what)
    assert order == ["a1", "b1", "a2", "b2", "a3"]
