"""A beam search as it goes: the tree of what was looked at, and the best answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path

import numpy as np
import streamlit as st

from models.strategy import Strategy
from pages.generate import choose, doing, recipes, run, shown
from pages.generate.grown import Grown
from ui import state
from ui.choices.widgets import one_of
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.picture.picture import place as draw
from ui.show import choice, picture, show
from ui.text import plain
from ui.words import say, words
from viz import Card, board
from viz.figures.beams import WINDOW

HERE = Path(__file__).parent
CELL = 72  # characters of a text that a cell of the table shows


def place(grown: Grown, look: Look, strategy: Strategy, most: int, pictures: list[Picture]) -> None:
    """The search up to the step that is reached. strategy: as the controls say now; pictures: those of the page, to add the tree
    to them."""
    if not grown.search:
        say(HERE, "beams", button=doing.button(grown, beams=True), by_one=doing.by_one(look.model.info))
        return
    step = grown.search[max(0, grown.reached - 1)]
    search = step.search
    assert search is not None, "a step of a search"
    if step.strategy != strategy:
        say(HERE, "other controls")
    say(HERE, "tree", step=search.looked_at[0].length, width=step.strategy.beams)
    numbers = range(1, len(search.answers) + 1)
    beam = one_of(state.GENERATE_BEAM, numbers, "the beam", label="Beam that is looked at", menu=True, width=choose.WIDTH) - 1
    state.keep(state.GENERATE_BEAM, beam + 1, 1)
    tree_picture = tree(grown, look, most, beam)
    pictures.append(tree_picture)
    draw(tree_picture)
    with picture("The beam"):
        look_at_beam(grown, look, beam, pictures)
    st.markdown(f"##### {words(HERE, 'answers' if step.end else 'beginnings')}")
    penalty = step.strategy.length_penalty
    start, ends = parted([answer.text.strip() for answer in search.answers])
    if start:
        say(HERE, "alike", start=plain(start))
    rows = [
        {"beam": number, "text": text or "–", "tokens": len(answer.ids)}
        | {"log-probability": answer.score, "score": answer.score / len(answer.ids) ** penalty}
        for number, (text, answer) in enumerate(zip(ends, search.answers, strict=True), 1)
    ]
    columns = {name: st.column_config.NumberColumn(format="%.3f") for name in ("log-probability", "score")}
    st.dataframe(rows, hide_index=True, column_config=columns)
    if (why := grown.why or step.end) and grown.reached >= len(grown.search):
        say(HERE, f"searched {why}" if why in ("length", "stopped") else f"ended {why}")
    say(HERE, "score", penalty=f"{penalty:g}")
    if search.tree[-1].length > WINDOW:
        say(HERE, "window")


def look_at_beam(grown: Grown, look: Look, number: int, pictures: list[Picture]) -> None:
    """The text of one beam, and where the chosen head looked for each of its tokens."""
    search = grown.search[max(0, grown.reached - 1)].search
    assert search is not None, "a step of a search"
    beam = grown.beam(search.answers[number].ids)
    if beam.run:
        if run.read_again(beam) is None:
            return
        beam.end_run()
    card = Card(shown.the_text(beam, look, pictures), words(HERE, "title beam", number=number + 1))
    show(board([card], words(HERE, "title text")), shown.BOARD, lambda: shown.look_at(choice(shown.BOARD), beam, look))


def parted(texts: Sequence[str]) -> tuple[str, list[str]]:
    """The words that all texts begin with, and how each goes on from there: of what is too long for a cell the two ends."""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)) if len(texts) > 1 else ()
    start = "".join(letters[0] for letters in same)
    start = start[: start.rfind(" ") + 1]
    rest = [f"… {one[len(start) :]}" if start else one for one in texts]
    return start.strip(), [one if len(one) <= CELL else f"{one[: CELL // 2 - 1]} … {one[2 - CELL // 2 :]}" for one in rest]


def tree(grown: Grown, look: Look, most: int, beam: int) -> Picture:
    step = grown.search[max(0, grown.reached - 1)]
    begun = {"target": grown.beginning.target, "chat": grown.beginning.chat}
    options = {"strategy": asdict(step.strategy), "most": most, "count": max(1, grown.reached), "beam": beam, **begun}

    def numbers() -> dict[str, Numbers]:
        ways = step.search.tree if step.search else ()
        columns = {name: [getattr(way, name) for way in ways] for name in ("number", "parent", "id", "length", "score", "fate")}
        columns["token"] = [look.model.token_text(way.id) for way in ways]
        return {name: Numbers(np.array(values), ("way",)) for name, values in columns.items()}

    return Picture(
        recipes.tree, (look,), options, "generate-tree", numbers, words=f"{step.strategy.beams} beams", title="Beam tree",
        takes=("model", "trace"), known={"step": step},
    )  # fmt: skip


def best(grown: Grown) -> str:
    """What the best answer says, as far as it is reached."""
    return grown.search[max(0, grown.reached - 1)].text if grown.search else ""
