"""A beam search, step by step: the tree of the branches that it looked at, and the best answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path

import numpy as np
import streamlit as st

from models.strategy import Strategy
from pages.generate import choose, parts, recipes, run, wording
from pages.generate.continuation import Continuation
from ui import state
from ui.choices.widgets import one_of
from ui.look import Look
from ui.picture.mount import place as draw
from ui.picture.picture import Numbers, Picture
from ui.show import choice, picture, show
from ui.text import plain
from ui.words import say, words
from viz import Card, board
from viz.figures.beams import WINDOW

HERE = Path(__file__).parent
CELL = 72  # characters of a text that a cell of the table shows


def place(continuation: Continuation, look: Look, strategy: Strategy, most: int, pictures: list[Picture]) -> None:
    """Place the search up to the step on screen. strategy: that of the controls now; pictures: the page's, to which the tree is
    added."""
    if not continuation.search:
        say(HERE, "beams", button=wording.run_label(continuation, beams=True), by_one=wording.step_label(look.model.info))
        return
    step = continuation.search[max(0, continuation.reached - 1)]
    search = step.search
    assert search is not None, "a step of a search"
    if step.strategy != strategy:
        say(HERE, "other controls")
    say(HERE, "tree", step=search.looked_at[0].length, width=step.strategy.beams)
    numbers = range(1, len(search.answers) + 1)
    beam = one_of(state.GENERATE_BEAM, numbers, "the beam", label="Beam that is looked at", menu=True, width=choose.WIDTH) - 1
    state.keep(state.GENERATE_BEAM, beam + 1, 1)
    tree_picture = tree(continuation, look, most, beam)
    pictures.append(tree_picture)
    draw(tree_picture)
    with picture("The beam"):
        look_at_beam(continuation, look, beam, pictures)
    st.markdown(f"##### {words(HERE, 'answers' if step.end else 'beginnings')}")
    penalty = step.strategy.length_penalty
    start, ends = split_common_start([answer.text.strip() for answer in search.answers])
    if start:
        say(HERE, "alike", start=plain(start))
    rows = [
        {"beam": number, "text": text or "–", "tokens": len(answer.ids)}
        | {"log-probability": answer.score, "score": answer.score / len(answer.ids) ** penalty}
        for number, (text, answer) in enumerate(zip(ends, search.answers, strict=True), 1)
    ]
    columns = {name: st.column_config.NumberColumn(format="%.3f") for name in ("log-probability", "score")}
    st.dataframe(rows, hide_index=True, column_config=columns)
    if (why := continuation.why or step.end) and continuation.reached >= len(continuation.search):
        say(HERE, f"searched {why}" if why in ("length", "stopped") else f"ended {why}")
    say(HERE, "score", penalty=f"{penalty:g}")
    if search.tree[-1].length > WINDOW:
        say(HERE, "window")


def look_at_beam(continuation: Continuation, look: Look, number: int, pictures: list[Picture]) -> None:
    """Place the text of one beam, and where the chosen head looked for each of its tokens."""
    search = continuation.search[max(0, continuation.reached - 1)].search
    assert search is not None, "a step of a search"
    beam = continuation.beam(search.answers[number].ids)
    if beam.run:
        if run.read_again(beam) is None:
            return
        beam.end_run()
    card = Card(parts.text_and_rows(beam, look, pictures), words(HERE, "title beam", number=number + 1))
    show(board([card], words(HERE, "title text")), parts.BOARD, lambda: parts.look_at(choice(parts.BOARD), beam, look))


def split_common_start(texts: Sequence[str]) -> tuple[str, list[str]]:
    """Return the words that all texts begin with, and the rest of each text; a rest too long for a cell is cut in the middle."""
    common = takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)) if len(texts) > 1 else ()
    start = "".join(letters[0] for letters in common)
    start = start[: start.rfind(" ") + 1]
    rest = [f"… {text[len(start) :]}" if start else text for text in texts]
    return start.strip(), [text if len(text) <= CELL else f"{text[: CELL // 2 - 1]} … {text[2 - CELL // 2 :]}" for text in rest]


def tree(continuation: Continuation, look: Look, most: int, beam: int) -> Picture:
    step = continuation.search[max(0, continuation.reached - 1)]
    beginning = {"target": continuation.beginning.target, "chat": continuation.beginning.chat}
    options = {"strategy": asdict(step.strategy), "most": most, "count": max(1, continuation.reached), "beam": beam, **beginning}

    def numbers() -> dict[str, Numbers]:
        ways = step.search.tree if step.search else ()
        columns = {name: [getattr(way, name) for way in ways] for name in ("number", "parent", "id", "length", "score", "fate")}
        columns["token"] = [look.model.token_text(way.id) for way in ways]
        return {name: Numbers(np.array(values), ("way",)) for name, values in columns.items()}

    return Picture(
        recipes.tree, (look,), options, "generate-tree", numbers, words=f"{step.strategy.beams} beams", title="Beam tree",
        takes=("model", "trace"), known={"step": step},
    )  # fmt: skip


def best_text(continuation: Continuation) -> str:
    """Return the text of the best answer at the step on screen."""
    return continuation.search[max(0, continuation.reached - 1)].text if continuation.search else ""
