"""The tokens to choose from, and the question in words."""

from __future__ import annotations

from pages.explain.asked import Request, chance_of, position
from ui.escaping import plain
from ui.parts import APART as APART_SENTENCE
from ui.picture.board import Draft, Note
from viz import Card, Part, token_chips

APART, CHIPS, HEADLESS, UNCOVERED, QUESTION = "apart", "explain-chips", "headless", "not covered", "question"


def add(draft: Draft) -> None:
    """Add the tokens if there are several predictions, and the reason why little or nothing can be asked."""
    look, model = draft.look, draft.look.model
    place, labels = position(look), model.info.labels
    if look.apart:
        draft.contents[APART] = Note(APART_SENTENCE)
    if "text" in model.info.reads and (not labels or labels.each):
        selection = look.select(look.trace.read)
        view = token_chips(selection.tokens, selection.index(place), ids=False)
        draft.add_cards(CHIPS, [Card([Part("chips", view)])], "The tokens")
    if not look.trace.predicts:
        draft.note(HEADLESS, "headless", name=plain(model.info.name))
    elif model.info.mask and not labels and place not in model.places(look.trace):
        draft.note(UNCOVERED, "not covered", mask=plain(model.info.mask))


def add_question(draft: Draft, request: Request) -> None:
    """Add the question in words below the experts' level, or the reason why there is none."""
    look = draft.look
    if not request.question.units:
        draft.note(QUESTION, "nothing typed")
    elif look.level != "expert":
        why = "follows" if not look.model.info.labels else "labels" if request.chance else "number"
        why = "labels image" if why == "labels" and "image" in look.model.info.reads else why
        why = f"{why} against" if why == "follows" and request.against is not None else why
        share = look.percent(chance_of(look, request.position, request.token)) if request.chance else ""
        draft.note(QUESTION, why, prediction=plain(request.description), share=share)
