"""The cost of a transformer: the formulas agree with a network that is built and run."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cost import FURTHEST, Cost, cache_bytes, costs, crossing, measure
from models.scratch.config import FEEDFORWARDS, KINDS, NORMS, PATTERNS, PLACES, POSITIONS, SCORES, TransformerConfig
from models.scratch.masks import mask

SMALL = {"vocabulary": 50, "context": 24, "d_model": 16, "layers": 2, "heads": 4, "d_ff": 20, "features": 6, "window": 4}


@st.composite
def configs(draw) -> TransformerConfig:
    kind = draw(st.sampled_from(KINDS))
    ways = ["exact", "performer", "linformer"] if kind == "encoder" else ["exact", "performer"]
    computed = draw(st.sampled_from(ways))
    exact = computed == "exact"
    return TransformerConfig(
        **SMALL,
        kind=kind,
        computed=computed,
        kv_heads=draw(st.sampled_from([0, 1, 2])),
        positions=draw(st.sampled_from(POSITIONS if exact else ("none", "sinusoidal", "learned", "rotary"))),
        norm=draw(st.sampled_from(NORMS)),
        norm_place=draw(st.sampled_from(PLACES)),
        feedforward=draw(st.sampled_from(FEEDFORWARDS)),
        experts=draw(st.sampled_from([1, 3])),
        score=draw(st.sampled_from(SCORES)) if exact else "dot",
        qk_norm=draw(st.booleans()),
        bias=draw(st.booleans()),
        tied=draw(st.booleans()),
        embedding_norm=draw(st.booleans()),
        head_transform=draw(st.booleans()),
    )


def by_part(all_costs: list[Cost], quantity: str) -> dict:
    return {(cost.part, cost.stack): getattr(cost, quantity).value for cost in all_costs if getattr(cost, quantity).value}


@settings(max_examples=60, deadline=None)
@given(configs(), st.integers(2, 20), st.integers(2, 20))
def test_the_formulas_are_what_is_measured(config, length, target):
    all_costs, measured = costs(config, length, target), measure(config, length, target)
    for quantity in ("parameters", "flops", "activations"):
        by_formula = by_part(all_costs, quantity)
        assert by_formula == {key: value for key, value in getattr(measured, quantity).items() if value}, quantity
    lengths = (target, length) if config.kind == "encoder-decoder" else (length, 0)
    assert measured.cache == (0 if config.kind == "encoder" else cache_bytes(config, *lengths))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(KINDS), st.sampled_from(PATTERNS[1:]), st.sampled_from(SCORES), st.integers(2, 24), st.integers(2, 24))
def test_a_pattern_costs_the_pairs_that_it_lets_meet(kind, pattern, score, length, target):
    full = TransformerConfig(**SMALL, kind=kind, score=score)
    config = replace(full, pattern=pattern)
    for cost, full_cost in zip(costs(config, length, target), costs(full, length, target), strict=True):
        fewer = 0
        if cost.part == "self-attention: scores":
            n = target if cost.stack == "decoder" else length
            pairs = mask(config, n, n, future=kind == "encoder" or cost.stack == "encoder").sum().item()
            fewer = 4 * config.layers * config.d_model * (n * n - pairs)
        assert cost.flops.value == full_cost.flops.value - fewer, cost
        assert cost.parameters == full_cost.parameters and cost.activations == full_cost.activations


def test_a_window_grows_with_the_text_and_not_with_its_square():
    config = TransformerConfig(**SMALL | {"context": 4096}, pattern="window")
    at = {n: next(cost for cost in costs(config, n) if cost.part == "self-attention: scores").flops.value for n in (1000, 2000)}
    assert at[2000] / at[1000] == pytest.approx(2, rel=0.01)


@settings(max_examples=40, deadline=None)
@given(configs(), st.sampled_from(PATTERNS), st.sampled_from(["", "feed-forward"]))
def test_where_the_scores_overtake(config, pattern, over):
    """One token less, and they do not yet; all parts are counted, both stacks."""
    if config.computed == "exact":
        config = replace(config, pattern=pattern)
    at = crossing(config, over)

    def more(length: int) -> bool:
        all_costs = [(cost.part == "self-attention: scores", cost) for cost in costs(config, length)]
        scores = sum(cost.flops.value for is_score, cost in all_costs if is_score)
        other_flops = sum(cost.flops.value for is_score, cost in all_costs if not is_score and over in ("", cost.part))
        return scores > other_flops

    if at == math.inf:
        assert not any(more(length) for length in (1, 10, 1000, FURTHEST))
    else:
        assert more(at) and more(at + 7) and (at == 1 or not more(at - 1))


def test_all_else_is_more_than_the_feed_forward():
    """4 d n² a layer against 4 (d² + d g e) + 6 d f of the block and 2 V d of the unembedding: the default transformer."""
    config = TransformerConfig()
    assert crossing(config, "feed-forward") == 1.5 * config.d_ff + 1  # at 1.5 d_ff they are equal
    d, key_width = config.d_model, config.key_heads * config.d_head
    others = 4 * (d * d + d * key_width) + 6 * d * config.d_ff + 2 * config.vocabulary * d / config.layers
    assert crossing(config) == math.floor(others / (4 * d)) + 1 == 2251
