"""The view "Which to believe", for the methods that follow a prediction back to the input."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis import Question
from pages.flow import calculations
from pages.flow.boards.methods import methods_of, opened
from pages.flow.compose import HERE, compose
from pages.flow.recipes import FLOW
from pages.flow.request import Request, request_of
from pages.flow.settings import Settings, Unfollowed
from ui.believe.panel import panel
from ui.believe.trial import Trial
from ui.lexicon.marks import Words
from ui.look import Look
from ui.picture.mount import composed, mount_all
from ui.picture.picture import Picture
from ui.words import say


def believe(look: Look, settings: Settings) -> Sequence[Picture]:
    """Place the curves of one method's order, with random orders behind it, and the measures of all methods."""
    request = request_of(look, settings)
    answer = calculations.answers(request)
    if answer is None:
        return []
    if request.token is None:
        return mount_all(composed(compose, look, settings, Unfollowed()))
    say(HERE, "believe asks")
    size = np.asarray(answer["pipes"])
    scores = {method: values for method in request.methods if isinstance(values := answer.get(method), np.ndarray)}
    if FLOW in request.methods:
        most = calculations.flow(request, size)
        if not isinstance(most, np.ndarray):
            return []
        scores[FLOW] = most
    question = Question(request.model, request.trace, request.position, request.token, keep_last=True)
    between = calculations.window(size)
    names = request.methods if look.beginner else (*request.methods, "leave-one-out")
    title_of = calculations.titles()
    titles, options = {name: title_of[name] for name in names}, {"token": request.token, "between": between}
    lines = lines_of(request, names) if look.level == "intermediate" else {}
    in_sight = opened(look.level, methods_of(request, answer), answer) if look.level == "intermediate" else []
    rivals = (*in_sight, *request.methods) if in_sight else ()
    key, opens = (*request.key, between), in_sight[0] if in_sight else ""
    pictures = panel(Trial(look, question, key, scores, titles, request.picture, options, lines, opens, rivals))
    if pictures:
        say(HERE, "believe elsewhere")
    return pictures


def lines_of(request: Request, methods: Sequence[str]) -> dict[str, str]:
    """Return what each method does, in one line without marked terms."""
    reader, layer = Words(request.look.level, lambda: False, None), request.trace.numbers[-1]
    case = " cross" if request.trace.target else ""
    lines = {
        name: reader(HERE, f"method {name}{case}", layer=layer) or reader(HERE, f"method {name}", layer=layer) for name in methods
    }
    return {name: line for name, line in lines.items() if line}
