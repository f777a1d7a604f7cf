"""The rules of a tokenizer of the library `tokenizers`. The library does everything except cutting a word: it does not show those
steps, so they are computed here again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import Any

from tokenizers import Tokenizer

from models.errors import panics_caught
from models.huggingface.names import short
from models.pieces.bpe import PairMerges
from models.pieces.parts import words_of
from models.pieces.spelling import PieceText, Spelling
from models.pieces.unigram import BestSum
from models.pieces.values import Piece, Word
from models.pieces.wordpiece import LongestFirst

CUTTERS = {cutter.kind: cutter for cutter in (PairMerges, LongestFirst, BestSum)}
RANDOM = ("dropout", "alpha", "nbest_size")  # settings by which some tokenizers cut differently each time
SHOWN = 300  # characters of a normalizer or a pre-tokenizer: one that carries a table is long
REMEMBERED = 4096  # words
# A model without any letter: each word comes back uncut, as one unknown piece. No added token has its id, 0.
UNCUT = {"type": "Unigram", "unk_id": 0, "vocab": [["\uffff", 0.0]], "byte_fallback": False}


class Rules:
    """The steps by which one tokenizer cuts a text into tokens.

    kind: "BPE" | "WordPiece" | "Unigram" | "WordLevel"; cuts: whether it cuts words at all, which WordLevel does not; normalizer,
    pre_tokenizer: as the library writes them, "" for none. check: takes each text before it is read, and may raise. Errors: those
    of the library for a tokenizer with parts in Python, which it cannot write as JSON.
    """

    def __init__(self, backend: Tokenizer, text_of: PieceText, check: Callable[[str], None] = lambda text: None):
        with panics_caught():
            settings = json.loads(backend.to_str())
        self._check = check
        model: dict[str, Any] = settings["model"]
        self.kind: str = model["type"]
        self.cuts = self.kind in CUTTERS
        self.normalizer, self.pre_tokenizer = (_describe_step(step) for step in (backend.normalizer, backend.pre_tokenizer))
        self._cut = lru_cache(REMEMBERED)(self._cutter(model, text_of))
        self._own = _without_randomness(settings, backend)
        self._added = {token["content"]: token["id"] for token in settings["added_tokens"]}
        bare = settings | {"truncation": None, "padding": None, "post_processor": None, "model": UNCUT}
        self._splits, self._normalizes = (_read(parts, backend) for parts in (bare, bare | {"pre_tokenizer": None}))

    def ids(self, text: str) -> list[int]:
        """Return the tokenizer's own token ids, without those that it adds by itself."""
        self._check(text)
        return self._own.encode(text, add_special_tokens=False).ids

    def sections(self, text: str) -> list[str]:
        """Return the text after the normalizer, in parts between added tokens."""
        return [section for section, _ in self._whole(self._normalizes, text)]

    def words(self, text: str) -> Iterator[Word]:
        """Yield the words that the pre-tokenizer passes to the model, with the steps that cut them."""
        for word, id in self._whole(self._splits, text):
            if id is None:
                yield from self._cut(word)
            else:
                yield Word(word, word, (Piece(word, word, 0, 1, id),), added=True)

    def _whole(self, tokenizer: Tokenizer, text: str) -> Iterator[tuple[str, int | None]]:
        """Yield the uncut words of a text; and the id of each that is an added token, else None."""
        self._check(text)
        encoding, contents = tokenizer.encode(text, add_special_tokens=False), tokenizer.get_added_tokens_decoder()
        entries = zip(encoding.word_ids, encoding.tokens, encoding.ids, strict=True)
        for _, group in groupby(entries, lambda entry: entry[0]):
            pieces = list(group)
            sign = contents.get(pieces[0][2])
            yield "".join(part for _, part, _ in pieces), None if sign is None else self._added[sign.content]

    def _cutter(self, model: dict[str, Any], text_of: PieceText) -> Callable[[str], Any]:
        if self.cuts:
            cutter = CUTTERS[self.kind](model, text_of)
            return lambda word: words_of(cutter, word)
        spelling = Spelling(model["vocab"], text_of)

        def look_up(word: str) -> tuple[Word, ...]:
            known = word in spelling.ids
            piece = spelling.piece(word, 0, 1) if known else spelling.unknown(model["unk_token"], 0, 1)
            return (Word(word, text_of(word)[0], (piece,)),)

        return look_up


def _without_randomness(settings: dict[str, Any], backend: Tokenizer) -> Tokenizer:
    """Return the tokenizer itself; for one that cuts differently each time, a copy without randomness."""
    model = settings["model"]
    if not any(model.get(name) for name in RANDOM):
        return backend
    return _read(settings | {"model": model | {name: None for name in RANDOM if name in model}}, backend)


def _read(settings: dict[str, Any], backend: Tokenizer) -> Tokenizer:
    """Build a tokenizer from its JSON settings."""
    with panics_caught():
        tokenizer = Tokenizer.from_str(json.dumps(settings))
    tokenizer.encode_special_tokens = backend.encode_special_tokens
    return tokenizer


def _describe_step(step: object) -> str:
    return "" if step is None else short(step, SHOWN)
