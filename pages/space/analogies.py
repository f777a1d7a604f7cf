"""Analogies a − b + c of part "Vocabulary": ready ones, three boxes, the answers, and how many of the ready ones succeed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import streamlit as st

from analysis.embedding import chance_of_analogy, first_answers
from pages.space import state as page_state
from pages.space.boards.vocabulary import ANALOGY
from pages.space.compose import HERE, compose
from pages.space.settings import Analogy, AnalogyByChance, Settings
from ui.escaping import plain
from ui.look import Look
from ui.memory import jobs
from ui.picture.board import Board
from ui.picture.mount import composed, mount
from ui.picture.picture import Picture
from ui.words import say

Ready = tuple[str, str, str, str]
READY: tuple[Ready, ...] = (  # a, b, c, and the expected answer; the writer answers the first and misses some of the others
    ("himself", "he", "she", "herself"),
    ("took", "take", "give", "gave"),
    ("went", "go", "run", "ran"),
    ("dogs", "dog", "cat", "cats"),
    ("men", "man", "child", "children"),
    ("better", "good", "bad", "worse"),
    ("first", "one", "two", "second"),
    ("Paris", "France", "England", "London"),
    ("kitten", "cat", "dog", "puppy"),
    ("king", "man", "woman", "queen"),
    ("prince", "man", "woman", "princess"),
    ("uncle", "man", "woman", "aunt"),
)
BOXES = dict(zip("abc", ("From", "take away", "and add"), strict=True))
MISSES = 3  # how many are named


def draw(look: Look, settings: Settings) -> Sequence[Picture]:
    st.markdown("##### Analogy")
    about = st.container()
    st.selectbox(
        "Ready analogies",
        tuple(map(name_of, READY)),
        None,
        key=page_state.ANALOGY.of("ready").name,
        placeholder="Choose one",
        on_change=take_ready,
    )
    terms = ask_terms()
    if not all(terms):
        return []
    with about:
        say(HERE, "analogy", **{key: plain(term) for key, term in zip(BOXES, terms, strict=True)})
    board, choices = composed(compose, look, settings, Analogy(terms)), (settings.centred, settings.words_only)
    mount_list(board, ANALOGY)
    if look.beginner:
        say_expected(terms, list(board.pictures[0].drawn["text"]))
        count_successes(look, choices)
        return board.pictures
    chance = jobs.result(
        ("analogy by chance", *subject(look), *choices),
        lambda report: chance_of_analogy(look.model, *choices),
        "Drawing words at random",
    )
    if chance is not None and len(chance):
        cosines = board.pictures[0].drawn["cosine"].to_numpy()
        mount_chance(look, composed(compose, look, settings, AnalogyByChance(cosines, chance)))
    count_successes(look, choices)
    return board.pictures


def say_expected(terms: list[str], answers: list[str]) -> None:
    """Say at which place of the answers the expected word of a ready analogy stands; nothing about others."""
    expected = next((ready[3] for ready in READY if list(ready[:3]) == terms), "")
    if not expected:
        return
    place = next((at for at, answer in enumerate(answers, 1) if answer.strip() == expected), 0)
    say(HERE, f"expected {'first' if place == 1 else 'later' if place else 'missed'}", word=expected, place=place)


def ask_terms() -> list[str]:
    """Place a box for each of the three words, and return the words."""
    terms = []
    for column, (key, label), start in zip(st.columns(3, gap="small"), BOXES.items(), READY[0][:3], strict=True):
        box = column.text_input(
            label, start, key=page_state.ANALOGY.of(key).name, persist_state="session", live="300ms", max_chars=60
        )
        terms.append((box or "").strip())
    return terms


def take_ready() -> None:
    """Put the chosen analogy into the boxes."""
    name = page_state.ANALOGY.of("ready").pop()
    for key, term in zip(BOXES, next(ready for ready in READY if name_of(ready) == name), strict=False):
        page_state.ANALOGY.of(key).set(term)


def name_of(ready: Ready) -> str:
    return "{} − {} + {}".format(*ready[:3])


def count_successes(look: Look, choices: tuple[bool, bool]) -> None:
    """Say how many of the ready analogies this model answers with the expected word, and name some that it misses."""
    triples = [ready[:3] for ready in READY]
    answers = jobs.result(
        ("ready analogies", *subject(look), *choices),
        lambda report: first_answers(look.model, triples, *choices),
        "Trying the ready analogies",
    )
    if answers is None:
        return
    pairs = [(ready, answer.strip()) for ready, answer in zip(READY, answers, strict=True)]
    misses = [(ready, answer) for ready, answer in pairs if answer != ready[3]]
    examples = "; ".join(
        f"{name_of(ready)} gives “{plain(answer)}”, not “{ready[3]}”" for ready, answer in misses[-1 : -MISSES - 1 : -1]
    )
    facts = {"right": len(READY) - len(misses), "count": len(READY), "examples": examples}
    say(HERE, "analogies missed" if misses else "analogies", **facts)


def mount_list(board: Board, table: str) -> None:
    """Place a list of words, its table in a container of that name."""
    for key in board.contents:
        if key == table:
            with st.container(key=key):
                mount(board, key)
        else:
            mount(board, key)


def subject(look: Look) -> tuple:
    """Return everything that the embedding depends on."""
    return look.model.info.name, look.model.weights


def mount_chance(look: Look, board: Board) -> None:
    """Place how a list compares with chance; below the level of experts the numbers of chance are folded."""
    for key in board.contents:
        folded = look.level != "expert" and key.endswith("-chance")
        with st.expander("How far to trust this list") if folded else nullcontext():
            mount(board, key)
