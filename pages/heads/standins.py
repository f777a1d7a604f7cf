"""Stand-ins: how similar heads are, and the loss without two of them beyond the sum of the losses without each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.importance import TEXTS, Importance, head_importance
from analysis.redundancy import FEW, MOST, Together, head_likeness, lost_together
from pages.heads import recipes
from pages.heads import state as page_state
from pages.heads.corpus import HERE, Corpus
from ui import state
from ui.choices import heads
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.show import choice, show
from ui.words import say, words
from viz import percent

HALF, NEARLY = 0.5, 0.9  # of 1; below the first, heads are hardly alike, and from the second on they are
PAIRS = 5  # the most that have a row of their own
WRITE, LOOK, TOGETHER = page_state.HEADS_ALIKE.values


def panel(corpus: Corpus) -> list[Picture]:
    """Draw the square of heads by heads, and explain it."""
    by = one_of(page_state.HEADS_ALIKE, page_state.HEADS_ALIKE.values, "the likeness", label="Compared by")
    state.keep(page_state.HEADS_ALIKE, by, WRITE)
    return together(corpus) if by == TOGETHER else alike(corpus, "outputs" if by == WRITE else "maps")


def alike(corpus: Corpus, by: str) -> list[Picture]:
    """Draw how similar two heads are in where they look, or in what they write."""
    look = corpus.look
    likeness = corpus.result(
        "head likeness", 2, lambda report: head_likeness(look.model, corpus.texts, look.kind, report), "Comparing heads"
    )
    if likeness is None:
        return []
    values = likeness.outputs if by == "outputs" else likeness.maps
    if np.isnan(values).all():
        say(HERE, "outputs unknown")
        return []
    if len(values) < 2:
        say(HERE, "together one")
        return []
    pairs, middle = most_alike(look, values)
    best, facts = pairs.iloc[0], {"middle": middle, "count": f"{len(values) * (len(values) - 1) // 2:,}"}
    facts |= {"first": str(pairs.index[0]), "second": best["Other head"], "most": best["Alike"]}
    say(HERE, f"answer {by}", answer=words(HERE, f"answer {verdict(values)}"), **facts)
    st.table(pairs, border="horizontal")
    with st.expander("Every pair on a map", expanded=verdict(values) != "hardly"):
        say(HERE, f"question {WRITE if by == 'outputs' else LOOK}")
        drawing = square(corpus, recipes.alike, {"by": by}, values, {"likeness": likeness}, np.arange(len(values)))
    say(HERE, f"alike {by}", texts=corpus.description, **closest(look, values))
    return [drawing]


def most_alike(look: Look, values: np.ndarray) -> tuple[pd.DataFrame, str]:
    """Return the pairs of heads that are most alike as a table, and how alike the middle one of all pairs is."""
    first, second = np.triu_indices(len(values), 1)
    each = np.nan_to_num(values[first, second])
    rows = [
        {"Head": name_of(look, int(first[i])), "Other head": name_of(look, int(second[i])), "Alike": number(each[i])}
        for i in np.argsort(-each, kind="stable")[:PAIRS]
    ]
    return pd.DataFrame(rows).set_index("Head"), number(float(np.median(each)))


def verdict(values: np.ndarray) -> str:
    """Return "hardly", "partly" or "yes": whether one head could stand in for another, by the most alike pair."""
    most = float(np.nanmax(np.where(np.eye(len(values), dtype=bool), np.nan, values)))
    return "hardly" if most < HALF else "partly" if most < NEARLY else "yes"


def together(corpus: Corpus) -> list[Picture]:
    """Draw the loss without two heads beyond the sum of the losses without each."""
    look, every = corpus.look, sum(corpus.look.attention.counts)
    few = min(FEW, len(corpus.texts) if corpus.texts else TEXTS)

    def work(report: jobs.Report) -> tuple[Importance, Together]:
        importance = head_importance(look.model, corpus.texts, look.kind, lambda share, words: report(share / 4, words))
        return importance, lost_together(
            look.model, importance, corpus.texts, lambda share, words: report((1 + 3 * share) / 4, words)
        )

    pairs = min(MOST, every) ** 2 / 2
    both = corpus.result("heads lost together", every + pairs * few / TEXTS, work, "Switching off two heads at a time")
    if both is None:
        return []
    importance, lost = both
    if len(lost.heads) < 2:
        say(HERE, "together one")
        return []
    facts = {"few": str(len(lost.beyond)), **extremes(look, lost), **of_all_pairs(lost)}
    if len(lost.heads) > 2:
        say(HERE, "answer together", **facts)
    drawing = square(corpus, recipes.together, {}, lost.mean, {"importance": importance, "lost": lost}, lost.heads)
    say(HERE, f"question {TOGETHER}")
    say(HERE, "together", texts=corpus.description, **facts)
    if len(lost.heads) > 2:
        say(HERE, "together ends", **facts)
        if len(lost.beyond) > 1:
            say(HERE, "together signs", **facts)
    if every > len(lost.heads):
        say(HERE, "together some", count=len(lost.heads), all=every)
    return [drawing]


def square(
    corpus: Corpus, recipe: Callable[..., Any], options: dict, values: np.ndarray, known: dict, which: np.ndarray
) -> Picture:
    """Place a picture of heads by heads; a click chooses the head of its row."""
    look, names = corpus.look, [name_of(corpus.look, int(head)) for head in which]
    shared = {"kind": look.kind, "texts": corpus.texts and list(corpus.texts), "chosen": (look.layer, look.head)}
    name = "beyond_the_sum_nats" if recipe is recipes.together else "likeness"
    numbers = Numbers(values.astype(np.float32), ("head", "other head"), {"head": names, "other head": names})
    drawing = Picture(
        recipe,
        (look,),
        shared | options,
        "heads-square",
        lambda: {name: numbers},
        title="Which heads could stand in for each other",
        takes=("model",),
        known=known,
    )

    def press() -> None:
        heads.choose(*divmod(int(which[choice("heads-square")[0]]), look.attention.heads))

    show(drawing.drawn, "heads-square", chosen=press)
    return drawing


def name_of(look: Look, head: int) -> str:
    layer, place = divmod(head, look.attention.heads)
    return look.named(layer, place)


def closest(look: Look, values: np.ndarray) -> dict[str, str]:
    """Name the head that is most similar to the chosen one."""
    others = np.where(np.eye(len(values), dtype=bool), -np.inf, np.nan_to_num(values, nan=-np.inf))
    here = look.layer * look.attention.heads + look.head
    like = int(others[here].argmax())
    return {"head": look.head_name, "like": name_of(look, like), "likeness": number(others[here, like])}


def extremes(look: Look, lost: Together) -> dict[str, str]:
    """Name the pair that loses most beyond its sum, the pair that loses least, and in how many texts the sign is the same."""
    mean, facts = lost.mean, dict[str, str]()
    for name, place in (("most", np.nanargmax(mean)), ("least", np.nanargmin(mean))):
        first, second = divmod(int(place), len(mean))
        same = int((np.sign(lost.beyond[:, first, second]) == np.sign(mean[first, second])).sum())
        facts |= {f"{name}_one": name_of(look, int(lost.heads[first])), f"{name}_two": name_of(look, int(lost.heads[second]))}
        facts |= {name: number(mean[first, second], 3), f"{name}_same": str(same)}
    return facts


def of_all_pairs(lost: Together) -> dict[str, str]:
    """Return the numbers for comparison with the extremes: the middle half of all pairs, the share with one sign in all texts,
    and the share expected by chance."""
    pairs = np.triu_indices(len(lost.heads), 1)
    each = lost.beyond[:, *pairs]
    low, high = np.percentile(lost.mean[pairs], (25, 75))
    same = float((np.abs(np.sign(each).sum(0)) == len(each)).mean())
    return {
        "pairs": f"{each.shape[1]:,}",
        "low": number(low, 3),
        "high": number(high, 3),
        "same": percent(same),
        "chance": percent(2.0 ** (1 - len(each))),
    }


def number(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "−")
