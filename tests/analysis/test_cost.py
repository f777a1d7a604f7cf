"""What a transformer costs: the formulas say what a network that is built and run does."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cost import Cost, cache_bytes, costs, crossing, measure
from models.scratch.config import FEEDFORWARDS, KINDS, NORMS, PLACES, POSITIONS, SCORES, TransformerConfig

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


def by_part(found: list[Cost], what: str) -> dict:
    return {(one.part, one.stack): getattr(one, what).value for one in found if getattr(one, what).value}


@settings(max_examples=60, deadline=None)
@given(configs(), st.integers(2, 20), st.integers(2, 20))
def test_the_formulas_are_what_is_measured(config, length, target):
    found, measured = costs(config, length, target), measure(config, length, target)
    for what in ("parameters", "flops", "activations"):
        said = by_part(found, what)
        assert said == {key: one for key, one in getattr(measured, what).items() if one}, what
    kept = target if config.kind == "encoder-decoder" else length
    assert measured.cache == (0 if config.kind == "encoder" else cache_bytes(config, kept))


@pytest.mark.parametrize("feedforward", FEEDFORWARDS)
def test_where_the_scores_overtake_the_feed_forward(feedforward):
    config = TransformerConfig(**SMALL | {"context": 100}, feedforward=feedforward)
    at = crossing(config)
    for length in (math.floor(at) - 1, math.ceil(at) + 1):
        flops = {one.part: one.flops.value for one in costs(config, length)}
        assert (flops["self-attention: scores"] > flops["feed-forward"]) == (length > at)
