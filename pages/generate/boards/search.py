"""A beam search, step by step: the tree of the branches that it looked at, and the best answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import takewhile

import numpy as np
import pandas as pd

from models.generation.strategy import Strategy
from pages.generate import recipes, wording
from pages.generate.settings import Searched, Settings
from ui.escaping import plain
from ui.picture.board import Draft, Note, Table
from ui.picture.picture import Numbers, Picture
from viz import percent
from viz.figures.beams import WINDOW

TREE, ANSWERS = "generate-tree", "answers"
CELL = 72  # characters of a text that a cell of the table shows


def add_unsearched(draft: Draft, button: str) -> None:
    """Add words on what a search does."""
    draft.note("beams", "beams", button=button, by_one=wording.step_label(draft.look.model.info))


def add_words(draft: Draft, strategy: Strategy, searched: Searched) -> None:
    """Add the words above the tree. strategy: the controls' present one."""
    step = searched.step
    if step.strategy != strategy:
        draft.note("other controls", "other controls")
    answers = searched.search.answers
    facts: dict[str, object] = {"step": searched.search.looked_at[0].length, "width": step.strategy.beams}
    if answers:
        best, score = answers[0], answers[0].score
        facts |= {"best": plain(best.text.strip()), "chance": percent(float(np.exp(score)))}
        facts["score"] = f"{score:.2f}".replace("-", "−")
        draft.note("best", "best beginning", **facts)
    draft.note("tree", "tree", **facts)


def add_tree(draft: Draft, settings: Settings, searched: Searched) -> None:
    """Add the tree."""
    draft.add(tree(draft, settings, searched), TREE)


def add_answers(draft: Draft, searched: Searched) -> None:
    """Add the best answers as a table, with why the search ended and how answers are compared."""
    step, search = searched.step, searched.search
    draft.contents["title"] = Note(f"##### {draft.words('answers' if step.end else 'beginnings')}", "text")
    penalty = step.strategy.length_penalty
    start, ends = split_common_start([answer.text.strip() for answer in search.answers])
    if start:
        draft.note("alike", "alike", start=plain(start))
    rows = [
        {"beam": number, "text": text or "–", "tokens": len(answer.ids)}
        | {"log-probability": answer.score, "score": answer.score / len(answer.ids) ** penalty}
        for number, (text, answer) in enumerate(zip(ends, search.answers, strict=True), 1)
    ]
    draft.contents[ANSWERS] = Table(pd.DataFrame(rows), scrolls=True)
    if why := searched.ended:
        draft.note("ended", f"searched {why}" if why in ("length", "stopped") else f"ended {why}")
    draft.note("score", "score", penalty=f"{penalty:g}")
    if search.tree[-1].length > WINDOW:
        draft.note("window", "window")


def split_common_start(texts: Sequence[str]) -> tuple[str, list[str]]:
    """Return the words that all texts begin with, and the rest of each text; a rest too long for a cell is cut in the middle."""
    common = takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)) if len(texts) > 1 else ()
    start = "".join(letters[0] for letters in common)
    start = start[: start.rfind(" ") + 1]
    rest = [f"… {text[len(start) :]}" if start else text for text in texts]
    return start.strip(), [text if len(text) <= CELL else f"{text[: CELL // 2 - 1]} … {text[2 - CELL // 2 :]}" for text in rest]


def tree(draft: Draft, settings: Settings, searched: Searched) -> Picture:
    step, beginning, look = searched.step, searched.beginning, draft.look
    options = {"strategy": asdict(step.strategy), "most": settings.most, "count": max(1, searched.reached), "beam": settings.beam}
    options |= {"target": beginning.target, "chat": beginning.chat}

    def numbers() -> dict[str, Numbers]:
        ways = searched.search.tree
        columns = {name: [getattr(way, name) for way in ways] for name in ("number", "parent", "id", "length", "score", "fate")}
        columns["token"] = [look.model.token_text(way.id) for way in ways]
        return {name: Numbers(np.array(values), ("way",)) for name, values in columns.items()}

    return Picture(
        recipes.tree,
        (look,),
        options,
        TREE,
        numbers,
        words=f"{step.strategy.beams} beams",
        title="Beam tree",
        takes=("model", "trace"),
        known={"step": step},
    )
