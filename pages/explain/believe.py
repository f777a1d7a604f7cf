"""The view "Which to believe": all methods compared, and whether a beginner's one picture does better than chance."""

from __future__ import annotations

from analysis import Explanation
from pages.explain.request import TITLES, Request, explain_by_all
from ui.believe import panel as shared
from ui.believe.trial import Trial
from ui.picture.picture import Picture


def panel(request: Request) -> list[Picture]:
    """Place the curves of one method's order, with random orders behind it, and the measures of all methods."""
    if not request.chance:
        return shared.panel(trial(request, []))
    answers = explain_by_all(request)
    return (
        []
        if answers is None
        else shared.panel(trial(request, [answer for answer in answers.values() if isinstance(answer, Explanation)]))
    )


def doubt(request: Request, explanation: Explanation) -> None:
    """Say whether one method does better than chance."""
    test = trial(request, [explanation])
    if (evidence := test.measure(finer=False)) is not None:
        request.say("doubt", **test.facts(evidence, explanation.method))


def trial(request: Request, explanations: list[Explanation]) -> Trial:
    """Return the trial of these explanations."""
    scores, titles = (
        {explanation.method: explanation.scores for explanation in explanations},
        {explanation.method: TITLES[explanation.method] for explanation in explanations},
    )
    return Trial(request.look, request.question, request.key, scores, titles, request.picture)
