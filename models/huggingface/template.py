"""A chat template, which anybody may have written, rendered in a confined process."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from transformers import PreTrainedTokenizerBase

from models.huggingface.answerer import Answerer, LimitExceeded
from models.huggingface.names import short
from models.numbers.sizes import size

SECONDS, EACH = 1.0, 1e-5  # of computing that a text may take, and as much more for each of its characters
MEMORY = 200_000_000  # bytes that it may take
REMEMBERED = 64  # texts


class ChatTemplate:
    """The chat template of a tokenizer. Safe to use from many threads."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        self._tokenizer, self._answerer, self._lock = tokenizer, Answerer("render", MEMORY), Lock()
        self._remembered: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._refusal = ""

    def render(self, text: str) -> str:
        """Return the text as what somebody says, with the beginning of an answer to it. Errors: ValueError, a sentence."""
        with self._lock:
            if self._refusal:
                raise ValueError(self._refusal)
            key = str(self._tokenizer.chat_template), text
            if key not in self._remembered:
                self._remembered[key] = self._render_now(text)
            self._remembered.move_to_end(key)
            while len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
            return self._remembered[key]

    def _render_now(self, text: str) -> str:
        try:
            template = self._tokenizer.get_chat_template()
            return self._answerer.ask([template, self._tokenizer.special_tokens_map, text], SECONDS + EACH * len(text))
        except LimitExceeded:
            self._refusal = (
                f"The chat template of this model takes more than {SECONDS:g} s or {size(MEMORY)} for a text, so it is not used. "
                "Switch the chat turn off."
            )
            raise ValueError(self._refusal) from None
        except Exception as error:  # whatever a template of anybody's does
            raise ValueError(f"The chat template of this model cannot be used: {short(error, 120)}") from error
