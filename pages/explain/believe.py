"""The view "Which to believe": all methods compared, and, for beginners, whether their only method does better than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analysis import Explanation
from pages.explain import state as page_state
from pages.explain.asked import TITLES, Request
from pages.explain.boards.methods import explanations_of
from pages.explain.compose import HERE, compose
from pages.explain.request import explain_by_all
from pages.explain.settings import Doubted, Settings
from ui.believe import panel as shared
from ui.believe.measuring import measure
from ui.picture.mount import composed, write_beside
from ui.picture.picture import Picture
from ui.words import say


def panel(request: Request) -> Sequence[Picture]:
    """Place the curves of one method's order, with random orders behind it, and the measures of all methods."""
    if not request.chance:
        return shared.panel(request.trial([]))
    answers = explain_by_all(request)
    if answers is None:
        return []
    pictures = shared.panel(replace(request.trial(explanations_of(answers)), opens=method_of_words()))
    if pictures:
        say(HERE, "believe elsewhere")
    return pictures


def method_of_words() -> str:
    """Return the method of the view "The words": by the address, which names it by its title, else by the session."""
    by_title = {title: method for method, title in TITLES.items()}
    return by_title.get(page_state.EXPLAIN_BY.in_address or "", page_state.EXPLAIN_BY.get())


def doubt(request: Request, settings: Settings, explanation: Explanation) -> None:
    """Say whether one method does better than chance."""
    evidence = measure(request.trial([explanation]), finer=False)
    if evidence is not None:
        write_beside(composed(compose, request.look, settings, Doubted(explanation, evidence)))
