"""The view "Which to believe": all methods compared, and, for beginners, whether their only method does better than chance."""

from __future__ import annotations

from collections.abc import Sequence

from analysis import Explanation
from pages.explain.asked import Request
from pages.explain.boards.methods import explanations_of
from pages.explain.compose import compose
from pages.explain.request import explain_by_all
from pages.explain.settings import Doubted, Settings
from ui.believe import panel as shared
from ui.believe.measuring import measure
from ui.picture.mount import composed, write_beside
from ui.picture.picture import Picture


def panel(request: Request) -> Sequence[Picture]:
    """Place the curves of one method's order, with random orders behind it, and the measures of all methods."""
    if not request.chance:
        return shared.panel(request.trial([]))
    answers = explain_by_all(request)
    return [] if answers is None else shared.panel(request.trial(explanations_of(answers)))


def doubt(request: Request, settings: Settings, explanation: Explanation) -> None:
    """Say whether one method does better than chance."""
    evidence = measure(request.trial([explanation]), finer=False)
    if evidence is not None:
        write_beside(composed(compose, request.look, settings, Doubted(explanation, evidence)))
