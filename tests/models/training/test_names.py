"""Names in the place of others: a pair stays a pair, French elides, and nobody who was left out comes in."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.training import corpus
from models.training.names import (
    CITIES,
    FAMILIES,
    FRAMES,
    HELD_OUT_NAMES,
    PEOPLE,
    Names,
    begins_with_vowel,
    can_be_named,
    invented_name,
    is_name,
    real_names,
    replace_name,
    shared,
)

HELD_OUT = HELD_OUT_NAMES.read_text(encoding="utf-8").split()
PAIRS = [
    ("Tom's house is big.", "La maison de Tom est grande."),
    ("I think that Tom loves Mary.", "Je pense que Tom aime Mary."),
    ("Tom lives in Boston with 12 cats.", "Tom habite à Boston avec 12 chats."),
    ("Mr. Jackson comes from Tokyo.", "M. Jackson vient de Tokyo."),
    ("Is Tom, or is Tom not, Mary's brother?", "Tom est-il, ou n'est-il pas, le frère de Mary ?"),
    ("I know when Alice left.", "Je sais quand Alice est partie. Est-ce qu'Alice t'a parlé ?"),
    ("In 1945, he was 30.", "En 1945, il avait 30 ans."),
]
seeds = st.integers(0, 10_000)


@cache
def all_names() -> Names:
    """Made by the first test that asks: it takes seconds."""
    return Names(HELD_OUT)


def words(text: str) -> list[str]:
    return re.findall(r"[\w'’-]+|[^\w\s]", text)


@given(st.sampled_from(PAIRS), seeds)
def test_a_renamed_pair_says_the_same_names_and_numbers_on_both_sides_and_the_rest_as_it_was(pair, seed):
    english, french = all_names().rename(pair, np.random.default_rng(seed))
    known = [*PEOPLE, *FAMILIES, *CITIES]
    was = {
        side: re.split(r"(?:(?:Mrs?\.?|Ms|Miss|M\.|Mme|Mlle) )?\b(?:" + "|".join(known) + r"|\d+)\b", pair[side])
        for side in (0, 1)
    }
    for side, text in enumerate((english, french)):
        position = 0
        for part in was[side]:  # what was no name stands there still, in its order, but for the vowel that is elided
            part = re.sub(r"\b(d|qu)(?:e |['’])$", r"\1", part).strip()
            position = text.index(part, position) + len(part)
    word_lists = [re.findall(r"[^\W\d_]+|\d+", text) for text in (english, french)]
    named = [{word for word in text if word.isdigit() or word[0].isupper()} for text in word_lists]
    common = named[0] & named[1]
    assert len(common) >= sum(shared(pair, name) for name in [*known, "12", "1945", "30"]), (english, french)


@given(seeds, st.sampled_from(["male", "female", "family", "place"]))
def test_a_name_is_a_name_and_was_not_held_out(seed, kind):
    name = all_names().first(kind, np.random.default_rng(seed))
    assert is_name(name) and name not in HELD_OUT


@given(seeds)
def test_an_invented_name_is_one_word_with_one_capital(seed):
    name = invented_name(np.random.default_rng(seed))
    assert is_name(name) and len(name) > 2


@pytest.mark.parametrize(
    ("french", "name", "by", "right"),
    [
        ("La maison de Tom est grande.", "Tom", "Anna", "La maison d'Anna est grande."),
        ("De Tom, je sais que Tom vient.", "Tom", "Émile", "D'Émile, je sais qu'Émile vient."),
        ("Lorsque Tom vint", "Tom", "Inès", "Lorsqu'Inès vint"),
        ("Est-ce qu'Alice vient ?", "Alice", "Kevin", "Est-ce que Kevin vient ?"),
        ("Le livre d’Alice", "Alice", "Fatima", "Le livre de Fatima"),
        ("Le livre d'Alice", "Alice", "Emma", "Le livre d'Emma"),
        ("C'est Tom avec Tomas.", "Tom", "Ali", "C'est Ali avec Tomas."),
        ("presque Tom", "Tom", "Ali", "presque Ali"),
        ("le frère de Tom", "Tom", "Yves", "le frère d'Yves"),
        ("le frère de Tom", "Tom", "Yann", "le frère de Yann"),
        ("le frère de Tom", "Tom", "M. Adams", "le frère de M. Adams"),
    ],
)
def test_french_elides_before_a_vowel_and_nowhere_else(french, name, by, right):
    assert replace_name((name, french), name, (by, by)) == (by, right)


@pytest.mark.parametrize(
    ("pair", "name"),
    [
        (("A Tom is here.", "Un Tom est ici."), "Tom"),
        (("The Tom that I know.", "Le Tom que je connais."), "Tom"),
        (("Alice is one of us.", "L'Alice que je connais est des nôtres."), "Alice"),
    ],
)
def test_a_pair_in_which_more_would_have_to_change_stays_as_it_is(pair, name):
    assert replace_name(pair, name, ("Anna", "Anna")) == pair


@given(seeds)
def test_he_and_she_get_names_where_a_name_can_stand(seed):
    generator = np.random.default_rng(seed)
    english, french = all_names().put_name(("She's a doctor.", "Elle est médecin."), generator)
    assert english.endswith("'s a doctor.") and french.endswith(" est médecin.")
    assert english.removesuffix("'s a doctor.").split()[-1] == french.removesuffix(" est médecin.").split()[-1]


@pytest.mark.parametrize(
    ("english", "french", "can"),
    [
        ("He is tired.", "Il est fatigué.", True),
        ("She'll come.", "Elle viendra.", True),
        ("He has to go.", "Il lui faut partir.", False),
        ("He left an hour ago.", "Il y a une heure qu'il est parti.", False),
        ("He is here.", "C'est ici qu'il est.", False),
        ("Hello.", "Il dit bonjour.", False),
    ],
)
def test_it_is_known_where_a_name_can_stand(english, french, can):
    assert can_be_named((english, french)) == can


def test_there_are_thousands_of_real_names_of_each_kind():
    names_by_kind = real_names()
    assert all(len(names_by_kind[kind]) > 5000 for kind in ("male", "female", "family")) and len(names_by_kind["place"]) > 100
    assert all(is_name(name) for names in names_by_kind.values() for name in names)


def test_an_epoch_has_names_by_the_thousand_and_the_same_ones_each_time():
    times = [all_names().variants(PAIRS * 20, 2, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert times[0] == times[1] != times[2]
    capitals = {word for english, _ in times[0] for word in re.findall(r"\b[A-ZÀ-Þ]\w+", english)}
    assert len(capitals) > 1000 and not capitals & set(HELD_OUT)


def test_our_own_frames_are_pairs_in_which_a_name_is_shared():
    frames = corpus.pairs(FRAMES)
    assert len({english for english, _ in frames}) > 80
    assert all(
        any(shared(pair, name) for name in (*PEOPLE, *FAMILIES, *CITIES, "Jacksons")) or "Jacksons" in pair[0] for pair in frames
    )


def test_two_hundred_names_are_held_out_and_all_different():
    assert len(set(HELD_OUT)) == len(HELD_OUT) == 200 and all(is_name(name) for name in HELD_OUT)


@pytest.mark.parametrize(("name", "elided"), [("Anna", True), ("Émile", True), ("Yves", True), ("Yann", False), ("Hugo", False)])
def test_a_vowel_is_what_french_elides_before(name, elided):
    assert begins_with_vowel(name) == elided
