"""The sentences that the parts of page "Layers" begin with, against the arrays that they report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import models
from analysis import head_statistics, logit_lens, maps
from analysis.lens import lens
from pages.layers.boards.lens import KEY, has_changed
from pages.layers.live import compose_lens
from pages.layers.settings import Settings
from tests.pages.levels import flat, read
from tests.pages.opening import open_link
from ui.look import Look
from viz import percent

TEXT = "Tom had a ball, and his dog ran after the"
LINK = f"text={TEXT.replace(' ', '+')}"


@pytest.fixture(scope="module")
def trace():
    return models.load("writer").trace(TEXT)


def test_evolution_begins_with_where_the_token_looks_in_the_first_and_last_layer(trace):
    row = maps(trace.attention["self"])[:, -1]
    names = [f"“{token.text.strip()}”" for token in trace.tokens]
    names[-1] = "itself"
    first, last = row[0].argmax(), row[-1].argmax()
    words = read(open_link("layers", f"level=intermediate&{LINK}"))
    assert flat(f"“the” looks most at {names[first]} in L0 ({percent(row[0].max())})") in words
    assert flat(f"and at {names[last]} in L5 ({percent(row[-1].max())}).") in words
    after = row[:, -2]
    most, least = (f"L{layer}** ({percent(after[layer])})" for layer in (after.argmax(), after.argmin()))
    assert flat(f"At **“after”** it looks most in **{most}") in words and flat(f"least in {least.replace('**', '')}") in words
    assert flat(f"an even share of 12 tokens would be {percent(1 / 12)}") in words


def test_statistics_begin_with_the_extreme_heads_beside_an_even_look(trace):
    table = head_statistics(trace.attention["self"])
    even = percent(np.mean([1 / (query + 1) for query in range(1, len(trace.tokens))]))
    name = {row: f"L{layer} H{head}" for row, layer, head in zip(table.index, table["layer"], table["head"], strict=True)}
    words = read(open_link("layers", f"level=intermediate&part=Statistics&{LINK}"))
    assert flat(f"**{name[table['evenness'].idxmin()]}** looks most narrowly") in words
    assert flat(f"**{name[table['evenness'].idxmax()]}** looks most widely ({percent(table['evenness'].max())})") in words
    assert flat(f"({percent(table['first'].max())}; an even look would give {even})") in words
    words = read(open_link("layers", f"part=Statistics&{LINK}"))
    most = percent(table["previous"].max())
    assert (
        flat(f"**In your text, {name[table['previous'].idxmax()]} looks just one token back more than any other head**: {most}")
        in words
    )


def test_the_lens_says_what_the_layer_before_would_say_and_why(trace):
    guesses = logit_lens(models.load("writer"), trace, top=1)
    before = guesses[(guesses["layer"] == 5) & (guesses["position"] == len(trace.tokens) - 1)].iloc[0]
    words = read(open_link("layers", f"level=intermediate&part=Lens&lens=logit+lens&{LINK}"))
    says = f"after L4, it would say “{before['text'].strip()}” ({percent(before['probability'])}), because what comes after it"
    assert flat(says) in words


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_the_lens_says_how_far_the_chosen_position_is_from_the_answer_and_how_far_all_are(level, trace):
    kl = lens(trace, list(range(len(trace.tokens))), 1).kl
    words = read(open_link("layers", f"level={level}&part=Lens&lens=logit+lens&{LINK}"))
    for values in (kl[:, -1], kl.mean(1)):
        assert f"{values[0]:.3g}" in words and f"{values[-2]:.3g}" in words
    assert flat(f"the {len(trace.tokens)} {'columns' if level == 'intermediate' else 'positions'}") in words


def test_a_new_text_brings_a_beginner_back_to_the_last_token_where_a_token_was_clicked():
    writer = models.load("writer")
    old, new = writer.trace("The cat sat on the"), writer.trace("Tom had a red ball")
    pressed = Settings(lens_layer=2, lens_token=(2, old.tokens[2].id))
    looks = [Look(writer, trace, "self", "beginner", chosen_token=2) for trace in (old, new)]
    assert [has_changed(look, pressed) for look in looks] == [False, True]
    assert not has_changed(replace(looks[1], chosen_token=1), pressed), "chosen elsewhere"
    for look, token in zip(looks, ("cat", "ball"), strict=True):
        values = {"layer": 2, "token": [2, old.tokens[2].id]}
        assert f"After “{token}”" in compose_lens(look, values).contents[KEY].data.decode("utf-8", "replace")
