"""Text that repeats itself: practice for heads that look back, and the loops that a model should leave."""

from __future__ import annotations

import re

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from models.repeats import loop
from models.scratch.transformer import Cache, Decoder


def texts_of(tokenizer: Tokenizer) -> list[str]:
    """What each token of the vocabulary stands for."""
    return tokenizer.decode_batch([[id] for id in range(tokenizer.get_vocab_size())], skip_special_tokens=False)


def word_ids(tokenizer: Tokenizer) -> np.ndarray:
    """The tokens that are a whole word of three small letters or more, with the space before it."""
    return np.array([id for id, text in enumerate(texts_of(tokenizer)) if re.fullmatch(r" [a-z]{3,}", text)], dtype=np.int64)


def repeated_row(generator: np.random.Generator, start: int, pool: np.ndarray, context: int) -> tuple[np.ndarray, np.ndarray]:
    """A row of tokens at random from a pool that repeats itself, and which of its positions can be known: practice for induction.

    Returns the ids [context + 1] and a bool mask [context + 1], True from the second round on. (Olsson et al. 2022)
    """
    period = int(generator.integers(max(2, context // 32), context // 2))
    ids = np.concatenate([[start], np.resize(generator.choice(pool, period), context)]).astype(np.int64)
    return ids, np.arange(context + 1) > period


def said_before(ids: Tensor, prompt: int, length: int = 4) -> Tensor:
    """bool [row, position]: the token, after the prompt, ends or is within a run of `length` tokens that stood in the row before.

    ids: int [row, position]. Source: Welleck et al. 2020, "Neural Text Generation with Unlikelihood Training", section 5.2.
    """
    runs = ids.unfold(1, length, 1)  # [row, run, length]
    same = (runs[:, :, None] == runs[:, None]).all(-1)  # [row, run, earlier run]
    again = same.tril(-1).any(-1)  # [row, run]
    found = torch.zeros_like(ids, dtype=torch.bool)
    for at in range(length):
        found[:, at : at + again.shape[1]] |= again
    found[:, :prompt] = False
    return found


def continued(model: Decoder, ids: Tensor, length: int) -> Tensor:
    """Rows [row, position] gone on with by the likeliest token each time, to so many positions in all."""
    cache = Cache()
    with torch.no_grad():
        new = ids
        while ids.shape[1] < length:
            new = model.unembed(model.hidden(new, cache)[:, -1]).argmax(-1, keepdim=True)
            ids = torch.cat([ids, new], 1)
    return ids


def ends_in_a_loop(ids: Tensor, longest: int = 30, least: int = 24) -> Tensor:
    """bool [row]: the row's end is a piece of at most `longest` tokens said over, twice at least, `least` tokens at least in all.

    ids: int [row, position].
    """
    return torch.tensor([loop(row, longest, least) is not None for row in ids.tolist()])
