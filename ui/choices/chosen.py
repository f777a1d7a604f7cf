"""The choices of a visitor that hold for any text, read once from the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui import state
from ui.device import is_phone, is_touched
from ui.escaping import number_below
from ui.look import Choices, Look, can_be_kept, kind_of, look_of, tokens_at_most

if TYPE_CHECKING:
    from models.info import ModelInfo
    from models.language_model import LanguageModel
    from models.trace import Trace


def look_at(model: LanguageModel, trace: Trace, second: str) -> Look:
    """Return the look at the text in the box through the model in use. second: the text in the second box."""
    settle_token(tokens_at_most(trace, chosen_kind(model.info)))
    return look_of(model, trace, second, choices())


def choices() -> Choices:
    """Return all present choices; `ui.picture.mount.composed` adds the technical terms that are already marked."""
    return Choices(
        state.level(),
        _attention(),
        state.LAYER.get(),
        state.HEAD.get(),
        state.TOKEN.get(),
        bool(state.SPECIAL.get()),
        bool(state.RENORMALISED.get()),
        bool(state.WHOLE_WORDS.get()),
        is_touched(),
        is_phone(),
    )


def chosen_kind(info: ModelInfo) -> str:
    """Return the kind of a model's attention that is shown now."""
    return kind_of(info, state.level(), _attention())


def settle_token(count: int) -> None:
    """Select the token that the link asks for, if the text is long enough, and deselect a token that a shorter text has lost."""
    if (linked_token := state.take_linked_value(state.TOKEN)) is not None:
        if (number := number_below(linked_token, count)) is not None:
            state.TOKEN.set(number)
        else:
            state.complain(state.TOKEN, linked_token, "the token")
    position = state.TOKEN.get()
    if position is not None and not can_be_kept(position, count):
        position = None
        state.TOKEN.set(None)
    state.keep(state.TOKEN, position, None)


def _attention() -> str:
    chosen = state.ATTENTION.get()
    return (chosen if chosen in state.ATTENTION.values else state.ATTENTION.default).lower()
