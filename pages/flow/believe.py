"""Which method to believe: tokens leave the text in each method's order, and the prediction says which of them it needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis import Faithfulness, Question, faithfulness
from analysis.perturbation import ORDERS, texts_read
from pages.flow.asked import HERE, Asked, title
from ui import effort, state
from ui.choices.widgets import one_of
from ui.device import is_phone
from ui.effort import begun, lasting, offer
from ui.memory import jobs
from ui.picture import falling
from ui.picture.picture import Numbers, Picture
from ui.show import show_chart
from ui.text import plain
from ui.words import say, words
from viz import percent
from viz.tokens import label

LEAVE_ONE_OUT = "leave-one-out"
LONG = 90.0  # seconds; what takes longer is measured on a grid of steps, and what takes longer even so when somebody asks for it
LONGEST = 3600.0  # seconds; every step is offered where it takes no longer


def panel(asked: Asked, scores: dict[str, np.ndarray], between: int | None) -> list[Picture]:
    """Curves of one method's order, random orders behind it, and the measures of all methods. between: as many tokens attention
    flow was looked for, None for all."""
    if asked.token is None:
        say(HERE, "nothing to follow", name=plain(asked.model.info.name))
        return []
    question = Question(asked.model, asked.trace, asked.position, asked.token)
    evidence = measured(asked, question, scores)
    if evidence is None:
        return []
    names = [*asked.methods, LEAVE_ONE_OUT] if not asked.look.beginner else list(asked.methods)
    names = [name for name in names if name in evidence.methods]
    # The first, not the best: the best of some random orders beats 20 others often enough.
    chosen = one_of(state.BELIEVE, names, "", label=words(HERE, "order"), written=title)
    spelt = [
        "“" + label([*asked.trace.tokens, *asked.trace.target][unit].text.strip(" ") or " ") + "”" for unit in evidence.units
    ]
    say_order(evidence, chosen, spelt, masked=bool(asked.model.info.mask))
    ways = (False,) if asked.look.beginner else (False, True)
    pictures = [chart(asked, evidence, chosen, names, list(scores), between, coming) for coming in ways]
    for place, drawing in zip([st.container()] if asked.look.beginner else st.columns(2), pictures, strict=True):
        with place:
            show_chart(drawing.drawn, drawing.key)
    say(HERE, "every step" if evidence.exact else "some steps", **grid(evidence))
    whole = table(evidence, names)
    for columns in (whole.columns[::2], whole.columns[1::2]) if is_phone() and len(whole.columns) > 2 else (whole.columns,):
        st.table(whole[columns])
    say(HERE, "measures", orders=ORDERS, chances=ORDERS + 1, units=len(evidence.units))
    with st.expander("The numbers"):
        st.dataframe(points(evidence, names), hide_index=True)
    return pictures


def measured(asked: Asked, question: Question, scores: dict[str, np.ndarray]) -> Faithfulness | None:
    """The curves, from a job: at every step where that is quick or asked for, else on a grid; minutes wait for a press."""
    window = state.FLOW_WINDOW.get()
    keys = {exact: ("faithful", *asked.key, tuple(scores), window, exact) for exact in (True, False)}
    every, fewer = (seconds(asked, question, len(scores), exact) for exact in (True, False))
    exact = every <= LONG or begun(keys[True])
    if not exact:
        if waits := fewer > LONG and not begun(keys[False]):
            say(HERE, "takes long")
            offer(f"Measure some of the steps ({lasting(fewer)})", keys[False])
        if every <= LONGEST:
            offer(f"Measure every step ({lasting(every)})", keys[True])
        if waits:
            return None
    return jobs.result(
        keys[exact], lambda report: faithfulness(question, scores, exact=exact, report=report), "Reading changed texts"
    )


def seconds(asked: Asked, question: Question, methods: int, exact: bool) -> float:
    """About how long the curves take."""
    info, units = asked.model.info, len(question.units)
    length = len(question.read) - (0 if info.mask else units / 2)  # what is masked stays, what is deleted is half on average
    return effort.seconds(info, length, texts_read(units, methods, exact=exact))


def grid(evidence: Faithfulness) -> dict[str, object]:
    """Which steps were measured, in numbers."""
    gaps = np.diff(evidence.counts)
    return {
        "points": len(gaps), "units": len(evidence.units), "widest": gaps.max(),
        "dense": int(np.argmax(gaps > 1)) or len(gaps),
    }  # fmt: skip


def say_order(evidence: Faithfulness, chosen: str, spelt: list[str], masked: bool) -> None:
    """The chosen order in words, with its numbers."""
    ours, areas = evidence.methods[chosen], [order.deletion_area for order in evidence.random]
    facts = {
        "method": title(chosen), "first": plain(", ".join(spelt[i] for i in ours.order[:5])), "full": percent(evidence.full),
        "empty": percent(evidence.empty), "left": percent(ours.deletion_area), "orders": len(areas), "chances": len(areas) + 1,
        "median": percent(np.median(areas)), "least": percent(min(areas)), "most": percent(max(areas)),
        "beaten": evidence.beaten(chosen), "luck": f"{1 - evidence.beaten(chosen) / (len(areas) + 1):.3f}",
    }  # fmt: skip
    facts["verdict"] = words(HERE, "faster" if evidence.faster(chosen) else "no verdict", **facts)
    say(HERE, "believe masked" if masked else "believe", **facts)


def chart(
    asked: Asked, evidence: Faithfulness, chosen: str, names: list[str], methods: list[str], between: int | None, coming: bool
) -> Picture:
    """What the chance of the prediction is while tokens leave the text, or come. methods: those that were tested."""
    simple, title_of = asked.look.beginner, {name: title(name) for name in names}
    options = {
        "name": chosen, "others": [] if simple else [name for name in names if name != chosen], "titles": title_of,
        "methods": methods, "token": asked.token, "between": between, "coming": coming, "exact": evidence.exact,
        "title": "" if simple else "Insertion" if coming else "Deletion", "across": words(HERE, "come" if coming else "gone"),
    }  # fmt: skip

    def numbers() -> dict[str, Numbers]:
        each = {title_of[name]: evidence.methods[name] for name in ([chosen] if simple else names)}
        each |= {f"random order {i + 1}": order for i, order in enumerate(evidence.random)}
        chances = np.array([falling.chances(order, coming) for order in each.values()])
        return {"probability": Numbers(chances, ("order", "tokens"), {"order": list(each), "tokens": evidence.counts.tolist()})}

    return asked.picture(
        falling.falling, "insertion" if coming else "deletion", f"Tokens {'come' if coming else 'leave'} by {title_of[chosen]}",
        options, numbers=numbers, known={"evidence": evidence},
    )  # fmt: skip


def points(evidence: Faithfulness, names: list[str]) -> pd.DataFrame:
    """Every point of the curves."""
    columns: dict[str, Any] = {"Tokens": evidence.random[0].counts}
    for name in names:
        columns[f"{title(name)}: gone"] = [percent(chance) for chance in evidence.methods[name].deletion]
        if state.level() != "beginner":
            columns[f"{title(name)}: come"] = [percent(chance) for chance in evidence.methods[name].insertion]
    return pd.DataFrame(columns)


def table(evidence: Faithfulness, names: list[str]) -> pd.DataFrame:
    """A row a method, and one for the random orders; the best of the methods in bold."""
    columns = {
        "Deletion area (small is good)": (lambda order: order.deletion_area, min),
        "Insertion area (large is good)": (lambda order: order.insertion_area, max),
        "Comprehensive\u00adness (large is good)": (lambda order: order.comprehensiveness, max),
        "Sufficiency (small is good)": (lambda order: order.sufficiency, min),
    }
    if state.level() == "beginner":
        columns = {"Chance of the guess while words are taken away (small is good)": (lambda order: order.deletion_area, min)}
    methods, at_random = [name for name in names if name != LEAVE_ONE_OUT], words(HERE, "at random", orders=len(evidence.random))
    rows: dict[str, list[str]] = {name: [] for name in (*map(title, names), at_random)}
    for of, best in columns.values():
        top = best(methods, key=lambda name: of(evidence.methods[name]))
        for name in names:
            text = signed(of(evidence.methods[name]))
            rows[title(name)].append(f"**{text}**" if name == top else text)
        each = [of(order) for order in evidence.random]
        rows[at_random].append(f"{signed(float(np.median(each)))} ({signed(min(each))} to {signed(max(each))})")
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(columns))
    frame["Random orders it beats"] = [*(f"{evidence.beaten(name)} of {len(evidence.random)}" for name in names), "–"]
    if state.level() != "beginner":
        ranks = [evidence.methods[name].correlation for name in names]
        frame["Rank correlation with leave-one-out"] = [
            *("–" if rank is None else f"{rank:.2f}".replace("-", "−") for rank in ranks), "0 on average",
        ]  # fmt: skip
    return frame


def signed(value: float) -> str:
    if abs(value) < 1e-5:
        return "0\u00a0%" if value == 0 else "nearly 0\u00a0%"
    return percent(value) if value > 0 else "−" + percent(-value)
