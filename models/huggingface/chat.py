"""Turns a text into the tokens of a chat turn, with a tokenizer's chat template.

What a visitor typed never becomes one of the template's signs: "<|im_end|>" in a text is text.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.errors import panics_caught
from models.huggingface.offsets import settle
from models.huggingface.text import Placed, TextTokens
from models.tokens import SURROGATE, Token, Turn

MARK = "\uf8f0\uf8f1\uf8f0"  # for private use, so that no template has it, and no tokenizer as CANINE has others


def chats(vocabulary: TextTokens) -> bool:
    """Return whether the tokenizer has a chat template."""
    return bool(vocabulary.tokenizer.chat_template)


@panics_caught()
def as_chat(vocabulary: TextTokens, text: str) -> Turn:
    """Return the text as a user's turn, with the beginning of the answer.

    The tokens are those of `apply_chat_template`, unless signs of the template stand in the text: these are read letter by
    letter. Errors: ValueError, a sentence, for a template that cannot be used.
    """
    text = SURROGATE.sub("\ufffd", text)
    before, after = _around(vocabulary)
    whole = vocabulary.template.rendered(text)
    typed = whole[len(before) : len(whole) - len(after)]
    if not (whole.startswith(before) and whole.endswith(after)) or typed.strip() != text.strip():
        raise ValueError("The chat template of this model changes the text that it is given. Switch the chat turn off.")
    with vocabulary._lock:
        frame = before + MARK + after
        signs = vocabulary.special | _signs(vocabulary, vocabulary.placed(frame))

        def used(written: str, placed: Placed) -> list[int]:
            unknown = vocabulary.tokenizer.unk_token_id, vocabulary.tokenizer.unk_token  # it stands for text that is not its name
            parts = [(id, written[start:end].strip()) for id, (start, end) in placed]
            return [id for id, part in parts if id in signs and (id != unknown[0] or part == unknown[1])]

        own, placed = used(frame, vocabulary.placed(frame)), vocabulary.placed(whole)
        if used(whole, placed) != own:
            placed = _apart(vocabulary, before, typed, after, signs)
        if used(whole, placed) != own:
            raise ValueError("The text has a sign in it that the chat template uses. Take it out, or switch the chat turn off.")
    return Turn(whole, tuple(_tokens(vocabulary, placed, len(before), typed, text)))


def _around(vocabulary: TextTokens) -> tuple[str, str]:
    parts = vocabulary.template.rendered(MARK).split(MARK)
    if len(parts) != 2:
        raise ValueError("The chat template of this model does not say the text once. Switch the chat turn off.")
    return parts[0], parts[1]


def _signs(vocabulary: TextTokens, placed: Placed) -> frozenset[int]:
    """The tokens that a template has and no text is cut into: those that were added to the vocabulary, spaces aside."""
    added = vocabulary.tokenizer.added_tokens_decoder
    return frozenset(id for id, _ in placed if id in added and str(added[id]).strip())


def _apart(vocabulary: TextTokens, before: str, typed: str, after: str, signs: frozenset[int]) -> Placed:
    """The tokens where what is typed, with what stands between it and the nearest signs, is read as letters."""
    first = max([end for id, (_, end) in vocabulary.placed(before) if id in signs], default=0)
    last = min([start for id, (start, _) in vocabulary.placed(after) if id in signs], default=len(after))
    parts = (before[:first], before[first:] + typed + after[:last], after[last:])
    found: Placed = []
    at = 0
    for number, part in enumerate(parts):
        found += [(id, (at + start, at + end)) for id, (start, end) in vocabulary.placed(part, split=number == 1)]
        at += len(part)
    return found


def _tokens(vocabulary: TextTokens, placed: Placed, first: int, typed: str, text: str) -> list[Token]:
    """With what was typed where it was typed; what the template put there has start == end."""
    begin = max(0, text.find(typed))
    front, own, back = list[Token](), list[Token](), list[Token]()
    for id, (start, end) in placed:
        shown, fragment = vocabulary.text(id)
        word = id not in vocabulary.special or id == vocabulary.tokenizer.unk_token_id
        inside = start < first + len(typed) and end > first and word
        at = [begin + min(max(one - first, 0), len(typed)) for one in (start, end)]
        side = own if inside else back if end > first else front
        begins, ends = at if inside else [len(text)] * 2 if side is back else [0, 0]
        side.append(Token(id, shown, begins, ends, id in vocabulary.special, fragment))
    return [*front, *_settled(own, text), *back]


def _settled(tokens: Sequence[Token], text: str) -> list[Token]:
    spans = settle(tokens, text)
    return [Token(token.id, token.text, *span, token.special, token.fragment) for token, span in zip(tokens, spans, strict=True)]
