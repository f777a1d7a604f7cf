"""Which method to believe: tokens leave the text in each method's order, and the prediction says which of them it needed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from analysis import Curves, Faithfulness, Question, faithfulness
from pages.flow.asked import HERE, Asked, title
from ui import jobs, state
from ui.text import plain
from ui.words import say, words
from viz import percent
from viz.curves import curves
from viz.tokens import label

LEAVE_ONE_OUT = "leave-one-out"
ORDERS = 10  # by chance
POINTS = 21
LONG = 60.0  # seconds; work that takes longer is begun when somebody presses a button
SPEED = 2e10  # multiplications and additions a second, on one core


def panel(asked: Asked, scores: dict[str, np.ndarray]) -> None:
    """Curves of one method's order, chance behind it, and the measures of all methods."""
    if asked.token is None:
        say(HERE, "nothing to follow", name=plain(asked.model.info.name))
        return
    question = Question(asked.model, asked.trace, asked.position, asked.token)
    found = measured(asked, question, scores)
    if found is None:
        return
    names = [*asked.methods, LEAVE_ONE_OUT] if state.level() != "beginner" else list(asked.methods)
    names = [name for name in names if name in found.methods]
    if st.session_state.get("believe") not in names:
        st.session_state["believe"] = min((name for name in names if name != LEAVE_ONE_OUT), key=lambda one: area(found, one))
    chosen = st.segmented_control(words(HERE, "order"), names, format_func=title, required=True, key="believe")
    spelt = ["“" + label(asked.trace.tokens[unit].text.strip(" ") or " ") + "”" for unit in found.units]
    told(found, chosen, spelt, masked=bool(asked.model.info.mask))
    charts = st.columns(2) if state.level() != "beginner" else [st.container()]
    with charts[0]:
        chart(found, chosen, spelt, names, coming=False)
    if len(charts) > 1:
        with charts[1]:
            chart(found, chosen, spelt, names, coming=True)
    st.table(table(found, names))
    say(HERE, "measures", orders=ORDERS, units=len(found.units))
    with st.expander("The numbers"):
        st.dataframe(points(found, names), hide_index=True)


def measured(asked: Asked, question: Question, scores: dict[str, np.ndarray]) -> Faithfulness | None:
    """The curves, from a job; what takes minutes waits for a press."""
    units, read = len(question.units), len(question.read)
    texts = units + 2 * min(units, POINTS) * (len(scores) + 1 + ORDERS)
    seconds = 2.0 * asked.model.info.parameters * texts * read * 0.6 / SPEED
    key = ("faithful", *asked.key, tuple(scores), st.session_state.get("flow-window"))
    begun = st.session_state.setdefault("begun", set())
    if seconds > LONG and key not in begun:
        about = f"about {seconds / 60:,.0f} minutes" if seconds > 90 else f"about {seconds:,.0f} seconds"
        st.info(f"This reads up to {texts:,} changed texts of at most {read:,} tokens: {about} here. Shorter texts take less.")
        st.button("Measure it", icon=":material/play_arrow:", on_click=begun.add, args=(key,))
        return None
    return jobs.result(key, lambda report: faithfulness(question, scores, ORDERS, report=report), "Reading changed texts")


def area(found: Faithfulness, name: str) -> float:
    return found.methods[name].deletion_area


def told(found: Faithfulness, chosen: str, spelt: list[str], masked: bool) -> None:
    """The chosen order in words, with its numbers."""
    ours, chance = found.methods[chosen], [one.deletion_area for one in found.random]
    first = [spelt[i] for i in ours.order[:5]]
    mean, spread = float(np.mean(chance)), float(np.std(chance))
    apart = abs(ours.deletion_area - mean) > max(spread, 0.01 * mean)
    verdict = (
        "about as fast as chance" if not apart else "faster than chance" if ours.deletion_area < mean else "slower than chance"
    )
    say(
        HERE, "believe masked" if masked else "believe", method=title(chosen), first=plain(", ".join(first)),
        full=percent(found.full), empty=percent(found.empty), left=percent(ours.deletion_area),
        chance=percent(mean), spread=percent(spread), verdict=verdict,
    )  # fmt: skip


def chart(found: Faithfulness, chosen: str, spelt: list[str], names: list[str], coming: bool) -> None:
    def values(one: Curves) -> np.ndarray:
        return one.insertion if coming else one.deletion

    ours, doing = found.methods[chosen], "came" if coming else "went"
    spans = zip([0, *ours.counts], ours.counts, strict=False)
    steps = [f"{doing} last: {', '.join(spelt[i] for i in ours.order[a:b])}" if b > a else "" for a, b in spans]
    figure = curves(
        ours.counts,
        (title(chosen), values(ours)),
        {} if state.level() == "beginner" else {title(name): values(found.methods[name]) for name in names if name != chosen},
        [values(one) for one in found.random],
        steps,
        title="" if state.level() == "beginner" else "Insertion" if coming else "Deletion",
        across=words(HERE, "come" if coming else "gone"),
    )
    st.plotly_chart(figure, key="insertion" if coming else "deletion", config={"displaylogo": False})


def points(found: Faithfulness, names: list[str]) -> pd.DataFrame:
    """Every point of the curves."""
    made = {"Tokens": found.random[0].counts}
    for name in names:
        made[f"{title(name)}: gone"] = [percent(one) for one in found.methods[name].deletion]
        if state.level() != "beginner":
            made[f"{title(name)}: come"] = [percent(one) for one in found.methods[name].insertion]
    return pd.DataFrame(made)


def table(found: Faithfulness, names: list[str]) -> pd.DataFrame:
    """A row a method, and one for chance; the best of the methods in bold."""
    columns = {
        "Deletion area (small is good)": (lambda one: one.deletion_area, min),
        "Insertion area (large is good)": (lambda one: one.insertion_area, max),
        "Comprehensive\u00adness (large is good)": (lambda one: one.comprehensiveness, max),
        "Sufficiency (small is good)": (lambda one: one.sufficiency, min),
    }
    if state.level() == "beginner":
        columns = {"Chance of the guess while words go (small is good)": (lambda one: one.deletion_area, min)}
    methods = [name for name in names if name != LEAVE_ONE_OUT]
    rows = {title(name): [] for name in names} | {"By chance": []}
    for of, best in columns.values():
        top = best(methods, key=lambda name: of(found.methods[name]))
        for name in names:
            text = signed(of(found.methods[name]))
            rows[title(name)].append(f"**{text}**" if name == top else text)
        each = [of(one) for one in found.random]
        rows["By chance"].append(f"{signed(float(np.mean(each)))} ± {percent(float(np.std(each)))}")
    made = pd.DataFrame.from_dict(rows, orient="index", columns=list(columns))
    if state.level() != "beginner":
        ranks = [found.methods[name].correlation for name in names]
        made["Rank correlation with leave-one-out"] = [
            *("–" if one is None else f"{one:.2f}".replace("-", "−") for one in ranks), "0 on the mean",
        ]  # fmt: skip
    return made


def signed(value: float) -> str:
    if abs(value) < 1e-5:
        return "0 %" if value == 0 else "nearly 0 %"
    return percent(value) if value > 0 else "−" + percent(-value)
