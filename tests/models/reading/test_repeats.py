"""Repetitions in a text are the same as those from a plain loop."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from models.reading.repeats import earlier_copies, share_on, what_followed


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_copies_and_what_followed_them(ids):
    copies, followed = earlier_copies(ids), what_followed(ids)
    for query in range(len(ids)):
        earlier = [key for key in range(query) if ids[key] == ids[query]]
        assert np.nonzero(copies[query])[0].tolist() == earlier
        assert np.nonzero(followed[query])[0].tolist() == [key + 1 for key in earlier if key + 1 < query]


def test_a_doubled_letter_is_no_induction():
    assert not what_followed(list(b"aab")).any(), "the second a follows the first, and is itself"
    assert np.nonzero(what_followed(list(b"aaba"))[3])[0].tolist() == [1, 2], "all copies count, not the last alone"


@given(st.lists(st.integers(0, 2), min_size=2, max_size=9), st.integers(0, 99))
def test_a_share_is_the_mean_over_the_queries_that_have_one(ids, seed):
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(ids)), (2, 3, len(ids)))
    where = what_followed(ids)
    for layer in range(2):
        for head in range(3):
            sums = [
                sum(weights[layer, head, query, key] for key in range(len(ids)) if where[query, key])
                for query in range(len(ids))
                if where[query].any()
            ]
            wanted = sum(sums) / len(sums) if sums else np.nan
            np.testing.assert_allclose(share_on(weights, where)[layer, head], wanted, rtol=1e-12)
