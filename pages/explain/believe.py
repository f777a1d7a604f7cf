"""Which method to believe: all of them beside each other, and whether the one picture of a beginner does better than chance."""

from __future__ import annotations

from analysis import Explanation
from pages.explain.asked import TITLES, Asked, every
from ui.believe import panel as shared
from ui.believe.trial import Trial
from ui.picture.picture import Picture


def panel(asked: Asked) -> list[Picture]:
    """Curves of one method's order, random orders behind it, and the measures of all."""
    if not asked.chance:
        return shared.panel(trial(asked, []))
    answers = every(asked)
    return (
        [] if answers is None else shared.panel(trial(asked, [one for one in answers.values() if isinstance(one, Explanation)]))
    )


def doubt(asked: Asked, found: Explanation) -> None:
    """Whether one method does better than chance, in words."""
    test = trial(asked, [found])
    if (evidence := test.measure(finer=False)) is not None:
        asked.say("doubt", **test.facts(evidence, found.method))


def trial(asked: Asked, found: list[Explanation]) -> Trial:
    """What is put to the test here. found: what each method says."""
    scores, titles = {one.method: one.scores for one in found}, {one.method: TITLES[one.method] for one in found}
    return Trial(asked.look, asked.question, asked.key, scores, titles, asked.picture)
