"""How alike heads are, and what is lost without two of them beyond the sum of what is lost without each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from analysis.importance import TEXTS, Importance, head_importance
from analysis.redundancy import FEW, MOST, Together, head_likeness, lost_together
from pages.heads import recipes
from pages.heads.asked import HERE, Asked
from ui import state
from ui.choices import heads
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.show import choice, show
from ui.words import say
from viz import percent

WRITE, LOOK, TOGETHER = state.HEADS_ALIKE.values


def panel(given: Asked) -> list[Picture]:
    """The square of heads by heads, and what it says."""
    by = one_of(state.HEADS_ALIKE, state.HEADS_ALIKE.values, "the likeness", label="Compared by")
    state.keep(state.HEADS_ALIKE, by, WRITE)
    return together(given) if by == TOGETHER else alike(given, "outputs" if by == WRITE else "maps")


def alike(given: Asked, by: str) -> list[Picture]:
    """How alike two heads look, or write."""
    look = given.look
    found = given.worked(
        "head likeness", 2, lambda report: head_likeness(look.model, given.texts, look.kind, report), "Comparing heads"
    )
    if found is None:
        return []
    values = found.outputs if by == "outputs" else found.maps
    if np.isnan(values).all():
        say(HERE, "outputs unknown")
        return []
    drawing = square(given, recipes.alike, {"by": by}, values, {"found": found}, np.arange(len(values)))
    say(HERE, f"alike {by}", texts=given.said, **closest(look, values))
    return [drawing]


def together(given: Asked) -> list[Picture]:
    """What is lost without two heads beyond the sum of what is lost without each."""
    look, every = given.look, sum(given.look.attention.counts)
    few = min(FEW, len(given.texts) if given.texts else TEXTS)

    def work(report: jobs.Report) -> tuple[Importance, Together]:
        found = head_importance(look.model, given.texts, look.kind, lambda share, words: report(share / 4, words))
        return found, lost_together(look.model, found, given.texts, lambda share, words: report((1 + 3 * share) / 4, words))

    pairs = min(MOST, every) ** 2 / 2
    both = given.worked("heads lost together", every + pairs * few / TEXTS, work, "Switching off two heads at a time")
    if both is None:
        return []
    found, lost = both
    if len(lost.heads) < 2:
        say(HERE, "together one")
        return []
    drawing = square(given, recipes.together, {}, lost.mean, {"found": found, "lost": lost}, lost.heads)
    facts = {"few": str(len(lost.beyond)), **extremes(look, lost), **of_all_pairs(lost)}
    say(HERE, "together", texts=given.said, **facts)
    if len(lost.heads) > 2:
        say(HERE, "together ends", **facts)
        if len(lost.beyond) > 1:
            say(HERE, "together signs", **facts)
    if every > len(lost.heads):
        say(HERE, "together some", count=len(lost.heads), all=every)
    return [drawing]


def square(
    given: Asked, recipe: Callable[..., Any], options: dict, values: np.ndarray, known: dict, which: np.ndarray
) -> Picture:
    """Heads by heads, placed; a press chooses the head of its row."""
    look, called = given.look, [name_of(given.look, int(head)) for head in which]
    shared = {"kind": look.kind, "texts": given.texts and list(given.texts), "chosen": (look.layer, look.head)}
    name = "beyond_the_sum_nats" if recipe is recipes.together else "likeness"
    numbers = Numbers(values.astype(np.float32), ("head", "other head"), {"head": called, "other head": called})
    drawing = Picture(
        recipe, (look,), shared | options, "heads-square", lambda: {name: numbers},
        title="Which heads could stand in for each other", takes=("model",), known=known,
    )  # fmt: skip

    def press() -> None:
        heads.choose(*divmod(int(which[choice("heads-square")[0]]), look.attention.heads))

    show(drawing.drawn, "heads-square", chosen=press)
    return drawing


def name_of(look: Look, head: int) -> str:
    layer, place = divmod(head, look.attention.heads)
    return look.named(layer, place)


def closest(look: Look, values: np.ndarray) -> dict[str, str]:
    """The two heads that are most alike, and the one that is most like the chosen head."""
    others = np.where(np.eye(len(values), dtype=bool), -np.inf, np.nan_to_num(values, nan=-np.inf))
    one, two = divmod(int(others.argmax()), len(others))
    here = look.layer * look.attention.heads + look.head
    like = int(others[here].argmax())
    facts = {"one": name_of(look, one), "two": name_of(look, two), "most": number(others[one, two])}
    return facts | {"head": look.head_name, "like": name_of(look, like), "likeness": number(others[here, like])}


def extremes(look: Look, lost: Together) -> dict[str, str]:
    """The pair that loses most beyond its sum, the one that loses least, and in how many of the texts the sign is the same."""
    mean, facts = lost.mean, dict[str, str]()
    for name, place in (("most", np.nanargmax(mean)), ("least", np.nanargmin(mean))):
        one, two = divmod(int(place), len(mean))
        same = int((np.sign(lost.beyond[:, one, two]) == np.sign(mean[one, two])).sum())
        facts |= {f"{name}_one": name_of(look, int(lost.heads[one])), f"{name}_two": name_of(look, int(lost.heads[two]))}
        facts |= {name: number(mean[one, two], 3), f"{name}_same": str(same)}
    return facts


def of_all_pairs(lost: Together) -> dict[str, str]:
    """Beside what the extremes stand: the middle half of all pairs, how many have one sign in all texts, and how many would by
    chance."""
    pairs = np.triu_indices(len(lost.heads), 1)
    each = lost.beyond[:, *pairs]
    low, high = np.percentile(lost.mean[pairs], (25, 75))
    same = float((np.abs(np.sign(each).sum(0)) == len(each)).mean())
    return {
        "pairs": f"{each.shape[1]:,}", "low": number(low, 3), "high": number(high, 3), "same": percent(same),
        "chance": percent(2.0 ** (1 - len(each))),
    }  # fmt: skip


def number(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "−")
