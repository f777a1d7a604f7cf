"""Heads that do one thing are called by its name, and orders of heads are what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import head_statistics
from analysis.head_patterns import order, patterns
from models import Attention, Token, load

N = 12


def tokens(count: int = N, special: tuple[int, ...] = ()) -> list[Token]:
    return [Token(i, str(i), i, i + 1, special=i in special) for i in range(count)]


def looking_at(target) -> np.ndarray:
    """A head in which each query looks at target(query), kept inside the text."""
    return np.eye(N)[[min(N - 1, max(0, target(query))) for query in range(N)]]


PURE = {
    "previous": looking_at(lambda q: q - 1),
    "current": looking_at(lambda q: q),
    "next": looking_at(lambda q: q + 1),
    "first": looking_at(lambda q: 0),
    "special": looking_at(lambda q: 5),
    "broad": np.full((N, N), 1 / N),
}


def attention_of(maps: list[np.ndarray], heads: int = 1, special: tuple[int, ...] = ()) -> Attention:
    weights = np.stack(maps).reshape(-1, heads, N, N)
    return Attention.from_arrays(weights, tokens(special=special), tokens(special=special))


def test_a_head_that_does_one_thing_is_called_by_it():
    table = patterns(attention_of(list(PURE.values()), special=(0, 5)))
    assert list(table["pattern"]) == list(PURE)
    assert [table.loc[i, name] for i, name in enumerate(PURE) if name != "broad"] == pytest.approx([1] * 5)
    assert table.loc[3, "special"] == 1, "the first token is special here, and its share is told"


def test_the_numbers_are_the_known_ones():
    table = patterns(attention_of([PURE["previous"], PURE["current"], PURE["broad"]]))
    assert table["distance"][:2].tolist() == [1, 0]
    rows = np.arange(1, N)
    assert table["distance"][2] == pytest.approx(np.mean([np.abs(q - np.arange(N)).mean() for q in rows]))
    assert table["entropy"].tolist() == pytest.approx([0, 0, np.log(N)], abs=1e-6)


def test_the_first_query_has_no_choice_and_does_not_count():
    """Three tokens and a start, and a head that shares evenly between the start and the token before: it is not called "current"
    for the start that sees nothing but itself."""
    text_tokens = tokens(4)
    even = np.zeros((4, 4))
    even[0, 0] = 1
    for query in range(1, 4):
        for key, share in ((0, 0.1), (query - 1, 0.4), (query, 0.3), (query // 2, 0.2)):
            even[query, key] += share
    row_of_head = patterns(Attention.from_arrays(even[None, None], text_tokens, text_tokens)).iloc[0]
    rows = even[1:]
    assert (
        row_of_head["current"] == pytest.approx(np.mean([even[query, query] for query in range(1, 4)]))
        and row_of_head["current"] < 0.4
    )
    assert row_of_head["entropy"] == pytest.approx(np.mean([-(row[row > 0] * np.log(row[row > 0])).sum() for row in rows]))
    table = head_statistics(Attention.from_arrays(even[None, None], text_tokens, text_tokens)).iloc[0]
    for here, there in (("entropy", "entropy"), ("current", "itself"), ("previous", "previous"), ("first", "first")):
        assert row_of_head[here] == pytest.approx(table[there]), f"{here} is the same number on page Attention and on page Layers"


def test_half_and_half_is_mixed():
    far = 0.3 * PURE["first"] + 0.3 * PURE["previous"] + 0.4 * looking_at(lambda q: 7)
    assert patterns(attention_of([far, PURE["broad"]], heads=2))["pattern"].tolist() == ["mixed", "broad"]


def test_repeats_are_found_in_a_text_that_repeats():
    ids = [0, 1, 2, 3, 1, 2, 3]
    text_tokens = [Token(id, str(id), i, i + 1) for i, id in enumerate(ids)]
    induction = np.zeros((7, 7))
    induction[:4, 0] = 1
    induction[[4, 5, 6], [2, 3, 4]] = 1
    table = patterns(Attention.from_arrays(induction[None, None], text_tokens, text_tokens))
    assert table["induction"][0] == 1 and table["pattern"][0] == "induction"


def test_cross_attention_has_no_token_before():
    attention = Attention.from_arrays(np.full((1, 2, 3, 5), 0.2), tokens(3), tokens(5, special=(4,)))
    table = patterns(attention)
    assert table[["previous", "current", "next", "first", "distance"]].isna().all(axis=None)
    assert table["special"].tolist() == pytest.approx([0.2, 0.2]) and table["pattern"].tolist() == ["broad"] * 2


def test_one_token_looks_at_itself():
    table = patterns(Attention.from_arrays(np.ones((2, 2, 1, 1)), tokens(1), tokens(1)))
    assert table["pattern"].tolist() == ["current"] * 4 and (table["entropy"] == 0).all()


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 3), st.integers(1, 4), st.sampled_from(["layer", "similarity", "pattern", "entropy", "previous"]), st.data()
)
def test_every_order_has_every_head_once(layers, heads, by, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    weights = rng.dirichlet(np.ones(N), (layers, heads, N))
    places = order(Attention.from_arrays(weights, tokens(), tokens()), by)
    assert sorted(places.tolist()) == list(range(layers * heads))


def test_numbers_rise_and_shares_fall():
    writer = load("writer").trace("The old gardener opened the gate, and the dog ran past him.").attention["self"]
    table = patterns(writer)
    for by, sign in (("entropy", 1), ("distance", 1), ("previous", -1), ("special", -1)):
        assert (np.diff(sign * table[by].to_numpy()[order(writer, by)]) >= 0).all()
    assert order(writer).tolist() == list(range(writer.layers * writer.heads))


def test_heads_that_look_alike_stand_side_by_side():
    rng = np.random.default_rng(0)
    kinds = rng.permutation([0, 1, 2] * 4)
    pure = [PURE["previous"], PURE["first"], PURE["broad"]]
    maps = [0.9 * pure[kind] + 0.1 * rng.dirichlet(np.ones(N), N) for kind in kinds]
    sorted_kinds = kinds[order(attention_of(maps, heads=4), "similarity")]
    assert (np.diff(sorted_kinds) != 0).sum() == 2, "three kinds, so two borders"


def test_an_order_that_nobody_knows_is_refused():
    with pytest.raises(ValueError, match=r"colour.*similarity.*\.$"):
        order(attention_of([PURE["first"]]), "colour")
