"""Boards for the question: the tokens to choose from, and the prediction that is followed at the chosen one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pages.flow.settings import Followed
from ui.escaping import plain
from ui.look import Look
from ui.parts import APART
from ui.picture.board import Draft, Note
from viz import Card, Part, token_chips
from viz.tokens import named

if TYPE_CHECKING:
    from models.tokens import Prediction

CHIPS, SINGLE = "flow-chips", "flow-single"
PREDICTIONS = 10  # that are offered


def add_tokens(draft: Draft, position: int) -> None:
    """Add the tokens to choose from, unless the coloured text serves for that; say it if there is nothing to follow back to."""
    look, trace = draft.look, draft.look.trace
    if look.apart:
        draft.contents["flow-apart"] = Note(APART)
    if not has_chips(look):
        return
    selection = look.select(trace.read)
    view = token_chips(selection.tokens, selection.index(position), ids=False, link="" if trace.target else "flow")
    draft.add_cards(CHIPS, [Card([Part("chips", view)])], "The tokens")
    if is_single(look):
        draft.note(SINGLE, "single")


def has_chips(look: Look) -> bool:
    """Return whether the tokens stand apart: beginners press the coloured text, where it has all that can be asked about."""
    return not look.beginner or is_single(look) or bool(look.trace.target)


def is_single(look: Look) -> bool:
    return len(look.trace.tokens) + len(look.trace.target) == 1


def candidates(look: Look, position: int) -> Sequence[Prediction]:
    """Return the predictions that can be followed at a position, the likeliest first; none where the model predicts nothing."""
    logits = look.trace.scores_at(position)
    if logits is None or not is_labelled(look, position):
        return []
    return look.model.top(logits, position, PREDICTIONS)


def is_labelled(look: Look, position: int) -> bool:
    """Return whether a position has an output of its own: a classifier reads its label at some positions only."""
    return not look.model.info.labels or position in look.model.places(look.trace)


def add_prediction(draft: Draft, position: int, reading: Followed) -> None:
    """Add a sentence on why no prediction can be followed, or why the one at hand is no guess."""
    look, model, trace = draft.look, draft.look.model, draft.look.trace
    if not reading.candidates:
        if is_labelled(look, position):
            case = "image" if "image" in model.info.reads else ""
            draft.note("flow-headless", draft.heading_for("headless", case), name=plain(model.info.name))
        else:
            read_at = look.spell_tokens(trace.tokens)[look.default_position].text
            draft.note("flow-not-labelled", "not labelled", token=plain(named(read_at)))
        return
    if model.info.mask and not model.info.labels and position not in model.places(trace):
        draft.note("flow-not-covered", "not covered", mask=plain(model.info.mask))
