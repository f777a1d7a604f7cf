"""Text of a model's likeliest tokens after another text: whole answers, and characters that take several tokens.

A token may hold a part of a character only, so ids are decoded together; the texts of single tokens are never joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from models.reading.languages import language_of
from models.tokens import bytes_of

if TYPE_CHECKING:
    from models.language_model import LanguageModel

LONGEST = 4  # bytes of a character in UTF-8
INCOMPLETE = "unexpected end of data"  # Python's reason for bytes that lack the end of a character


def answers(model: LanguageModel, text: str, begun: str = "", most: int = 40) -> Iterator[str]:
    """Yield the growing answer of an encoder-decoder to a text, `begun` and the likeliest tokens after it, at each whole
    character or longer token, until the model ends it or `most` tokens have followed.

    Errors: ValueError as those of `LanguageModel.trace`.
    """
    before, continuation = [token.id for token in model.trace(text, begun).target], list[int]()
    only_sign = language_of(begun, model.info.languages)[1] == len(begun)  # of a language, or there is nothing yet
    for _ in range(most):
        best = model.predict(text, [*before, *continuation], top=1)[-1]
        if model.is_special(best.id):
            return
        continuation.append(best.id)
        if whole(model, continuation):
            after = model.spell(continuation, before)
            yield begun + (after.lstrip(" ") if only_sign else after)


def characters(model: LanguageModel, text: str, id: int, target: str = "") -> str:
    """Return the text of a token that follows a text, or an encoder-decoder's target. A token that begins a character is
    completed by the likeliest tokens; "" for a token in the middle of a character, and for one that nothing completes.

    Errors: ValueError for an id that is no token.
    """
    token_text, fragment = model.vocabulary.text(id)
    if not fragment:
        return token_text
    trace = model.trace(text, target)
    before, ids = [token.id for token in trace.read], [id]
    while (trouble := _trouble(model, ids)) == INCOMPLETE and len(ids) < LONGEST:
        read = (text, [*before, *ids]) if trace.target else ([*before, *ids], "")
        logits = model.trace(*read).logits_at(-1)
        assert logits is not None, "it predicted the first of them"
        best = (int(best) for best in np.argsort(-logits, kind="stable"))
        fitting = (id for id in best if model.vocabulary.text(id)[1] and _trouble(model, [*ids, id]) in ("", INCOMPLETE))
        ids.append(next(fitting, id))  # without one, the first again: it continues nothing
    return "" if trouble else _spell(model, ids).decode("utf-8")


def whole(model: LanguageModel, ids: Sequence[int]) -> bool:
    """Return whether no character is left incomplete after the last of these tokens."""
    last = next((i for i in range(len(ids), 0, -1) if not model.vocabulary.text(ids[i - 1])[1]), 0)
    return _trouble(model, ids[last:]) != INCOMPLETE


def _trouble(model: LanguageModel, ids: Sequence[int]) -> str:
    """Return Python's reason why the bytes of these tokens are no UTF-8; "" where they are."""
    try:
        _spell(model, ids).decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason
    return ""


def _spell(model: LanguageModel, ids: Sequence[int]) -> bytes:
    """Return the bytes of tokens, including parts of characters."""
    return b"".join(bytes_of(*model.vocabulary.text(id)) for id in ids)
