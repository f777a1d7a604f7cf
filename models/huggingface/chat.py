"""A text as a turn of a chat, as tokens: with what a tokenizer's chat template puts around it.

What a visitor typed never becomes a special token of the template: "<|im_end|>" in a text is text.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.errors import panics_caught
from models.huggingface.offsets import settle
from models.huggingface.text import Placed, TextTokens
from models.tokens import SURROGATE, Token, Turn

MARK = "\uf8f0\uf8f1\uf8f0"  # for private use, so that no template has it, and no tokenizer as CANINE has others


def has_chat_template(vocabulary: TextTokens) -> bool:
    """Return whether the tokenizer has a chat template."""
    return bool(vocabulary.tokenizer.chat_template)


@panics_caught()
def as_chat(vocabulary: TextTokens, text: str) -> Turn:
    """Return the text as what somebody says, with the beginning of an answer to it.

    The tokens are those of `apply_chat_template`, unless special tokens of the template stand in the text: these are read letter
    by letter. Errors: ValueError, a sentence, for a template that cannot be used.
    """
    text = SURROGATE.sub("\ufffd", text)
    before, after = _around(vocabulary)
    whole = vocabulary.template.render(text)
    typed = whole[len(before) : len(whole) - len(after)]
    if not (whole.startswith(before) and whole.endswith(after)) or typed.strip() != text.strip():
        raise ValueError("The chat template of this model changes the text that it is given. Switch the chat turn off.")
    with vocabulary.lock:
        frame = before + MARK + after
        special_ids = vocabulary.special | _added_tokens(vocabulary, vocabulary.placed(frame))

        def template_tokens(source: str, placed: Placed) -> list[int]:
            unknown = vocabulary.tokenizer.unk_token_id, vocabulary.tokenizer.unk_token  # it stands for text that is not its name
            parts = [(id, source[start:end].strip()) for id, (start, end) in placed]
            return [id for id, part in parts if id in special_ids and (id != unknown[0] or part == unknown[1])]

        expected_ids, placed = template_tokens(frame, vocabulary.placed(frame)), vocabulary.placed(whole)
        if template_tokens(whole, placed) != expected_ids:
            placed = _split_at_special_tokens(vocabulary, before, typed, after, special_ids)
        if template_tokens(whole, placed) != expected_ids:
            raise ValueError("The text has a sign in it that the chat template uses. Take it out, or switch the chat turn off.")
    return Turn(whole, tuple(_tokens(vocabulary, placed, len(before), typed, text)))


def _around(vocabulary: TextTokens) -> tuple[str, str]:
    """Return what the template puts before and after a text. Errors: ValueError, a sentence."""
    parts = vocabulary.template.render(MARK).split(MARK)
    if len(parts) != 2:
        raise ValueError("The chat template of this model does not contain the text exactly once. Switch the chat turn off.")
    return parts[0], parts[1]


def _added_tokens(vocabulary: TextTokens, placed: Placed) -> frozenset[int]:
    """Return the ids of tokens that were added to the vocabulary, spaces aside: no text is cut into these."""
    added = vocabulary.tokenizer.added_tokens_decoder
    return frozenset(id for id, _ in placed if id in added and str(added[id]).strip())


def _split_at_special_tokens(vocabulary: TextTokens, before: str, typed: str, after: str, special_ids: frozenset[int]) -> Placed:
    """Read what was typed, up to the nearest special tokens on both sides, as letters, and the rest of the template as usual."""
    first = max([end for id, (_, end) in vocabulary.placed(before) if id in special_ids], default=0)
    last = min([start for id, (start, _) in vocabulary.placed(after) if id in special_ids], default=len(after))
    parts = (before[:first], before[first:] + typed + after[:last], after[last:])
    placed_tokens: Placed = []
    at = 0
    for number, part in enumerate(parts):
        placed_tokens += [(id, (at + start, at + end)) for id, (start, end) in vocabulary.placed(part, split=number == 1)]
        at += len(part)
    return placed_tokens


def _tokens(vocabulary: TextTokens, placed: Placed, first: int, typed: str, text: str) -> list[Token]:
    """Return tokens with the offsets of what was typed; those of the template have start == end."""
    begin = max(0, text.find(typed))
    front, own, back = list[Token](), list[Token](), list[Token]()
    for id, (start, end) in placed:
        token_text, fragment = vocabulary.text(id)
        word = id not in vocabulary.special or id == vocabulary.tokenizer.unk_token_id
        inside = start < first + len(typed) and end > first and word
        at = [begin + min(max(offset - first, 0), len(typed)) for offset in (start, end)]
        side = own if inside else back if end > first else front
        begins, ends = at if inside else [len(text)] * 2 if side is back else [0, 0]
        side.append(Token(id, token_text, begins, ends, id in vocabulary.special, fragment))
    return [*front, *_settle_tokens(own, text), *back]


def _settle_tokens(tokens: Sequence[Token], text: str) -> list[Token]:
    spans = settle(tokens, text)
    return [Token(token.id, token.text, *span, token.special, token.fragment) for token, span in zip(tokens, spans, strict=True)]
