"""Trials of texts with a copy of a tokenizer in a confined process, before the tokenizer itself reads them.

A pattern in a tokenizer.json may take hours for a short text, and nothing in this process can stop the library then. Most
tokenizers are made of steps that take a time in proportion to the text: these are given their texts at once.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from models.huggingface import answerer
from models.huggingface.answerer import Answerer, LimitExceeded
from models.huggingface.growth import growth
from models.huggingface.names import short

SECONDS, EACH, MOST = 0.5, 2e-5, 3.0  # of computing that a text may take, as much more for each character, and in all
OPENS_IN = 30.0  # seconds of computing in which the copy is made
MEMORY = 600_000_000  # bytes that the copy may take
FAILURES = 3  # texts that took too long, after which no more are read
REMEMBERED = 64  # texts that were tried
REPEATED = 2_000  # times that what is repeated in a text is repeated
USUAL_GROWTH = 64  # times that a text is lengthened by tokenizers in use, at the most, and tokens of a character
SPARE = 10_000  # tokens more than that
LONGEST_TEXT = 10_000_000  # characters that a text may become
LONGEST_WORD = 200  # characters of a word that WordPiece cuts: 100 in all that are in use
LONGEST_PIECE = 512  # characters of a piece of Unigram
REPEATS = (" ", "\n", "\t", " \n", "a", "A", "0", ".", "-", "'", "_", "é", "日", "ab", "a ", "a0", "aA", "a.", "1.", "0,")

# Patterns of tokenizers in use. None repeats what is repeated within it, and none begins at each place and fails far from it.
PLAIN = frozenset(
    [
        " {2,}",
        r"\s+",
        r"\n",
        r"[\n\r\t]",
        r"[\r\n]",
        r"\s{2,}|[\n\r\t]",
        r"\p{N}",
        r"\p{N}{1,3}",
        "[0-9]",
        "[0-9][0-9][0-9]",
        r" ?[^(\s|[.,!?…。，、।۔،])]+",
        "[一-龥぀-ゟ゠-ヿ]+",
        "[一-龥ࠀ-一가-퟿]+",
        r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
        r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        *(
            rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
            r"|\s*[\r\n]+|\s+(?!\S)|\s+"
            for digits in ("", "{1,3}", "{1,2}", "{1}")
        ),
    ]
)


class Guard:
    """Tries texts for one tokenizer. Safe to use from many threads: one text is tried at a time."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        self._backend: Tokenizer | None = getattr(tokenizer, "backend_tokenizer", None)
        self._answerer = Answerer("tokenize", MEMORY, lambda: (self._serialized, OPENS_IN))
        self._tried_texts: OrderedDict[Any, None] = OrderedDict()
        self._lock, self._failures = Lock(), 0

    @cached_property
    def _serialized(self) -> str:
        return "" if self._backend is None else _serialize(self._backend)

    @cached_property
    def _growth(self) -> float:
        """The largest factor by which the tokenizer may lengthen a text."""
        assert self._backend is not None, "it was written"
        steps = self._backend.normalizer, self._backend.decoder
        return max((growth(json.loads(step.__getstate__())) for step in steps if step is not None), default=1.0)

    @property
    def watches(self) -> bool:
        """Whether texts are tried."""
        return not answerer.confined_already and bool(self._serialized)

    def check(self, text: str, split: bool = False) -> None:
        """Try a text. split: whether special tokens in it are read letter by letter.

        Errors: ValueError, a sentence, for a text that the tokenizer takes too long for.
        """
        if self.watches and text:
            self._try((text, split), {"text": text, "split": split}, len(text))

    def check_ids(self, ids: Sequence[int]) -> None:
        """Try ids of tokens that are to become text. Errors: as `check`."""
        if self.watches and ids:
            self._try(tuple(ids), [int(id) for id in ids], len(ids))

    def try_repetitions(self) -> None:
        """Try texts that repeat what ordinary texts repeat, and what the tokenizer's patterns name. Errors: as `check`."""
        if self.watches:
            letters = list(dict.fromkeys("".join(_patterns(json.loads(self._serialized)))))[:64]
            end = "\u0001" + "".join(letters)  # the library looks no further where a letter is missing that it would need
            for part in dict.fromkeys([*REPEATS, *letters]):
                self.check(part * REPEATED + end)

    def _try(self, key: Any, question: Any, length: int) -> None:
        with self._lock:
            if key in self._tried_texts:
                return self._tried_texts.move_to_end(key)
            if self._failures >= FAILURES:
                raise ValueError(
                    "The tokenizer of this model has taken too long for several texts, so Headlight no longer reads with it. "
                    "Choose another model."
                )
            seconds = min(SECONDS + EACH * length, MOST)
            try:
                if self._growth * length > LONGEST_TEXT or self._answerer.ask(question, seconds) > USUAL_GROWTH * length + SPARE:
                    raise ValueError(f"it makes a flood of tokens of {length:,} characters")
            except ValueError as error:
                raise ValueError(f"The tokenizer of this model does not read this text: {short(error, 120)}.") from error
            except LimitExceeded:
                self._failures += 1
                raise ValueError(
                    f"The tokenizer of this model takes more than {seconds:.1g} s for a text of {length:,} characters, so "
                    "Headlight does not read it. Change the text, or choose another model."
                ) from None
            self._tried_texts[key] = None
            while len(self._tried_texts) > REMEMBERED:
                self._tried_texts.popitem(last=False)
        return None


_guards: WeakKeyDictionary[PreTrainedTokenizerBase, Guard] = WeakKeyDictionary()


def guard_of(tokenizer: PreTrainedTokenizerBase) -> Guard:
    """Return the guard of a tokenizer, the same at each call."""
    if tokenizer not in _guards:
        _guards[tokenizer] = Guard(tokenizer)
    return _guards[tokenizer]


def _serialize(backend: Tokenizer) -> str:
    """Return a tokenizer as its library writes it.

    "" for one that cannot be slow, and for one with a step in Python, which a file cannot ask for.
    """
    steps = []
    for step in (backend.normalizer, backend.pre_tokenizer, backend.decoder):
        if step is not None:
            try:
                steps.append(json.loads(step.__getstate__()))
            except Exception:  # it is in Python
                return ""
    return "" if _is_plain(steps, backend) else backend.to_str()


def _is_plain(steps: list[dict], backend: Tokenizer) -> bool:
    lengthened = max((growth(step) for step in steps), default=1.0)
    if any(pattern not in PLAIN for pattern in _patterns(steps)) or lengthened > USUAL_GROWTH:
        return False
    if any(len(token.content) < 3 and (token.lstrip or token.rstrip or token.single_word) for token in _added(backend)):
        return False  # each of them has all of the text before it looked at
    model = backend.model
    kind = type(model).__name__
    if kind == "WordPiece":
        return model.max_input_chars_per_word <= LONGEST_WORD
    return kind != "Unigram" or max(map(len, backend.get_vocab(with_added_tokens=False)), default=0) <= LONGEST_PIECE


def _added(backend: Tokenizer) -> Iterator[Any]:
    yield from backend.get_added_tokens_decoder().values()


def _patterns(part: Any) -> Iterator[str]:
    """Yield the regular expressions in a step, as tokenizers writes it."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "Regex" and isinstance(value, str):
                yield value
            elif key not in ("vocab", "merges", "added_tokens"):
                yield from _patterns(value)
    elif isinstance(part, list):
        for element in part:
            yield from _patterns(element)
