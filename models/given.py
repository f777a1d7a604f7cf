"""What a model is given to read: a text, or the ids of its tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeAlias

from models.long import beginning, moved
from models.tokens import Token

if TYPE_CHECKING:
    from models.language_model import LanguageModel

Text: TypeAlias = str | Sequence[int]  # a text, or ids
SECOND = "The second text"


class Spelt(str):
    """What tokens spell that were given by their ids. These very tokens are read, whatever a tokenizer would make of the text."""

    tokens: list[Token]

    def __bool__(self) -> bool:
        return bool(self.tokens)  # signs spell nothing, and are read


def are_ids(given: object) -> bool:
    """Whether this is one text, given as ids: a list of numbers, an array or a tensor with one dimension."""
    if isinstance(given, str | bytes):
        return False
    if (dimensions := getattr(given, "ndim", None)) is not None:
        return dimensions == 1
    return isinstance(given, Sequence) and len(given) > 0 and all(isinstance(one, Number) for one in given)


def text_of(model: LanguageModel, given: Any, what: str = "The text") -> str:
    """A text as it is, or what ids spell: `Spelt`. what: it is called in a sentence; `SECOND` where it is not the first one.

    Errors: TypeError for what is neither, ValueError for an id that the model does not have.
    """
    if isinstance(given, str):
        return given
    if hasattr(given, "tolist"):  # of numpy or torch
        given = given.tolist()
    if not isinstance(given, Sequence) or isinstance(given, bytes):
        kind = "None" if given is None else f"of type {type(given).__name__}"
        raise TypeError(f"{what} must be a str or a list of token ids; it is {kind}.")
    if strange := [id for id in given if not isinstance(id, int) or isinstance(id, bool)]:
        raise TypeError(f"{what} holds {strange[0]!r}: the ids of one text are a list of whole numbers.")
    if strange := [id for id in given if not 0 <= id < model.ids]:
        raise ValueError(f"{model.info.name} has no token {strange[0]}: its tokens are 0 to {model.ids - 1:,}.")
    if what == "The text" and not given:
        raise ValueError("There is no token to read: the list of ids is empty.")
    segment = int(what == SECOND and model.info.kind == "encoder")
    tokens: list[Token] = []
    for id in given:
        (shown, fragment), special = model.vocabulary.text(id), model.is_special(id)
        at = tokens[-1].end if tokens else 0
        tokens.append(Token(id, shown, at, at if special else at + len(shown), special, fragment, segment))
    found = Spelt("".join(token.text for token in tokens if not token.special))
    found.tokens = tokens
    return found


def tokens_at_end(tokens_of: Callable[[str], list[Token]], text: str, room: int | None) -> list[Token]:
    """The tokens of a text, or of as much of its end as is more than what fits; those that were given."""
    if isinstance(text, Spelt):
        return list(text.tokens)
    start = beginning(tokens_of, text, room)
    return moved(tokens_of(text[start:]), start)
