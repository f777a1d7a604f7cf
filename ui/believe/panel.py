"""The panel “Which to believe” of two pages: curves of a method's order among random ones, and the measures of all."""

from __future__ import annotations

import numpy as np
import streamlit as st

from analysis import Faithfulness
from ui import state
from ui.believe.tables import areas, points
from ui.believe.trial import HERE, Trial
from ui.choices.widgets import one_of
from ui.device import is_phone
from ui.picture import falling
from ui.picture.picture import Numbers, Picture
from ui.show import show_chart
from ui.words import say, words

IN_A_ROW = 7  # methods of which each has a button; more are a menu


def panel(trial: Trial) -> list[Picture]:
    """Curves of one method's order, random orders behind it, and the measures and the verdict of each method."""
    if not trial.chance:
        say(HERE, "no chance")
        return []
    evidence = trial.measure()
    if evidence is None:
        return []
    titles, simple = {name: title for name, title in trial.titles.items() if name in evidence.methods}, trial.look.beginner
    # The first, not the best: the best of some random orders beats 20 others often enough.
    chosen = one_of(
        state.BELIEVE, list(titles), "", label=words(HERE, "order"), menu=len(titles) > IN_A_ROW, format_option=titles.__getitem__
    )
    say(HERE, "believe masked" if trial.question.mask else "believe", **trial.facts(evidence, chosen))
    if trial.question.against is not None:
        say(HERE, "contrast")
    pictures = [chart(trial, evidence, chosen, titles, coming) for coming in ((False,) if simple else (False, True))]
    for place, drawing in zip([st.container()] if simple else st.columns(2), pictures, strict=True):
        with place:
            show_chart(drawing.drawn, drawing.key)
    say(HERE, "every step" if evidence.exact else "some steps", **grid(evidence))
    whole = areas(evidence, titles)
    for columns in np.split(whole.columns, (1,) if simple else (2, 4)) if is_phone() else (whole.columns,):
        st.table(whole[columns])
    say(HERE, "measures", orders=len(evidence.random), tries=len(evidence.gaps), units=len(evidence.units))
    with st.expander("The numbers"):
        st.dataframe(points(evidence, titles), hide_index=True)
    return pictures


def grid(evidence: Faithfulness) -> dict[str, object]:
    """Which steps were measured, in numbers."""
    gaps = np.diff(evidence.counts)
    return {
        "points": len(gaps), "units": len(evidence.units), "widest": gaps.max(),
        "dense": int(np.argmax(gaps > 1)) or len(gaps),
    }  # fmt: skip


def chart(trial: Trial, evidence: Faithfulness, chosen: str, titles: dict[str, str], coming: bool) -> Picture:
    """What the chance of the prediction is while tokens leave the text, or come."""
    simple = trial.look.beginner
    options = {
        "name": chosen, "others": [] if simple else [name for name in titles if name != chosen], "titles": titles,
        "methods": list(trial.scores), "coming": coming, "exact": evidence.exact,
        "title": "" if simple else "Insertion" if coming else "Deletion", "across": words(HERE, "come" if coming else "gone"),
    }  # fmt: skip

    def numbers() -> dict[str, Numbers]:
        each = {titles[name]: evidence.methods[name] for name in ([chosen] if simple else titles)}
        each |= {f"random order {i + 1}": order for i, order in enumerate(evidence.random)}
        chances = np.array([falling.chances(order, coming) for order in each.values()])
        return {"probability": Numbers(chances, ("order", "tokens"), {"order": list(each), "tokens": evidence.counts.tolist()})}

    return trial.picture(
        falling.falling, "insertion" if coming else "deletion", f"Tokens {'come' if coming else 'leave'} by {titles[chosen]}",
        options | trial.options, numbers=numbers, known={"evidence": evidence},
    )  # fmt: skip
