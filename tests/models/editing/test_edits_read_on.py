"""A text that grows with edits: reading on from keys and values is reading all again, whatever is edited."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from models import edits as E
from models.generation.strategy import Strategy
from tests.grids import grid
from tests.models.edited import TEXT, model, target

NAMES = (
    "writer",
    "translator",
    "GPT-2",
    "Llama, grouped-query",
    "Mistral, sliding window",
    "Gemma 2, soft-capped",
    "GPT-OSS, sinks",
    "Mixtral",
    "GPT-NeoX",
    "BLOOM",
    "Falcon",
    "T5",
    "BART",
)
TAPPED = ("BLOOM", "Falcon")


def steps(name: str, edits, cache: bool, **choices) -> list:
    subject = model(name)
    subject.forget()
    strategy = choices.pop("strategy", Strategy())
    return list(islice(subject.generate(TEXT, strategy, 8, target(name), cache=cache, edits=edits, **choices), 8))


def kinds(name: str) -> tuple[str, ...]:
    return ("encoder", "decoder", "cross") if target(name) else ("self",)


def each_kind(name: str) -> dict[str, list]:
    """One edit of each kind, and all together; of positions that are read first, of later ones, and of all."""
    subject = model(name)
    ones = np.linspace(-1, 1, subject.info.d_model)
    stack = "decoder" if target(name) else "self"
    count = len(subject.trace(TEXT, target(name)).read)
    edits_by_kind = {
        "head": [E.Head(1, 2, kind=kind) for kind in kinds(name)],
        "temperature": [E.Temperature(1, 1, 0.3, kind=kind) for kind in kinds(name)],
        "cut": [E.Cut(None, 0, layer=1, kind=kinds(name)[-1]), E.Cut(count + 2, 1, kind=stack), E.Cut(0, 0, layer=0, kind=stack)],
        "skip": [E.Skip(1, kind=stack)],
        "part of a block": [E.Skip(0, "feedforward", kind=stack), E.Skip(1, "attention", kind=stack)],
        "stream": [E.Stream(1, None, add=ones, kind=stack), E.Stream(1, 0, value=ones, kind=stack)],
        "stream of a later one": [E.Stream(2, count + 1, add=ones, kind=stack)],
        "part": [E.Part(1, -1, ones, kind=stack), E.Part(1, count + 3, ones, "feedforward", kind=stack)],
    }
    if target(name):
        edits_by_kind["stream of the encoder"] = [E.Stream(1, -1, add=ones, kind="encoder"), E.Skip(1, kind="encoder")]
    if name not in TAPPED:
        size = subject.trace(TEXT, target(name)).attention[kinds(name)[-1]].out(1).shape[-1]
        edits_by_kind["mean"] = [E.Head(1, 0, mean=np.ones(size), kind=kinds(name)[-1])]
    return edits_by_kind | {"all": [edit for edits in edits_by_kind.values() for edit in edits]}


@pytest.mark.parametrize("name", grid(NAMES, ["GPT-2", "T5"]))
def test_with_keys_and_values_kept_is_without(name):
    ids = [step.token.id for step in steps(name, [], False)]
    for what, edits in each_kind(name).items():
        cached, again = (steps(name, edits, cache, forced=ids) for cache in (True, False))
        assert cached[3].read.tokens == 1 and again[3].read.tokens > 4, f"{what}: read on"
        for cached_step, plain_step in zip(cached, again, strict=True):
            np.testing.assert_allclose(
                cached_step.logits, plain_step.logits, atol=1e-5 * max(1, np.abs(plain_step.logits).max()), err_msg=what
            )
            assert cached_step.attention.keys() == plain_step.attention.keys()
            for kind in cached_step.attention:
                np.testing.assert_allclose(
                    cached_step.attention[kind], plain_step.attention[kind], atol=1e-5, err_msg=f"{what}, {kind}"
                )
        plain = steps(name, [], True, forced=ids)
        assert any(
            np.abs(cached_step.logits - plain_step.logits).max() > 1e-4
            for cached_step, plain_step in zip(cached, plain, strict=True)
        ), what


@pytest.mark.parametrize("name", grid(["writer", "translator", "GPT-2", "T5"], ["GPT-2", "T5"]))
def test_a_beam_search_with_edits_is_the_same_too(name):
    stack = "decoder" if target(name) else "self"
    edits = [E.Head(1, 2, kind=stack), E.Stream(1, None, add=np.linspace(-1, 1, model(name).info.d_model), kind=stack)]
    cached, again = (steps(name, edits, cache, strategy=Strategy("beam", beams=3)) for cache in (True, False))
    assert [step.continuation for step in cached] == [step.continuation for step in again] and cached[-1].text == again[-1].text
    assert cached[2].read.tokens < again[2].read.tokens


def test_what_names_a_row_of_all_queries_is_read_again_each_time():
    row = np.array([0.5, 0.5])
    for edits in ([E.Row(1, 2, 9, row)], [E.Row(1, 2, 1, row)]):
        all_steps = steps("writer", edits, True)
        assert all(step.read.tokens == len(step.tokens) for step in all_steps)


def test_the_steps_of_a_generation_are_the_last_rows_of_a_trace_with_the_same_edits():
    edits = [E.Head(2, 3), E.Cut(None, 1, layer=4), E.Skip(3, "feedforward")]
    last = steps("writer", edits, True)[-1]
    trace = model("writer").trace([token.id for token in last.tokens], edits=edits)
    np.testing.assert_allclose(last.logits, trace.logits[-1], atol=1e-4)
    np.testing.assert_allclose(last.attention["self"], [trace.attention["self"][layer][:, -1] for layer in range(6)], atol=1e-5)
