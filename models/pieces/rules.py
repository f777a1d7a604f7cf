"""What a tokenizer of the library `tokenizers` does with a text, asked from the library itself: only the cutting of a word, whose
steps the library keeps to itself, is done here once more."""

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
from models.pieces.spelling import Spelling, Spelt
from models.pieces.unigram import BestSum
from models.pieces.values import Piece, Word
from models.pieces.wordpiece import LongestFirst

CUTTERS = {one.kind: one for one in (PairMerges, LongestFirst, BestSum)}
RANDOM = ("dropout", "alpha", "nbest_size")  # by which some tokenizers cut differently each time
SHOWN = 300  # characters of a normalizer or a pre-tokenizer: one that carries a table is long
REMEMBERED = 4096  # words
# A model that knows no letter: each word comes back as it was, as one unknown piece. No added token has its id, 0.
UNCUT = {"type": "Unigram", "unk_id": 0, "vocab": [["\uffff", 0.0]], "byte_fallback": False}


class Rules:
    """How one tokenizer comes to its tokens.

    kind: "BPE" | "WordPiece" | "Unigram" | "WordLevel"; cuts: whether it cuts words at all, which WordLevel does not; normalizer,
    pre_tokenizer: as the library writes them, "" for none. check: is given each text before it is read, and may raise. Errors: what the library raises for a tokenizer with parts in Python,
    which it cannot write down.
    """

    def __init__(self, backend: Tokenizer, spelt: Spelt, check: Callable[[str], None] = lambda text: None):
        with panics_caught():
            described = json.loads(backend.to_str())
        self._check = check
        model: dict[str, Any] = described["model"]
        self.kind: str = model["type"]
        self.cuts = self.kind in CUTTERS
        self.normalizer, self.pre_tokenizer = (_written(one) for one in (backend.normalizer, backend.pre_tokenizer))
        self._cut = lru_cache(REMEMBERED)(self._cutting(model, spelt))
        self._own = _without_chance(described, backend)
        self._added = {one["content"]: one["id"] for one in described["added_tokens"]}
        bare = described | {"truncation": None, "padding": None, "post_processor": None, "model": UNCUT}
        self._splits, self._normalizes = (_read(one, backend) for one in (bare, bare | {"pre_tokenizer": None}))

    def ids(self, text: str) -> list[int]:
        """The tokenizer's own tokens, without those that it adds by itself."""
        self._check(text)
        return self._own.encode(text, add_special_tokens=False).ids

    def sections(self, text: str) -> list[str]:
        """The text after the normalizer, in parts: added tokens are cut out of it."""
        return [written for written, _ in self._whole(self._normalizes, text)]

    def words(self, text: str) -> Iterator[Word]:
        """What the pre-tokenizer gives to the model, and how that cuts it."""
        for written, id in self._whole(self._splits, text):
            if id is None:
                yield from self._cut(written)
            else:
                yield Word(written, written, (Piece(written, written, 0, 1, id),), added=True)

    def _whole(self, tokenizer: Tokenizer, text: str) -> Iterator[tuple[str, int | None]]:
        """What a tokenizer would cut, uncut; and the id of what is an added token."""
        self._check(text)
        found, contents = tokenizer.encode(text, add_special_tokens=False), tokenizer.get_added_tokens_decoder()
        each = zip(found.word_ids, found.tokens, found.ids, strict=True)
        for _, group in groupby(each, lambda one: one[0]):
            these = list(group)
            sign = contents.get(these[0][2])
            yield "".join(written for _, written, _ in these), None if sign is None else self._added[sign.content]

    def _cutting(self, model: dict[str, Any], spelt: Spelt) -> Callable[[str], Any]:
        if self.cuts:
            cutter = CUTTERS[self.kind](model, spelt)
            return lambda word: words_of(cutter, word)
        spelling = Spelling(model["vocab"], spelt)

        def looked_up(word: str) -> tuple[Word, ...]:
            known = word in spelling.ids
            piece = spelling.piece(word, 0, 1) if known else spelling.unknown(model["unk_token"], 0, 1)
            return (Word(word, spelt(word)[0], (piece,)),)

        return looked_up


def _without_chance(described: dict[str, Any], backend: Tokenizer) -> Tokenizer:
    """The tokenizer itself; of one that cuts differently each time, the same without that."""
    model = described["model"]
    if not any(model.get(name) for name in RANDOM):
        return backend
    return _read(described | {"model": model | {name: None for name in RANDOM if name in model}}, backend)


def _read(described: dict[str, Any], backend: Tokenizer) -> Tokenizer:
    """A tokenizer from what the library writes of it."""
    with panics_caught():
        tokenizer = Tokenizer.from_str(json.dumps(described))
    tokenizer.encode_special_tokens = backend.encode_special_tokens
    return tokenizer


def _written(step: object) -> str:
    return "" if step is None else short(step, SHOWN)
