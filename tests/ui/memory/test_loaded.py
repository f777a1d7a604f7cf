"""A server reads no more of a text than it has memory for."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from ui.memory.loaded import BYTES, READ_AT_MOST, read_at_most


@given(st.integers(1, 10**6), st.integers(1, 64), st.integers(1, 200), st.integers(1, 300_000), st.booleans())
def test_a_text_fits_into_the_memory_it_may_take(bytes, heads, layers, vocabulary, queries):
    info = SimpleNamespace(heads=heads, decoder_heads=0, layers=layers, vocabulary=vocabulary, queries=queries)
    most = read_at_most(info, SimpleNamespace(bytes=3 * bytes, tokens=[1, 2, 3], target=[]))
    planes = 3 if queries else 3 + layers
    taken = most * (bytes + 4 * vocabulary) + 4 * planes * heads * most**2
    assert READ_AT_MOST[0] <= most <= READ_AT_MOST[1]
    assert taken <= BYTES or most == READ_AT_MOST[0]
