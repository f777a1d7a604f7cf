"""Pictures of an adaptation: its curves, its sentences before and after, and the matrices that it has changed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.adapt import recipes, strength
from pages.adapt import state as page_state
from pages.adapt.steps import once_a_step
from ui import shell, state
from ui.choices.widgets import one_of, tabs
from ui.escaping import plain
from ui.picture.picture import Numbers, Picture
from ui.picture.take_away import take_away
from ui.show import show, show_chart
from ui.words import say
from viz.numbers import decimal, percent, whole_percent

if TYPE_CHECKING:
    from models.adapting.changes import Change
    from models.adapting.measuring import Measured
    from models.adapting.teaching import Teaching

DAMAGED = 2.0  # times its former perplexity on other text, from which on a model counts as damaged
LEARNED = 0.1  # mean chance of the right last words from which on it is said what was learned
TAUGHT, EXCHANGED, OTHERS = "your sentences", "with their last words exchanged", "text that is not taught"


def preview(here: Path) -> None:
    """Say what will happen, while nothing is taught."""
    st.markdown("##### Nothing is taught yet")
    say(here, "what")
    say(here, "before")


def draw(here: Path, teaching: Teaching) -> None:
    """Draw the finding, then the chosen part."""
    last = teaching.measured[-1]
    say_finding(here, teaching, last)
    above = shell.above()
    with above:
        offered = page_state.PART.values[: 3 if state.level() == "beginner" else 4]
        part = tabs(page_state.PART, "the part", offered)
    if part == "Sentences":
        pictures = [sentence_table(here, teaching, last), *written_table(here, teaching)]
    elif part == "Strength":
        pictures = strength.draw(here, teaching)
    elif part == "Weights":
        pictures = changed_weights(here, teaching)
    else:
        pictures = [learning(here, teaching)]
    with above:
        take_away("adapt", lambda: pictures)


def say_finding(here: Path, teaching: Teaching, last: Measured) -> None:
    """Say in words what the model has learned, what chance gives, and what it has lost."""
    share = whole_percent if state.level() == "beginner" else percent
    first = teaching.measured[0]
    sentence = teaching.sentences[0]
    facts = {
        "step": last.step,
        "question": plain(sentence.question),
        "answer": plain(sentence.answer),
        "before": share(first.chances[0]),
        "after": share(last.chances[0]),
        "mean": share(float(np.mean(last.chances))),
        "wrong": share(float(np.mean(last.wrong))) if last.wrong else "",
        "others": f"{math.exp(last.others):,.0f}",
        "others_before": f"{math.exp(first.others):,.0f}",
        "rate": f"{teaching.recipe.highest_rate:g}",
        "even": f"{teaching.model.info.vocabulary:,}",
        "count": len(teaching.texts.others),
        "length": max(map(len, teaching.texts.others), default=0),
    }
    say(here, "finding" if last.step else "at the start", **facts)
    right, wrong = float(np.mean(last.chances)), float(np.mean(last.wrong or (0.0,)))
    if last.step and last.wrong and right > LEARNED:
        say(here, "bound" if right > 2 * wrong else "not bound", **facts)
    if last.step:
        say(here, forgotten(first, last), **facts)


def forgotten(first: Measured, last: Measured) -> str:
    """Return the heading of the words on what the model has forgotten: "not lost", "lost" or "damaged"."""
    if math.exp(last.others - first.others) > DAMAGED:
        return "damaged"
    return "lost" if last.others > first.others else "not lost"


def learning(here: Path, teaching: Teaching) -> Picture:
    """Draw the curves."""
    beginner = state.level() == "beginner"
    measured, total = teaching.measured, teaching.recipe.steps
    if beginner:
        lines = {"the right last word": [float(np.mean(each.chances)) for each in measured]}
        if teaching.texts.exchanged:
            lines["another sentence’s last word"] = [float(np.mean(each.wrong)) for each in measured]
        options = {"up": "chance", "shares": True}
    else:
        lines = {TAUGHT: [each.loss for each in measured], OTHERS: [each.others for each in measured]}
        if teaching.texts.exchanged:
            lines[EXCHANGED] = [each.exchanged for each in measured]
        options = {"up": "loss, nats a token"}
    steps, values = np.array([each.step for each in measured]), np.array(list(lines.values()))
    picture = Picture(
        recipes.curves,
        (),
        {"names": list(lines), "total": total, "options": options},
        "adapt-learning",
        lambda: {
            "value": Numbers(values, ("line", "at"), {"line": list(lines), "at": steps.tolist()}),
        },
        words=teaching.subject,
        title="Learning",
        data={"steps": steps, "values": values},
    )
    show_chart(picture.drawn, picture.key, config={"displayModeBar": False})
    say(here, "curves" if teaching.texts.exchanged else "curves alone")
    return picture


def sentence_table(here: Path, teaching: Teaching, last: Measured) -> Picture:
    """Place the table of the sentences."""
    first = teaching.measured[0]
    columns = {"before": first.chances, "now": last.chances}
    if last.wrong:
        columns["another sentence’s last word"] = last.wrong
    chances = np.array(list(columns.values())).T
    questions = [sentence.question for sentence in teaching.sentences]
    picture = Picture(
        recipes.sentences,
        (),
        {
            "columns": list(columns),
            "questions": [plain(question) for question in questions],
            "answers": [plain(sentence.answer) for sentence in teaching.sentences],
            "whole": state.level() == "beginner",
        },
        "adapt-sentences",
        lambda: {"chance": Numbers(chances, ("sentence", "column"), {"sentence": questions, "column": list(columns)})},
        words=teaching.subject,
        title="Sentences",
        data={"chances": chances},
    )
    st.table(picture.drawn, border="horizontal")
    say(here, "sentences")
    return picture


def written_table(here: Path, teaching: Teaching) -> list[Picture]:
    """Place what the model writes after the beginning of each sentence, before and now, once it does not learn any more."""
    if teaching.state == "running" or not teaching.step:
        return []
    st.markdown("##### What it writes")
    typed = st.text_input(
        "The beginning of a sentence in other words",
        "",
        key=page_state.ASKED.name,
        persist_state="session",
        max_chars=200,
        placeholder="The name of my dog is",
    )
    asked = (typed or "").strip()[:200]
    written = once_a_step(page_state.WRITTEN, teaching, teaching.continuations)
    questions = [sentence.question for sentence in teaching.sentences[: len(written)]]
    if asked:
        answer = once_a_step(page_state.ANSWERED, teaching, lambda: teaching.continue_text(asked), asked)
        written, questions = [*written, answer], [*questions, asked]
    rows = [f"{question} | before: {before} | now: {now}" for question, (before, now) in zip(questions, written, strict=True)]
    chances = np.array([each.chances[: len(questions) - bool(asked)] for each in (teaching.measured[0], teaching.measured[-1])]).T
    chances = np.pad(chances, [(0, len(rows) - len(chances)), (0, 0)], constant_values=np.nan)  # what is asked has no last word
    picture = Picture(
        recipes.written,
        (),
        {
            "questions": [plain(question) for question in questions],
            "texts": [[plain(text) or "(nothing)" for text in row] for row in written],
        },
        "adapt-written",
        lambda: {"chance": Numbers(chances, ("sentence", "when"), {"sentence": rows, "when": ["before", "now"]})},
        words=teaching.subject,
        title="What it writes",
    )
    st.table(picture.drawn, border="horizontal")
    say(here, "written")
    return [picture]


def changed_weights(here: Path, teaching: Teaching) -> list[Picture]:
    """Draw how much of each matrix has changed, and the directions of one change."""
    if not teaching.step:
        st.caption("No weight has changed yet.")
        return []
    changes = once_a_step(page_state.CHANGES, teaching, teaching.changes)
    layers, parts = sorted({change.layer for change in changes}), list(dict.fromkeys(change.part for change in changes))
    shares = np.full((len(layers), len(parts)), np.nan, dtype=np.float32)
    for change in changes:
        shares[layers.index(change.layer), parts.index(change.part)] = change.share
    largest = max(changes, key=lambda change: change.share)
    say(
        here,
        "weights",
        trainable=f"{teaching.trainable:,}",
        all=f"{teaching.model.info.parameters:,}",
        share=percent(teaching.trainable / teaching.model.info.parameters),
        part=plain(largest.part),
        layer=f"L{largest.layer}",
        most=percent(largest.share),
    )
    names = [f"L{layer}" for layer in layers]
    options = {"parts": parts, "layers": names}
    sides = {"layer": names, "matrix": parts}
    squares = Picture(
        recipes.changes,
        (),
        options,
        "adapt-changes",
        lambda: {"change": Numbers(shares, ("layer", "matrix"), sides)},
        words=teaching.subject,
        title="Change of each matrix",
        data={"shares": shares},
    )
    show(squares.drawn, squares.key)
    named = {f"L{change.layer} {change.part}": change for change in changes if len(change.singular)}
    if not named:
        return [squares]
    first = f"L{largest.layer} {largest.part}"
    if teaching.state == "running":  # which matrix has changed most may still change
        return [squares]
    name = one_of(
        page_state.MATRIX, tuple(named), "the matrix", menu=True, default=first if first in named else next(iter(named))
    )
    return [squares, directions(here, teaching, name, named[name])]


def directions(here: Path, teaching: Teaching, name: str, change: Change) -> Picture:
    """Draw the singular values of the change of one matrix."""
    recipe = teaching.recipe
    learned = recipe.rank if recipe.method == "lora" else 0
    picture = Picture(
        recipes.singular,
        (),
        {"name": name, "learned": learned},
        "adapt-singular",
        lambda: {"singular value": Numbers(change.singular, ("direction",))},
        words=f"{name}, {teaching.subject}",
        title="Directions of a change",
        data={"values": change.singular},
    )
    show_chart(picture.drawn, picture.key, config={"displayModeBar": False})
    facts = {"name": plain(name), "rank": change.rank, "all": len(change.singular), "size": decimal(change.size)}
    say(here, f"directions {recipe.method}", learned=learned, **facts)
    return picture
