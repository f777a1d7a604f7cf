"""Which method to believe: tokens leave the text in each method's order, and the prediction says which of them it needed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from analysis import Explanation, Faithfulness, faithfulness
from analysis.perturbation import ORDERS, texts_read
from pages.explain.asked import HERE, TITLES, Asked, every
from ui import effort, state
from ui.choices.widgets import one_of
from ui.memory import jobs
from ui.picture import falling
from ui.picture.picture import Numbers, Picture
from ui.show import show_chart
from ui.words import say, words
from viz import percent

LONG = 60.0  # seconds; what takes longer is measured on a grid of steps, and waits for a press where that does too


def panel(asked: Asked) -> list[Picture]:
    """Curves of one method's order, random orders behind it, and the verdict on each."""
    if not asked.chance:
        say(HERE, "no chance")
        return []
    answers = every(asked)
    if answers is None:
        return []
    found = [one for one in answers.values() if isinstance(one, Explanation)]
    evidence = measured(asked, found)
    if evidence is None:
        return []
    names = [one.method for one in found]
    # The first, not the best: the best of some random orders beats 20 others often enough.
    chosen = one_of(state.EXPLAIN_ORDER, names, "", label=words(HERE, "order"), menu=True, written=TITLES.__getitem__)
    asked.say("believe", **facts(evidence, chosen))
    pictures = [chart(asked, evidence, chosen, names, coming) for coming in (False, True)]
    for place, drawing in zip(st.columns(2), pictures, strict=True):
        with place:
            show_chart(drawing.drawn, drawing.key)
    st.table(table(evidence, names))
    say(HERE, "measures", orders=ORDERS, chances=ORDERS + 1, units=len(evidence.units))
    return pictures


def doubt(asked: Asked, found: Explanation) -> None:
    """Whether one method does better than chance, in words."""
    if (evidence := measured(asked, [found])) is not None:
        asked.say("doubt", **facts(evidence, found.method))


def measured(asked: Asked, found: list[Explanation]) -> Faithfulness | None:
    """The curves, from a job: at every step where that is quick, else on a grid; minutes wait for a press."""
    question, names = asked.question, tuple(one.method for one in found)

    def seconds(exact: bool) -> float:
        length = len(question.read) - (0 if question.mask else len(question.units) / 2)
        return effort.seconds(asked.look.model.info, length, texts_read(len(question.units), len(found), exact=exact))

    exact = seconds(True) <= LONG
    key = ("believe", *asked.key, names, exact)
    if not exact and seconds(False) > LONG and not effort.begun(key):
        say(HERE, "test takes long")
        effort.offer(f"Put it to the test ({effort.lasting(seconds(False))})", key)
        return None
    scores = {one.method: one.scores for one in found}
    return jobs.result(key, lambda report: faithfulness(question, scores, exact=exact, report=report), "Reading changed texts")


def facts(evidence: Faithfulness, chosen: str) -> dict[str, object]:
    """What the words say of an order, its verdict among it."""
    areas = sorted(order.deletion_area for order in evidence.random)
    said = {
        "method": TITLES[chosen], "full": percent(evidence.full), "empty": percent(evidence.empty), "orders": len(areas),
        "left": percent(evidence.methods[chosen].deletion_area), "beaten": evidence.beaten(chosen), "chances": len(areas) + 1,
        "least": percent(areas[0]), "median": percent((areas[len(areas) // 2] + areas[(len(areas) - 1) // 2]) / 2),
        "most": percent(areas[-1]),
    }  # fmt: skip
    return said | {"verdict": words(HERE, "faster" if evidence.faster(chosen) else "no verdict", **said)}


def chart(asked: Asked, evidence: Faithfulness, chosen: str, names: list[str], coming: bool) -> Picture:
    """What the chance of the prediction is while tokens leave the text, or come."""
    options = {
        "name": chosen, "others": [name for name in names if name != chosen], "titles": {name: TITLES[name] for name in names},
        "methods": names, "coming": coming, "exact": evidence.exact, "title": "Insertion" if coming else "Deletion",
        "across": words(HERE, "come" if coming else "gone"),
    }  # fmt: skip

    def numbers() -> dict[str, Numbers]:
        each = {TITLES[name]: evidence.methods[name] for name in names}
        each |= {f"random order {i + 1}": order for i, order in enumerate(evidence.random)}
        chances = np.array([falling.chances(order, coming) for order in each.values()])
        return {"probability": Numbers(chances, ("order", "tokens"), {"order": list(each), "tokens": evidence.counts.tolist()})}

    return asked.picture(
        falling.falling, "explain-insertion" if coming else "explain-deletion",
        f"Tokens {'come' if coming else 'leave'} by {TITLES[chosen]}", options, numbers=numbers, known={"evidence": evidence},
    )  # fmt: skip


def table(evidence: Faithfulness, names: list[str]) -> pd.DataFrame:
    """A row a method, with a verdict only where it beats every random order."""
    rows = {}
    for name in names:
        verdict = "better than chance" if evidence.faster(name) else "no verdict"
        curves = evidence.methods[name]
        rows[TITLES[name]] = [
            percent(curves.deletion_area), percent(curves.insertion_area),
            f"{evidence.beaten(name)} of {len(evidence.random)}", verdict,
        ]  # fmt: skip
    columns = ["Deletion area (small is good)", "Insertion area (large is good)", "Random orders it beats", "Verdict"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)
