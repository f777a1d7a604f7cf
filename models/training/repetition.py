"""Repetitive text: practice for heads that look back, and the loops that a model should unlearn."""

from __future__ import annotations

import re

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from models.reading.repeats import loop
from models.scratch.transformer import Cache, Decoder


def texts_of(tokenizer: Tokenizer) -> list[str]:
    """Return the text of each token of the vocabulary."""
    return tokenizer.decode_batch([[id] for id in range(tokenizer.get_vocab_size())], skip_special_tokens=False)


def word_ids(tokenizer: Tokenizer) -> np.ndarray:
    """Return the tokens that are a whole word of three small letters or more, with the space before it."""
    return np.array([id for id, text in enumerate(texts_of(tokenizer)) if re.fullmatch(r" [a-z]{3,}", text)], dtype=np.int64)


def repeated_row(generator: np.random.Generator, start: int, pool: np.ndarray, context: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a random row of tokens that repeats itself, and a mask of its predictable positions: practice for induction.

    pool: the tokens to draw from. Returns the ids [context + 1] and a bool mask [context + 1], True from the second round on.
    (Olsson et al. 2022)
    """
    period = int(generator.integers(max(2, context // 32), context // 2))
    ids = np.concatenate([[start], np.resize(generator.choice(pool, period), context)]).astype(np.int64)
    return ids, np.arange(context + 1) > period


def said_before(ids: Tensor, prompt: int, length: int = 4) -> Tensor:
    """Mark tokens after the prompt that are in a run of `length` tokens that the row has before: bool [row, position].

    ids: int [row, position]. Source: Welleck et al. 2020, "Neural Text Generation with Unlikelihood Training", section 5.2.
    """
    runs = ids.unfold(1, length, 1)  # [row, run, length]
    same = (runs[:, :, None] == runs[:, None]).all(-1)  # [row, run, earlier run]
    seen_before = same.tril(-1).any(-1)  # [row, run]
    marked = torch.zeros_like(ids, dtype=torch.bool)
    for at in range(length):
        marked[:, at : at + seen_before.shape[1]] |= seen_before
    marked[:, :prompt] = False
    return marked


def continued(model: Decoder, ids: Tensor, length: int) -> Tensor:
    """Continue rows [row, position] with the likeliest token each time, up to `length` positions in all."""
    cache = Cache()
    with torch.no_grad():
        new = ids
        while ids.shape[1] < length:
            new = model.unembed(model.hidden(new, cache)[:, -1]).argmax(-1, keepdim=True)
            ids = torch.cat([ids, new], 1)
    return ids


def ends_in_a_loop(ids: Tensor, longest: int = 30, least: int = 24) -> Tensor:
    """Return whether each row ends in a loop of at most `longest` tokens, twice or more, at least `least` tokens in all: bool
    [row].

    ids: int [row, position].
    """
    return torch.tensor([loop(row, longest, least) is not None for row in ids.tolist()])
