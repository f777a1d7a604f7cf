"""A Hugging Face tokenizer of any kind, read as Tokens: what each one is, and where it stood in the text that was typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from transformers import BatchEncoding, PreTrainedTokenizerBase

from models.errors import panics_caught
from models.huggingface.guard import guard_of
from models.huggingface.offsets import align, settle
from models.huggingface.template import ChatTemplate
from models.reading.languages import language_of
from models.tokens import SURROGATE, Token, byte_of

if TYPE_CHECKING:
    from models.pieces.rules import Rules

_BYTE = re.compile("<0x([0-9A-F]{2})>")
Placed = list[tuple[int, tuple[int, int]]]  # the id of a token, and the start and end of its characters


class TextTokens:
    """A Hugging Face tokenizer that gives each token its text and its offsets.

    size: tokens in the vocabulary, added ones included. mask: the mask token as one types it, "" when there is none. pairs:
    whether it joins two texts with special tokens between, as encoders read them. special: the ids of special tokens, the
    unknown token among them. languages: the ids of a translator's languages by their codes; target_language: the code of the one
    that it writes where a text names none, or "".

    A token's text is what it stands for, as in `ByteLevelTokens`: "Ġdog" and "▁dog" are " dog", and a byte that is not a
    character by itself is spelt, "<0xF0>". "##" (WordPiece), "@@" and "</w>" stay, because no character says what they say:
    whether a word goes on. Special tokens have their own names. A special token that was typed has the offsets of what was
    typed; one that the tokenizer added has start == end, at the front or the end of its segment's text.

    May be used by several threads. A text that the tokenizer takes too long for is refused with a ValueError (see
    `models.huggingface.guard`).
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        self.tokenizer, self.guard = tokenizer, guard_of(tokenizer)
        self.size = len(tokenizer)
        self.lock = Lock()  # a translator's tokenizer changes its state between source and target
        self._spelling = _Spelling(tokenizer)
        self._texts: dict[int, tuple[str, bool]] = {}
        self._added = {id: str(token) for id, token in tokenizer.added_tokens_decoder.items()}
        self.special = frozenset(
            [
                *tokenizer.all_special_ids,
                *(id for id, token in tokenizer.added_tokens_decoder.items() if token.special),
                *getattr(tokenizer, "lang_code_to_id", {}).values(),  # M2M100 does not call its languages special
            ]
        )
        self.languages = _languages(tokenizer)
        self.target_language = str(getattr(tokenizer, "tgt_lang", None) or "") if self.languages else ""
        self.mask = str(tokenizer.mask_token or "")
        self.unknown = tokenizer.unk_token_id
        self.pairs = self._separates()

    def text(self, id: int) -> tuple[str, bool]:
        """Return the text of a token of the vocabulary, and whether it is a fragment of a character.

        An id that no token has, because the model's vocabulary is larger than the tokenizer's, is "<unused 50300>".
        """
        spelling = self._texts.get(id)
        if spelling is None:
            spelling = self._texts[id] = self._text(id)
        return spelling

    @panics_caught()
    def _text(self, id: int) -> tuple[str, bool]:
        piece = self._added.get(id)
        if piece is not None and id in self.special:
            return self._name_special(id, piece), False
        if piece is None:
            piece = self._piece(id)
            if piece is None:
                return f"<unused {id}>", False
            if id in self.special:
                return piece, False
        return self._spelling.text(piece, added=id in self._added)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text that tokens spell, without special tokens."""
        self.guard.check_ids(ids)
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    @cached_property
    def template(self) -> ChatTemplate:
        """The chat template of a tokenizer that has one."""
        return ChatTemplate(self.tokenizer)

    @cached_property
    def rules(self) -> Rules | None:
        """The rules by which a text becomes these tokens; None for a tokenizer in Python, or with parts in Python."""
        from models.pieces.rules import Rules

        if not self.tokenizer.is_fast:
            return None
        try:
            return Rules(self.tokenizer.backend_tokenizer, self._spelling.text, self.guard.check)
        except Exception:  # the library cannot write it down
            return None

    @panics_caught()
    def tokens(self, text: str, second: str | None = None) -> list[Token]:
        """Return the tokens of a text or a pair of texts, with special tokens; their ids are those of `tokenizer(text, second)`.

        Offsets count in `text`, those of segment 1 in `second`. Lone surrogates are read as U+FFFD. A text that names its
        language at its front (see `models.reading.languages`) is read as one in that language, without the sign.
        """
        texts = [SURROGATE.sub("\ufffd", part) for part in (text, second) if part is not None]
        language, at = language_of(texts[0], self.languages) if second is None else ("", 0)
        for part in [texts[0][at:], *texts[1:]]:
            self.guard.check(part)
        with self.lock:
            if not language:
                return self._read(self.tokenizer(*texts, verbose=False), texts)
            rest, tokenizer = [texts[0][at:]], cast(Any, self.tokenizer)
            before = tokenizer.src_lang
            try:
                tokenizer.src_lang = language
                return _shift(self._read(tokenizer(*rest, verbose=False), rest), at)
            finally:
                tokenizer.src_lang = before

    def types(self, tokens: Sequence[Token]) -> list[int] | None:
        """Return the token types that the tokenizer gives these tokens, not always their segments; None if it gives none."""
        if self.known_types is None:
            return None
        types_by_token = self.known_types
        return [
            types_by_token.get(
                (token.id if _is_added(token) else None, token.segment), types_by_token.get((None, token.segment), 0)
            )
            for token in tokens
        ]

    @cached_property
    def known_types(self) -> dict[tuple[int | None, int], int] | None:
        """The token types by the id of an added token (None for typed ones) and its segment, read from a text and a pair."""
        types_by_token: dict[tuple[int | None, int], int] = {}
        for texts in (["a"], ["a", "a"])[: 1 + self.pairs]:
            with self.lock:
                encoding = self.tokenizer(*texts, verbose=False)
                if "token_type_ids" not in encoding:
                    return None
                tokens = self._read(encoding, texts)
            for token, type in zip(tokens, encoding["token_type_ids"], strict=True):
                types_by_token.setdefault((token.id if _is_added(token) else None, token.segment), type)
        return types_by_token

    @panics_caught()
    def target(self, text: str) -> list[Token]:
        """Return the tokens of a text for the decoder of an encoder-decoder: `tokenizer(text_target=text)` without the last eos.

        A multilingual translator writes the language that the text names at its front, or else `target_language`; without either,
        no token names the language.
        """
        text = SURROGATE.sub("\ufffd", text)
        named, at = language_of(text, self.languages)
        language, rest = named or self.target_language, text[at:]
        self.guard.check(rest)
        with self.lock:
            if self.languages and not language:
                return self._read(self.tokenizer(rest, add_special_tokens=False, verbose=False), [rest])
            with self._writing(language):
                encoding = self.tokenizer(text_target=rest, verbose=False)
                with self._target_mode():
                    tokens = self._read(encoding, [rest])
        return _shift(tokens[:-1] if tokens and tokens[-1].id == self.tokenizer.eos_token_id else tokens, at)

    @contextmanager
    def _writing(self, language: str) -> Iterator[None]:
        tokenizer = cast(Any, self.tokenizer)
        if not self.languages:
            yield
            return
        before = tokenizer.tgt_lang
        try:
            tokenizer.tgt_lang = language
            yield
        finally:
            tokenizer.tgt_lang = before

    def placed(self, text: str, split: bool = False) -> Placed:
        """Return the tokens of a text with nothing added, for a caller that holds the lock.

        Special tokens written in the text are special tokens; with `split` they are read letter by letter.
        """
        tokenizer = self.tokenizer
        self.guard.check(text, split)
        if not tokenizer.is_fast:
            pieces = cast(list[str], tokenizer.tokenize(text, split_special_tokens=split))
            ids = cast(list[int], tokenizer.convert_tokens_to_ids(pieces))  # of several pieces it gives several
            surfaces = [None if piece == tokenizer.unk_token else self._surface(piece) for piece in pieces]
            return list(zip(ids, align(surfaces, text), strict=True))
        try:
            encodings = tokenizer(text, add_special_tokens=False, split_special_tokens=split, verbose=False).encodings
        finally:
            tokenizer.backend_tokenizer.encode_special_tokens = tokenizer.split_special_tokens
        assert encodings is not None, "a fast tokenizer has them"
        return list(zip(encodings[0].ids, encodings[0].offsets, strict=True))

    def _read(self, encoding: BatchEncoding, texts: list[str]) -> list[Token]:
        if self.tokenizer.is_fast:
            assert encoding.encodings is not None, "a fast tokenizer has them"
            fast = encoding.encodings[0]
            ids, types, sequences, spans = fast.ids, fast.type_ids, fast.sequence_ids, fast.offsets
        else:
            ids = list(encoding["input_ids"])
            types = encoding.get("token_type_ids", [0] * len(ids))
            sequences, spans = self._reconstruct(ids, texts)
        tokens = []
        for id, segment, (start, end) in zip(ids, _segments(sequences, types), spans, strict=True):
            token_text, fragment = self.text(id)
            tokens.append(Token(id, token_text, start, end, id in self.special, fragment, segment, id == self.unknown))
        for which, text in enumerate(texts):
            own = [i for i, sequence in enumerate(sequences) if sequence == which]
            for i, (start, end) in zip(own, settle([tokens[i] for i in own], text), strict=True):
                tokens[i] = _move(tokens[i], start, end)
        seen: set[int] = set()
        for i, (token, sequence) in enumerate(zip(tokens, sequences, strict=True)):
            if sequence is None:
                at = len(texts[token.segment]) if token.segment in seen else 0
                tokens[i] = Token(token.id, token.text, at, at, True, False, token.segment)
            else:
                seen.add(sequence)
        return tokens

    def _reconstruct(self, ids: list[int], texts: list[str]) -> tuple[list[int | None], list[tuple[int, int]]]:
        """Return the text of each token (None: added) and its offsets, for a tokenizer that reports neither."""
        sequences: list[int | None] = [None] * len(ids)
        spans = [(0, 0)] * len(ids)
        at = 0
        for which, (text, front) in enumerate(zip(texts, self._fronts(len(texts)), strict=True)):
            pieces = self.tokenizer.tokenize(text)
            body = cast(list[int], self.tokenizer.convert_tokens_to_ids(pieces))  # of several pieces it gives several
            start = _locate(body, ids, at, at + front)
            if start is None:  # it did something else with the text: go by the vocabulary
                return self._reconstruct_from_ids(ids, texts[0])
            at = start + len(pieces)
            sequences[start:at] = [which] * len(pieces)
            unknown = str(self.tokenizer.unk_token or "")
            typed = text.count(unknown) >= pieces.count(unknown)  # then each one is the name itself
            spans[start:at] = align([None if p == unknown and not typed else self._surface(p) for p in pieces], text)
        return sequences, spans

    def _reconstruct_from_ids(self, ids: list[int], text: str) -> tuple[list[int | None], list[tuple[int, int]]]:
        unknown = self.tokenizer.unk_token_id
        body = [i for i, id in enumerate(ids) if id == unknown or id not in self.special]
        sequences: list[int | None] = [None] * len(ids)
        spans = [(0, 0)] * len(ids)
        body_spans = align([None if ids[i] == unknown else self._surface(self._piece(ids[i]) or "") for i in body], text)
        for i, span in zip(body, body_spans, strict=True):
            sequences[i], spans[i] = 0, span
        return sequences, spans

    def _fronts(self, texts: int) -> list[int]:
        """Return how many special tokens a slow tokenizer puts before each of its texts."""
        layout = self.tokenizer.build_inputs_with_special_tokens(*([-1 - which] for which in range(texts)))
        places = [-1, *(layout.index(-1 - which) for which in range(texts))]
        return [after - before - 1 for before, after in pairwise(places)]

    def _surface(self, piece: str) -> bytes:
        if piece in self.tokenizer.get_added_vocab():
            return piece.encode()
        return self._spelling.surface(piece)

    def _piece(self, id: int) -> str | None:
        try:
            return cast(str | None, self.tokenizer.convert_ids_to_tokens(id))  # of one id it gives one piece
        except (IndexError, KeyError, ValueError, OverflowError):  # each family has its own way to say no
            return None

    def _name_special(self, id: int, piece: str) -> str:
        """Return the name of a special token. Canine's are characters for private use, which have names besides."""
        name = None if piece.isprintable() else getattr(self.tokenizer, "_convert_id_to_token", lambda _: None)(id)
        return name or piece

    @contextmanager
    def _target_mode(self) -> Iterator[None]:
        getattr(self.tokenizer, "_switch_to_target_mode", lambda: None)()
        try:
            yield
        finally:
            getattr(self.tokenizer, "_switch_to_input_mode", lambda: None)()

    def _separates(self) -> bool:
        """Return whether special tokens end the first text of a pair; a start token before the second (Llama) is not an end."""
        try:
            tokens = self.tokens("a", "a")
        except (TypeError, ValueError, NotImplementedError):
            return False
        typed = [i for i, token in enumerate(tokens) if token.start < token.end]
        second = next((i for i in typed if tokens[i].segment == 1), 0)
        first = max((i for i in typed if tokens[i].segment == 0), default=second)
        added = [token.id for token in tokens[first:second] if token.special and token.start == token.end]
        return any(id != tokens[0].id for id in added)


class _Spelling:
    """The spelling of a vocabulary's tokens, found by what the tokenizer makes of a few of them."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        def joins(pieces: list[str], text: str) -> bool:
            try:
                return tokenizer.convert_tokens_to_string(pieces).strip() == text
            except Exception:  # anything at all: a family that cannot read these pieces does not write so
                return False

        backend = getattr(tokenizer, "backend_tokenizer", None)
        # Without a decoder, the pre-tokenizer shows it.
        before = repr(backend.pre_tokenizer) if backend is not None and backend.decoder is None else ""
        self.byte_level = joins(["a", "Ġb"], "a b") or "ByteLevel" in before
        self.metaspace = not self.byte_level and (
            joins(["a", "▁b"], "a b") or "Metaspace" in before or hasattr(tokenizer, "sp_model")
        )
        self.bytes = not self.byte_level and joins(["Ã", "©"], "é")
        self.byte_fallback = not self.byte_level and _has_piece(tokenizer, "<0xF0>")
        self.prefix = "##" if joins(["a", "##b"], "ab") else ""
        self.suffix = getattr(getattr(backend, "model", None), "end_of_word_suffix", None) or (
            "@@" if joins(["a@@", "b"], "ab") else "</w>" if joins(["a</w>", "b</w>"], "a b") else ""
        )

    def text(self, piece: str, added: bool = False) -> tuple[str, bool]:
        """Return what a piece stands for, and whether it is a fragment of a character; an added token is literally itself."""
        if added:
            return piece.replace("▁", " ") if self.metaspace else piece, False
        suffix = self.suffix if self.suffix and piece.endswith(self.suffix) else ""
        raw_bytes = self._bytes(piece.removesuffix(suffix))
        try:
            return raw_bytes.decode("utf-8") + suffix, False
        except UnicodeDecodeError:
            return raw_bytes.decode("utf-8", "headlight_spell") + suffix, True

    def surface(self, piece: str) -> bytes:
        """Return the bytes of the text that a piece came from, without the marks for the ends of words."""
        return self._bytes(piece.removeprefix(self.prefix).removesuffix(self.suffix))

    def _bytes(self, piece: str) -> bytes:
        if self.byte_level:
            try:
                return bytes(byte_of()[character] for character in piece)
            except KeyError:  # not of the alphabet: literally itself
                return piece.encode("utf-8", "replace")
        if self.bytes and len(piece) == 1 and ord(piece) < 256:
            return bytes([ord(piece)])
        if self.byte_fallback and (byte := _BYTE.fullmatch(piece)):
            return bytes([int(byte[1], 16)])
        return (piece.replace("▁", " ") if self.metaspace else piece).encode("utf-8", "replace")


def _is_added(token: Token) -> bool:
    return token.special and token.start == token.end


def _has_piece(tokenizer: PreTrainedTokenizerBase, piece: str) -> bool:
    try:
        return tokenizer.convert_tokens_to_ids(piece) not in (None, tokenizer.unk_token_id)
    except (KeyError, ValueError):
        return False


def _segments(sequences: Sequence[int | None], types: Sequence[int]) -> Iterator[int]:
    """Yield 0 or 1 for each token. An added one goes by its token type where types differ, else by its left neighbour."""
    types_differ = 1 in types and 1 in sequences
    last = 0
    for sequence, type in zip(sequences, types, strict=True):
        if sequence is not None:
            last = sequence
        elif types_differ and type in (0, 1):
            last = type
        yield last


def _locate(body: list[int], ids: list[int], at: int, likely: int) -> int | None:
    """Return where the ids of a text begin among all, from `at` on. The likely place is tried first."""
    places = [likely, *range(at, len(ids) - len(body) + 1)]
    return next((place for place in places if ids[place : place + len(body)] == body), None)


def _languages(tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """Return the ids of the languages that a tokenizer puts around its texts, by their codes; most tokenizers have none."""
    if not hasattr(tokenizer, "set_tgt_lang_special_tokens"):
        return {}
    codes = getattr(tokenizer, "lang_code_to_id", None)
    if codes is None:  # NLLB has them among its special tokens, and nowhere else
        named = {str(token) for token in tokenizer.special_tokens_map.values() if not isinstance(token, list)}
        special = {str(token): id for id, token in tokenizer.added_tokens_decoder.items() if token.special}
        codes = {text: id for text, id in special.items() if "_" in text and text not in named}
    return dict(codes)


def _shift(tokens: list[Token], at: int) -> list[Token]:
    """Return the tokens of a text's rest with offsets in the whole text; tokens that were added in front stay there."""
    return [token if token.special and token.end == 0 else _move(token, token.start + at, token.end + at) for token in tokens]


def _move(token: Token, start: int, end: int) -> Token:
    if (token.start, token.end) == (start, end):
        return token
    return Token(token.id, token.text, start, end, token.special, token.fragment, token.segment, token.unknown)
