"""Attention masks: every pattern against a loop over its definition, and padding that no token sees."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.attention.recorder import recording
from models.scratch.config import KINDS, PATTERNS, TransformerConfig
from models.scratch.masks import draw_keys, mask, pairs, pattern
from tests.models.ours import SMALL, answer, small, texts

N, WINDOW, GLOBAL = 20, 4, 2
DEFINED = {
    "full": lambda q, k: True,
    "window": lambda q, k: abs(q - k) < WINDOW,
    "strided": lambda q, k: abs(q - k) < WINDOW or (q - k) % WINDOW == 0,
    "global": lambda q, k: q == k or q < GLOBAL or k < GLOBAL,
    "random": lambda q, k: q == k or k in draw_keys(q, 3) or q in draw_keys(k, 3),
}
DEFINED["longformer"] = lambda q, k: DEFINED["window"](q, k) or DEFINED["global"](q, k)
DEFINED["bigbird"] = lambda q, k: DEFINED["longformer"](q, k) or DEFINED["random"](q, k)


def config(name: str) -> TransformerConfig:
    return TransformerConfig(**SMALL, pattern=name, global_tokens=GLOBAL)


@pytest.mark.parametrize("future", [True, False])
@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_is_as_defined(name, future):
    allowed = mask(config(name), N, N, future)
    allowed = torch.ones(N, N, dtype=torch.bool) if allowed is None else allowed
    for query in range(N):
        for key in range(N):
            assert allowed[query, key] == (DEFINED[name](query, key) and (future or key <= query)), (query, key)


@given(st.sampled_from(PATTERNS), st.integers(1, 24), st.integers(1, 24))
@settings(max_examples=60, deadline=None)
def test_the_last_queries_see_what_they_would_in_the_whole(name, keys, queries):
    queries = min(queries, keys)
    whole, last = mask(config(name), keys, keys), mask(config(name), queries, keys)
    torch.testing.assert_close(last, whole[keys - queries :])
    longer = mask(config(name), keys + 3, keys + 3)
    torch.testing.assert_close(whole, longer[:keys, :keys], msg="what comes later changes nothing")


@given(st.sampled_from(PATTERNS), st.integers(1, 40), st.booleans(), st.integers(1, 6), st.integers(1, 4), st.integers(1, 5))
@settings(max_examples=80, deadline=None)
def test_pairs_are_counted_as_the_mask_has_them(name, length, future, reach, first, count):
    settings_of_mask = replace(config(name), window=reach, global_tokens=first, random_keys=count)
    allowed = mask(settings_of_mask, length, length, future)
    assert pairs(settings_of_mask, length, future) == (length**2 if allowed is None else int(allowed.sum()))


@pytest.mark.parametrize("name", PATTERNS)
def test_every_query_sees_itself(name):
    for future in (True, False):
        allowed = mask(config(name), N, N, future, torch.tensor([N, 3]))
        assert allowed.diagonal(dim1=-2, dim2=-1).all()


def test_random_keys_are_as_many_as_asked_for_and_differ_between_queries():
    assert all(len(set(draw_keys(query, 3))) == min(3, query + 1) and max(draw_keys(query, 3)) <= query for query in range(60))
    assert len({draw_keys(query, 3) for query in range(30, 60)}) > 20
    later = torch.tensor([draw_keys(999, 3) for _ in range(5)])
    assert (later == later[0]).all(), "the same at every reading"


def test_full_without_anything_to_hide_is_no_mask():
    assert mask(config("full"), N, N, future=True) is None and pattern(config("full"), N, N) is None


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
@pytest.mark.parametrize(
    "choices",
    [
        *({"pattern": name} for name in PATTERNS),
        *({"score": score} for score in ("additive", "multiplicative")),
        {"computed": "performer"},
        {"computed": "linformer"},
        {"positions": "alibi"},
        {"experts": 3},
    ],
    ids=str,
)
def test_padding_changes_nothing(kind, choices):
    """A text is read the same in a batch with longer ones as by itself."""
    if choices.get("computed") == "linformer" and kind != "encoder":
        pytest.skip("a linformer sees the future")
    network, ids = small(kind=kind, **choices), texts(3, 12)
    together = network(ids, lengths=torch.tensor([12, 7, 1]))
    for row, length in enumerate((12, 7, 1)):
        torch.testing.assert_close(together[row, :length], network(ids[row : row + 1, :length])[0], atol=1e-5, rtol=1e-4)
    assert together.isfinite().all()


@pytest.mark.parametrize("choices", [{}, {"positions": "relative"}, {"score": "additive"}, {"computed": "performer"}], ids=str)
def test_padding_of_the_source_changes_nothing(choices):
    network, source, target = small(kind="encoder-decoder", **choices), texts(2, 12), texts(2, 6, seed=3)
    together = network(source, target, torch.tensor([12, 5]))
    torch.testing.assert_close(together[1], network(source[1:, :5], target[1:])[0], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_pattern_hides_is_not_read(kind):
    """Two layers with a window of 4 see 6 positions away, and no further."""
    network, ids = small(kind=kind, pattern="window"), texts(1, 20)
    changed = ids.clone()
    changed[0, 0] += 1
    if kind == "encoder-decoder":
        before, after = network.encode(ids), network.encode(changed)
    else:
        before, after = answer(network, ids), answer(network, changed)
    differs = (before - after).abs().amax((0, 2)) > 1e-6
    assert differs[:7].all() and not differs[7:].any()


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
@pytest.mark.parametrize("name", PATTERNS)
def test_recorded_weights_are_zero_exactly_where_a_pattern_hides(name, kind):
    network = small(kind=kind, pattern=name, global_tokens=GLOBAL)
    seen = [[DEFINED[name](query, key) and (kind == "encoder" or key <= query) for key in range(N)] for query in range(N)]
    with torch.inference_mode(), recording() as record:
        network(texts(1, N))
    assert len(record.calls) == network.config.layers
    for call in record.calls:
        assert torch.equal(call.weights() > 0, torch.tensor(seen).expand(*call.shape))
