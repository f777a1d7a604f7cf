"""The tokens that a model of the Hub reads of its texts: with start tokens, languages, and what fits in its context."""

from __future__ import annotations

from transformers import PreTrainedConfig, PreTrainedTokenizerBase

from models.huggingface.text import TextTokens
from models.reading.inputs import Spelt, tokens_at_end
from models.reading.long_texts import beginning, moved
from models.tokens import Token


class ModelTexts:
    """The texts of one model as tokens.

    config: of the whole network. kind: "decoder" | "encoder" | "encoder-decoder". labels: whether it is a classifier. start: the
    token that stands before the first one. `room`: the longest input in tokens, None without a limit.
    """

    def __init__(self, vocabulary: TextTokens, config: PreTrainedConfig, kind: str, labels: bool, name: str):
        self.vocabulary, self.config, self.kind, self.labels, self.name = vocabulary, config, kind, labels, name
        self.start = _start(config, vocabulary.tokenizer)

    def tokens(self, text: str, second: str = "") -> list[Token]:
        """Return the tokens of a text, or of two, however long; at least one. A decoder's have no end that nobody typed."""
        tokens = self.vocabulary.tokens(text, second or None)
        if self.kind == "decoder" and not self.labels:
            while len(tokens) > 1 and tokens[-1].special and tokens[-1].start == tokens[-1].end:
                tokens = tokens[:-1]  # what comes after the end is not what comes next
        return tokens or [self.special(self.start)]

    def fitting(self, text: str, target: str, room: int | None) -> tuple[list[Token], int]:
        """Return the tokens of one text, or two, that fit, and how many characters of the text do not.

        Errors: ValueError for a second text where only one is read.
        """
        if target and not (self.kind == "encoder" and self.vocabulary.pairs):
            raise ValueError(f"{self.name} reads one text at a time. Leave the second one empty.")
        if isinstance(text, Spelt) or isinstance(target, Spelt):
            if target and not (isinstance(text, Spelt) and isinstance(target, Spelt)):
                raise ValueError("Give both texts of a pair as text, or both as ids of tokens.")
            return self.fit([*tokens_at_end(self.tokens, text, room), *(getattr(target, "tokens", ()))], text, room)
        starts = [beginning(self.tokens, side, room) for side in (text, target)]
        return self.fit(moved(self.tokens(text[starts[0] :], target[starts[1] :]), *starts), text, room)

    def fitting_end(self, text: str, room: int | None) -> tuple[list[Token], int]:
        """Return the last tokens of a text that fit, and how many characters do not."""
        return self.fit(tokens_at_end(self.tokens, text, room), text, room)

    def fitting_both(self, text: str, target: str, room: int | None) -> tuple[list[Token], int, list[Token]]:
        """Return the tokens of a source and of a target that fit, with how many characters of the source do not between them."""
        tokens = tokens_at_end(self.vocabulary.tokens, text, room) or [self.special(self.start)]
        tokens, cut = self.fit(tokens, text, room)
        if self.labels:  # a classifier's decoder reads the text, whatever the target is
            return tokens, cut, [self.special(self.config.decoder_start_token_id), *tokens[:-1]]
        target_tokens, _ = self.fit(tokens_at_end(self.decoder_tokens, target, room), target, room)
        return tokens, cut, target_tokens

    def fit(self, tokens: list[Token], text: str, room: int | None) -> tuple[list[Token], int]:
        """Drop tokens after the special ones at the front until the rest fits: the rest, and the number of dropped characters."""
        if room is None or len(tokens) <= room:
            return tokens, 0
        front = next((i for i, token in enumerate(tokens) if not (token.special and token.start == token.end)), 0)
        front = min(front, room - 1)
        tokens = [*tokens[:front], *tokens[front + len(tokens) - room :]]
        leftmost = tokens[front]
        return tokens, leftmost.start if leftmost.segment == 0 else len(text)

    def decoder_tokens(self, target: str) -> list[Token]:
        """Return what the decoder reads: its start token, then the target, without what ends it.

        A model that names no start (mBART) is started by the language that its tokenizer puts at the end; a translator of many
        languages (NLLB, M2M100) by its start token and then the language.
        """
        if self.vocabulary.languages:
            return self._decoder_tokens_in_language(target)
        tokens = self.vocabulary.target(target or "a")  # the letter shows what stands around a text
        body = [i for i, token in enumerate(tokens) if not token.special or token.start < token.end]
        if not body and target:
            return self.decoder_tokens("")  # nothing but spaces
        first, end = (body[0], body[-1] + 1) if body else (0, 0)
        start = self.start if self._names_start or end == len(tokens) else tokens[-1].id
        tokens = tokens[:end] if target else tokens[:first]
        return tokens if [token.id for token in tokens[:1]] == [start] else [self.special(start), *tokens]

    def _decoder_tokens_in_language(self, target: str) -> list[Token]:
        languages = self.vocabulary.languages.values()
        tokens = self.vocabulary.target(target)
        added = [token.id for token in tokens if token.special and token.start == token.end]
        first = [id for id in added if id in languages][:1]
        if self._names_start and not (first and self.start in languages):
            first = [self.start, *first]
        body = [token for token in tokens if not token.special or token.start < token.end]
        return [*map(self.special, first or [self.start]), *body]

    @property
    def _names_start(self) -> bool:
        return getattr(self.config, "decoder_start_token_id", None) is not None

    def special(self, id: int) -> Token:
        """Return a token that nobody typed, by its id."""
        return Token(id, self.vocabulary.text(id)[0], 0, 0, special=True)


def _start(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase) -> int:
    """Return the token that stands before the first one: the decoder's start, or the beginning or end of text."""
    choices = (
        getattr(config, "decoder_start_token_id", None),
        tokenizer.bos_token_id,
        tokenizer.eos_token_id,
        tokenizer.pad_token_id,
    )
    return next((id for id in choices if id is not None), 0)
