"""Turns text into rows of token ids: trains the tokenizer, mixes documents, packs them into windows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from models.scratch.signs import MASK, START
from models.tokens import byte_of


def documents(path: Path) -> list[str]:
    """Read the documents of a plain text file: blocks between blank lines.

    Errors: FileNotFoundError that names the file.
    """
    return [block for block in read(path).split("\n\n") if block.strip()]


def pairs(path: Path) -> list[tuple[str, str]]:
    """Read the sentence pairs of a file, one a line, a TAB between the source and its translation.

    Errors: FileNotFoundError as `documents`; ValueError for a line that is no pair.
    """
    pairs = []
    for number, line in enumerate((line for line in read(path).splitlines() if line.strip()), 1):
        parts = line.split("\t")
        if len(parts) != 2:
            what = f"Pair {number} of {path.name} has {len(parts)} parts"
            raise ValueError(f"{what}: a line is a sentence, a TAB, its translation.")
        pairs.append((parts[0], parts[1]))
    return pairs


def read(path: Path) -> str:
    if not path.is_file():
        raise FileNotFoundError(f"There is no training text at {path}. Put one there, or name its folder with --data.")
    return path.read_text(encoding="utf-8")


def train_tokenizer(texts: list[str], vocabulary: int, special: tuple[str, ...] = (START,)) -> Tokenizer:
    """Train a byte-level BPE tokenizer (Sennrich et al. 2016; bytes as in Radford et al. 2019), which can encode any text.

    special: the special tokens, which get the first ids.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=list(special), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def byte_tokenizer() -> Tokenizer:
    """Build a tokenizer without merges, a token for each byte of UTF-8: ids are the bytes' values, and 256 is the start token."""
    tokenizer = Tokenizer(models.BPE(vocab=dict(byte_of()), merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([START])
    return tokenizer


def with_mask(tokenizer: Tokenizer) -> Tokenizer:
    """Return the same tokenizer with one more token: the mask, which includes the space before it, as the hidden words do."""
    masked = Tokenizer.from_str(tokenizer.to_str())
    masked.add_tokens([AddedToken(MASK, lstrip=True, normalized=False)])
    return masked


def id_of(tokenizer: Tokenizer, sign: str) -> int:
    """Return the id of a special token. Errors: ValueError where the tokenizer lacks it."""
    if (id := tokenizer.token_to_id(sign)) is None:
        raise ValueError(f"The tokenizer has no token {sign}.")
    return id


class Corpus:
    """Documents as ids, shuffled and packed again each epoch into windows for next-token training."""

    def __init__(self, texts: list[str], tokenizer: Tokenizer, context: int, twice_under: int = 0):
        """twice_under: documents of fewer characters come twice an epoch (short modern ones among long old books)."""
        self.context = context
        self.start = id_of(tokenizer, START)
        self.documents = [np.array([self.start, *e.ids], dtype=np.uint16) for e in tokenizer.encode_batch(texts)]
        self.order = [i for i, t in enumerate(texts) for _ in range(1 + (len(t) < twice_under))]
        self.bytes = sum(len(t.encode()) for t in texts)

    def rows(self, seed: int, skip: int = 0) -> Iterator[np.ndarray]:
        """Yield endless rows int64 [context + 1]: the start token, then `context` tokens of the packed stream.

        skip: the number of rows to skip, so that a resumed training continues with the next ones.
        """
        epoch = 0
        while True:
            order = np.random.default_rng([seed, epoch]).permutation(self.order)
            stream = np.concatenate([self.documents[i] for i in order])
            rows = len(stream) // self.context
            for row in range(min(skip, rows), rows):
                window = stream[row * self.context : (row + 1) * self.context]
                yield np.concatenate([[self.start], window]).astype(np.int64)
            skip = max(0, skip - rows)
            epoch += 1

    def windows(self) -> np.ndarray:
        """Return all documents once, in order, as int64 rows [n, context + 1], the tail padded with the start token."""
        stream = np.concatenate(self.documents)
        stream = np.pad(stream, (0, -len(stream) % self.context), constant_values=self.start).reshape(-1, self.context)
        return np.pad(stream, ((0, 0), (1, 0)), constant_values=self.start).astype(np.int64)
