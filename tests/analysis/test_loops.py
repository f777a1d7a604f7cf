"""Ways out of a loop, compared with transformers' own processors and with the probabilities themselves."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.loops import GRID, escape, penalty_for, temperature_for, way_out
from models.generation.strategy import Strategy, distribution
from models.reading.repeats import loop, repeated
from tests.models.generation.test_generate import TEXT, hub, ours


@given(st.lists(st.integers(0, 2), max_size=20), st.integers(1, 6), st.integers(2, 10))
def test_a_loop_is_found_as_a_plain_search_finds_it(ids, longest, least):
    ending = loop(ids, longest, least)

    def rounds(period: int) -> int:
        start = len(ids) - period
        while start > 0 and ids[start - 1] == ids[start - 1 + period]:
            start -= 1
        return start

    periods = [size for size in range(1, min(longest, len(ids) // 2) + 1) if len(ids) - rounds(size) >= max(2 * size, least)]
    if not periods:
        assert ending is None
        return
    start = rounds(periods[0])
    assert (ending.start, ending.ids) == (start, tuple(ids[start : start + periods[0]]))
    assert ending.rounds == (len(ids) - start) / periods[0] >= 2
    assert all(ids[at] == ending.ids[(at - start) % periods[0]] for at in range(start, len(ids)))


@given(st.lists(st.integers(0, 2), max_size=15), st.integers(1, 4))
def test_repeated_runs_are_those_that_stand_there_twice(ids, length):
    runs = repeated(ids, length)
    for start in range(len(ids) - length + 1):
        run = tuple(ids[start : start + length])
        starts = [at for at in range(len(ids) - length + 1) if tuple(ids[at : at + length]) == run]
        assert runs.get(run) == (starts if len(starts) > 1 else None)


@cache
def looping(name: str):
    model = ours("decoder", context=256) if name == "ours" else hub(name)
    steps = list(model.generate(TEXT, Strategy(), 120))
    assert escape(steps) is not None, "a random network that is greedy loops"
    return steps


@pytest.mark.parametrize("name", ["ours", "Llama, grouped-query", "Falcon"])
def test_the_penalty_is_the_smallest_that_changes_a_token(name):
    steps = looping(name)
    result = escape(steps)
    for step in steps:
        penalty, id = penalty_for(step)
        if penalty == np.inf:
            assert step.chosen_by(Strategy(repetition_penalty=1e6))[0] == step.token.id
            continue
        assert step.chosen_by(Strategy(repetition_penalty=penalty * (1 + 1e-4)))[0] == id != step.token.id
        assert penalty == 1 or step.chosen_by(Strategy(repetition_penalty=penalty * (1 - 1e-4)))[0] == step.token.id
    assert result.penalty == min(penalty_for(step)[0] for step in steps), "the first round counts too"
    if result.penalty < np.inf:
        assert penalty_for(steps[result.step]) == (result.penalty, result.id)


def ids_of(model, penalty: float, count: int) -> list[int]:
    return [step.token.id for step in model.generate(TEXT, Strategy(repetition_penalty=penalty), count)]


def test_the_way_out_is_the_smallest_penalty_with_which_a_text_ends_in_no_loop():
    model, steps = ours("decoder", context=256), looping("ours")
    result = way_out(model, TEXT, steps, tries=60)
    assert 1 < result.penalty < np.inf, "this network has a way out"
    new_ids, old_ids = ids_of(model, result.penalty, len(steps)), [step.token.id for step in steps]
    assert loop(new_ids) is None and loop(ids_of(model, result.penalty - GRID, len(steps))) is not None
    assert new_ids[: result.at] == old_ids[: result.at]
    assert model.token_text(new_ids[result.at]) == result.other and model.token_text(old_ids[result.at]) == result.original


def test_a_way_out_is_sought_no_further_than_so_many_texts():
    result = way_out(ours("decoder", context=256), TEXT, looping("ours"), tries=0)
    assert (result.penalty, result.tried, result.every) == (np.inf, 0, False)


def test_a_text_that_somebody_chose_is_no_loop_of_the_likeliest_tokens():
    """Each token was given, so what greedy decoding says instead is generated first."""
    model = hub("GPT-2")
    ids = [model.tokenize(TEXT)[-1].id] * 30
    steps = list(model.generate(TEXT, Strategy(), 30, forced=ids))
    assert escape(steps) is not None
    likeliest = [step.token.id for step in model.generate(TEXT, Strategy(), 30)]
    result = way_out(model, TEXT, steps, tries=3)
    assert (result.penalty == 1.0) == (loop(likeliest) is None)
    assert result.tried >= 1


@pytest.mark.parametrize("name", ["ours", "Falcon"])
def test_at_its_temperature_a_round_comes_again_every_second_time(name):
    steps = looping(name)
    result, last = escape(steps), steps[-len(escape(steps).loop.ids) :]

    def chance(temperature: float) -> float:
        strategy = Strategy(method="sampling", temperature=temperature)
        return float(np.prod([replace(step, strategy=strategy).probability for step in last]))

    assert result.chance == pytest.approx(chance(1.0), rel=1e-4)
    assert chance(result.temperature) == pytest.approx(0.5, rel=1e-3)
    assert chance(result.temperature * 1.1) < 0.5 < chance(result.temperature / 1.1)


def test_what_is_no_loop_has_no_escape():
    steps = looping("ours")
    assert escape(steps[:3]) is None and escape([]) is None
    logits = np.array([0.0, 1.0, 2.0])
    assert temperature_for([(logits, 0)]) == 0.0, "the coldest draw takes another"
    assert temperature_for([(logits, 2)], 0.01) == np.inf, "a third of all draws at any temperature"
    half = Strategy(method="sampling", temperature=temperature_for([(logits, 2)]))
    assert distribution(logits, (), half).after[2] == pytest.approx(0.5, abs=1e-6)
