"""The embeddings of words: nearest words, and analogies a − b + c."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from models.language_model import LanguageModel

AT_ONCE = 8192  # rows of the embedding compared at once: a vocabulary of 256,000 in float32 takes gigabytes
DRAWS = 20  # at random: of 21 that are drawn alike, one is above the 20 others in less than 5 % of cases


@dataclass(frozen=True)
class Word:
    """A word in the vocabulary: the ids of its tokens, and their texts. The vector of a word of several tokens is their mean."""

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]


def word(model: LanguageModel, text: str) -> Word:
    """Return the tokens of a word inside a sentence, after a space, unless it has fewer tokens without the space.

    Errors: ValueError for a text that has no token but special ones.
    """
    text = text.strip()
    readings = []
    for before in (" ", ""):
        tokens = [token for token in model.tokenize(before + text) if token.start < token.end or not token.special]
        tokens = [token for token in tokens if token.text.strip()] or tokens
        if tokens and text:
            readings.append(Word(text, tuple(token.id for token in tokens), tuple(token.text for token in tokens)))
    if not readings:
        raise ValueError("This word has no token in the vocabulary. Type a word.")
    return min(readings, key=lambda reading: len(reading.ids))


def vectors(model: LanguageModel, words: Sequence[str], centred: bool = False) -> np.ndarray:
    """Return the embedding of each word, the mean of its tokens: float32 [word, d_embedding].

    centred: subtract the mean of the whole vocabulary, which most vectors share and which makes all of them seem similar (Mu and
    Viswanath 2018).
    """
    rows = [model.embedding(list(word(model, text).ids)).astype(np.float64).mean(0) for text in words]
    return (np.array(rows) - (mean(model) if centred else 0)).astype(np.float32)


def mean(model: LanguageModel) -> np.ndarray:
    """Return the mean vector of the vocabulary: float64 [d_embedding]."""
    sums, counts = zip(*((rows.sum(0, dtype=np.float64), len(rows)) for rows in _rows(model)), strict=True)
    return np.sum(sums, axis=0) / sum(counts)


def cosines(model: LanguageModel, words: Sequence[str], centred: bool = False) -> np.ndarray:
    """Return the cosine of every two words: float32 [word, word], from −1 to 1."""
    unit = _unit(vectors(model, words, centred).astype(np.float64))
    return np.clip(unit @ unit.T, -1, 1).astype(np.float32)


def nearest(
    model: LanguageModel,
    vector: str | np.ndarray,
    top: int = 10,
    without: Sequence[int] = (),
    centred: bool = False,
    words_only: bool = False,
) -> pd.DataFrame:
    """Return the tokens whose vectors point most the same way: id, text, cosine; the nearest first.

    vector: a word, which is then left out of the result, or a vector [d_embedding] (minus the mean of the vocabulary if
    `centred`). without: ids to leave out. Special tokens always are. words_only: leave out parts of words too; a small model has
    hardly read many of them, so their vectors have not moved from their initial values.
    """
    import pandas as pd  # which the first page does not wait for

    if isinstance(vector, str):
        without = [*without, *word(model, vector).ids]
        vector = vectors(model, [vector], centred)[0]
    vector = np.asarray(vector, dtype=np.float64)
    if not np.linalg.norm(vector) > 0:
        raise ValueError("This vector is zero and points nowhere. Choose other words.")
    shift = mean(model) if centred else 0.0
    near = np.concatenate([_unit(rows - shift) @ _unit(vector) for rows in _rows(model)])
    near[list(without)] = -np.inf
    count = min(top, len(near))
    order = np.lexsort((np.arange(len(near)), -near.round(6)))
    spaced = model.token_text(word(model, "the").ids[0]).startswith(" ") if words_only else False
    ids: list[int] = []
    for id in order.tolist():
        if len(ids) == count or near[id] == -np.inf:
            break
        if not model.is_special(id) and not (words_only and _is_part(model, id, spaced)):
            ids.append(id)
    return pd.DataFrame({"id": ids, "text": [model.token_text(id) for id in ids], "cosine": near[ids].astype(np.float32)})


def analogy(
    model: LanguageModel, a: str, b: str, c: str, top: int = 10, centred: bool = False, words_only: bool = False
) -> pd.DataFrame:
    """Return the tokens nearest to a − b + c: id, text, cosine. king − man + woman asks: what is to woman as king is to man?

    Each of the three is first scaled to length 1, as usual, and none of them is among the answers (Mikolov et al. 2013); without
    that rule the answer is usually one of the three (Linzen 2016).
    """
    vector = _unit(vectors(model, [a, b, c], centred).astype(np.float64))
    without = [id for text in (a, b, c) for id in word(model, text).ids]
    return nearest(model, vector[0] - vector[1] + vector[2], top, without, centred, words_only)


def first_answers(
    model: LanguageModel, triples: Sequence[tuple[str, str, str]], centred: bool = False, words_only: bool = False
) -> list[str]:
    """Return the first answer of `analogy` to each a − b + c, with the same options; the vocabulary is read once for all."""
    listed = _listed(model, words_only)
    shift = mean(model) if centred else np.zeros(model.embedding([0]).shape[-1])
    a, b, c = (_unit(vectors(model, column, centred).astype(np.float64)) for column in zip(*triples, strict=True))
    near = np.concatenate([*_cosines_with(model, a - b + c, listed, shift)])
    for number, triple in enumerate(triples):
        near[np.isin(listed, [id for text in triple for id in word(model, text).ids]), number] = -np.inf
    return [model.token_text(int(id)) for id in listed[near.round(6).argmax(0)]]


@dataclass(frozen=True)
class Chance:
    """The cosines of a word with unrelated tokens.

    typical: the median with a token of the vocabulary. highest: float64 [draw], of a made-up word with its nearest token. Each
    number of a made-up word is that of a random token; then the word gets as much of the mean of the vocabulary as the real one
    has, because that alone makes any two tokens seem similar. None if there are fewer than four tokens to draw from.
    """

    typical: float
    highest: np.ndarray


def chance_of_nearest(
    model: LanguageModel, text: str, centred: bool = False, words_only: bool = False, draws: int = DRAWS, seed: int = 0
) -> Chance:
    """Return the cosines of `nearest` that chance gives, with the same options. draws, seed: the number of made-up words, and the
    seed. Among `draws` + 1 words drawn alike, a given one is above all others in one of `draws` + 1 cases."""
    draw, listed, middle = np.random.default_rng(seed), _listed(model, words_only), mean(model)
    vector = vectors(model, [text], centred)[0].astype(np.float64)
    shift = middle if centred else np.zeros_like(middle)
    others = listed[~np.isin(listed, word(model, text).ids)]
    if len(others) < 4:
        return Chance(np.nan, np.empty(0))
    made_up = np.array([np.diagonal(model.embedding(draw.choice(others, len(middle)).tolist())) for _ in range(draws)]) - middle
    if not centred:
        along = _unit(middle)
        share = _unit(vector) @ along
        made_up -= np.outer(made_up @ along, along)
        made_up = share * along + np.sqrt(1 - share**2) * _unit(made_up)
    typical = np.median(np.concatenate([near[:, 0] for near in _cosines_with(model, vector[None], others, shift)]))
    highest = np.max([near.max(0) for near in _cosines_with(model, made_up, others, shift)], axis=0)
    return Chance(float(typical), highest)


def chance_of_analogy(
    model: LanguageModel, centred: bool = False, words_only: bool = False, draws: int = DRAWS, seed: int = 0
) -> np.ndarray:
    """Return the cosine of the answer of `analogy`, with the same options, to three tokens drawn at random: float64 [draw]; none
    where there are fewer than four tokens to draw from."""
    draw, listed = np.random.default_rng(seed), _listed(model, words_only)
    if len(listed) < 4:
        return np.empty(0)
    shift = mean(model) if centred else np.zeros(model.embedding([0]).shape[-1])
    triples = np.array([draw.choice(listed, 3, replace=False) for _ in range(draws)])
    a, b, c = (_unit(model.embedding(ids.tolist()) - shift) for ids in triples.T)
    near = np.concatenate([*_cosines_with(model, a - b + c, listed, shift)])
    near[np.searchsorted(listed, triples), np.arange(draws)[:, None]] = -np.inf
    return near.max(0)


def _cosines_with(model: LanguageModel, vectors: np.ndarray, ids: np.ndarray, shift: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the cosines of tokens, in the order of their ids, with vectors, in parts: float64 [token, vector]."""
    units, start = _unit(vectors), 0
    for rows in _rows(model):
        here = ids[(ids >= start) & (ids < start + len(rows))] - start
        if len(here):
            yield np.clip(_unit(rows[here] - shift) @ units.T, -1, 1)
        start += len(rows)


def _rows(model: LanguageModel) -> Iterator[np.ndarray]:
    """Yield the embedding of the vocabulary in parts."""
    for start in range(0, model.info.vocabulary, AT_ONCE):
        yield model.embedding(slice(start, min(start + AT_ONCE, model.info.vocabulary)))


def _listed(model: LanguageModel, words_only: bool) -> np.ndarray:
    """Return the ids of the tokens that a list of neighbours may contain: int [token]."""
    spaced = model.token_text(word(model, "the").ids[0]).startswith(" ") if words_only else False
    ids = (id for id in range(model.info.vocabulary) if not model.is_special(id))
    return np.array([id for id in ids if not (words_only and _is_part(model, id, spaced))], dtype=int)


def _is_part(model: LanguageModel, id: int, spaced: bool) -> bool:
    """Return whether a token is not the beginning of a word. spaced: whether this vocabulary marks the beginning of a word by a
    space."""
    text = model.token_text(id)
    return text.startswith(" ") != spaced or not text.strip().replace("'", "").isalpha()


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors, dtype=np.float64), where=length > 0)
