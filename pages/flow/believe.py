"""The view "Which to believe", for the methods that follow a prediction back to the input."""

from __future__ import annotations

import numpy as np

from analysis import Question
from pages.flow.request import FLOW, HERE, Request, answers, flow, title, window
from ui.believe.panel import panel
from ui.believe.trial import Trial
from ui.picture.picture import Picture
from ui.words import say


def believe(request: Request) -> list[Picture]:
    """Place the curves of one method's order, with random orders behind it, and the measures of all methods."""
    answer = answers(request)
    if answer is None:
        return []
    if request.token is None:
        say(HERE, "nothing to follow")
        return []
    size = np.asarray(answer["pipes"])
    scores = {method: values for method in request.methods if isinstance(values := answer.get(method), np.ndarray)}
    if FLOW in request.methods:
        most = flow(request, size)
        if not isinstance(most, np.ndarray):
            return []
        scores[FLOW] = most
    question, between = Question(request.model, request.trace, request.position, request.token), window(size)
    names = request.methods if request.look.beginner else (*request.methods, "leave-one-out")
    titles, options = {name: title(name) for name in names}, {"token": request.token, "between": between}
    return panel(Trial(request.look, question, (*request.key, between), scores, titles, request.picture, options))
