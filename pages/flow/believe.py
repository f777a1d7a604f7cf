"""Which method to believe, of those that follow a prediction back."""

from __future__ import annotations

import numpy as np

from analysis import Question
from pages.flow.asked import FLOW, HERE, Asked, answers, flow, title, window
from ui.believe.panel import panel
from ui.believe.trial import Trial
from ui.picture.picture import Picture
from ui.words import say


def believe(asked: Asked) -> list[Picture]:
    """Curves of one method's order, random orders behind it, and the measures of all."""
    answer = answers(asked)
    if answer is None:
        return []
    if asked.token is None:
        say(HERE, "nothing to follow")
        return []
    size = np.asarray(answer["pipes"])
    scores = {method: values for method in asked.methods if isinstance(values := answer.get(method), np.ndarray)}
    if FLOW in asked.methods:
        most = flow(asked, size)
        if not isinstance(most, np.ndarray):
            return []
        scores[FLOW] = most
    question, between = Question(asked.model, asked.trace, asked.position, asked.token), window(size)
    names = asked.methods if asked.look.beginner else (*asked.methods, "leave-one-out")
    titles, options = {name: title(name) for name in names}, {"token": asked.token, "between": between}
    return panel(Trial(asked.look, question, (*asked.key, between), scores, titles, asked.picture, options))
