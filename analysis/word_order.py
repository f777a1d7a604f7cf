"""The words of a text in another order: what changes in a model's reading, and what cannot change."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.language_model import LanguageModel
from models.numbers.softmax import softmax
from models.tokens import Token
from models.trace import Trace

# Letters of scripts that are written without spaces stand by themselves; of others, what is between spaces is a word.
_ALONE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(f"[{_ALONE}]|[^\\s{_ALONE}]+")


@dataclass(frozen=True)
class BothOrders:
    """A text as it was typed and with its words in another order, read by the same model.

    places: the position in `after` of each token of `before`, int [position]; -1 for a token that changed in its new place.
    changed: the words, by their number in the text as typed, whose tokens have changed.
    """

    before: Trace
    after: Trace
    places: np.ndarray
    changed: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """The bytes that this holds in memory."""
        return sum({id(trace): trace.bytes for trace in (self.before, self.after)}.values())

    def across(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of an attention's queries and keys after reordering, as in `places`; those of a target stay."""
        stays = np.arange(len(self.before.target))
        return {"decoder": (stays, stays), "cross": (stays, self.places)}.get(kind, (self.places, self.places))

    def maps(self, kind: str, layer: int, head: int, causal: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of a head before, and after with rows and columns back at the places of `before`: float32 [query,
        key], twice. NaN for pairs that a causal mask hides, and for tokens that have changed."""
        queries, keys = self.across(kind)
        cells = np.ix_(queries, keys)
        after = np.where((queries < 0)[:, None] | (keys < 0), np.nan, self.after.attention[kind][layer][head][cells])
        before = self.before.attention[kind][layer][head].astype(np.float32)
        if causal:
            before[np.arange(len(queries))[:, None] < np.arange(len(keys))] = np.nan
            after[queries[:, None] < keys] = np.nan
        return before, after.astype(np.float32)

    def changes(self, stack: str) -> np.ndarray:
        """Return how far each token's vector moved, after the embedding and each block: ‖after − before‖ / ‖before‖, float64
        [layers + 1, position]; NaN for tokens that have changed. stack: as in `Trace.hidden`."""
        places = np.arange(len(self.before.target)) if stack == "decoder" else self.places
        before, after = (trace.hidden[stack].astype(np.float64) for trace in (self.before, self.after))
        distances = np.linalg.norm(after[:, places] - before, axis=-1)
        size = np.linalg.norm(before, axis=-1)
        return np.where(places < 0, np.nan, np.divide(distances, size, out=np.zeros_like(distances), where=size > 0))

    def probabilities(self, before: int, after: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the predictions at a position of the text as typed, and at one of the reordered text: float [vocabulary].
        Errors: ValueError without a language-model head."""
        logits = self.before.logits_at(before), self.after.logits_at(after)
        if logits[0] is None or logits[1] is None:
            raise ValueError("This model has no language-model head, so it makes no predictions.")
        return softmax(logits[0]), softmax(logits[1])

    def same_before(self) -> np.ndarray:
        """Return the positions of tokens that have the same tokens before them in both orders, but not in the same order. In a
        causal model without positions, the first block cannot tell the two orders apart at these positions."""
        positions = []
        for at, place in enumerate(self.places):
            stand = self.places[:at]
            if place == at and set(stand) == set(range(at)) and not np.array_equal(stand, np.arange(at)):
                positions.append(at)
        return np.array(positions, dtype=int)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the beginning and end of each word of a text. Words are separated by spaces and include punctuation; in scripts
    without spaces each letter is a word."""
    return [match.span() for match in _WORD.finditer(text)]


def reorder(text: str, order: Sequence[int]) -> str:
    """Return a text with its words in another order; the spaces between them stay. order: for each place the number of the word
    that goes there. Errors: ValueError for an invalid order."""
    return _lay_out(text, order)[0]


def shuffle(count: int, seed: int, first: int = 0) -> tuple[int, ...]:
    """Return a random order of so many words, not the typed one if there is another. first: how many words at the start stay."""
    random, order = np.random.default_rng(seed), np.arange(count)
    while count - first > 1 and np.array_equal(order, np.arange(count)):
        order[first:] = first + random.permutation(count - first)
    return tuple(order.tolist())


def read_orders(model: LanguageModel, text: str, order: Sequence[int], second: str = "") -> BothOrders:
    """Read a text as typed and in another order. second: the target, or the second text of a pair, which stays as it is.

    Both are read from their start, so that only the order differs. Errors: ValueError for an invalid order, and for a text longer
    than the context.
    """
    reordered, spans = _lay_out(text, order)
    before = model.trace(text, second, remember=False)
    after = before if reordered == text else model.trace(reordered, second, remember=False)
    if before.cut or after.cut:
        raise ValueError("The model reads only the end of this text. Make it shorter to move its words.")
    pairs, changed = _pairs(before.tokens, after.tokens, word_spans(text), spans, order)
    places = np.full(len(before.tokens), -1)
    for at, place in pairs:
        places[at] = place
    return BothOrders(before, after, places, changed)


def keeps_pieces(model: LanguageModel, text: str, order: Sequence[int]) -> bool:
    """Return whether the words have the same tokens in another order. No text is read for it."""
    reordered, spans = _lay_out(text, order)
    return not _pairs(model.tokenize(text), model.tokenize(reordered), word_spans(text), spans, order)[1]


def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    """Return how much probability has moved: half the sum of |p − q| [vocabulary], from 0 (the same) to 1."""
    return float(np.abs(p.astype(np.float64) - q).sum() / 2)


def _lay_out(text: str, order: Sequence[int]) -> tuple[str, list[tuple[int, int]]]:
    """Return the reordered text, and where each place begins and ends in it. Errors: as `reorder`."""
    spans = word_spans(text)
    if sorted(order) != list(range(len(spans))):
        raise ValueError(f"An order of {len(spans)} words names each of 0 to {len(spans) - 1} once.")
    line, places, end = "", [], 0
    for (start, stop), word in zip(spans, order, strict=True):
        line += text[end:start]
        places.append((len(line), len(line) + spans[word][1] - spans[word][0]))
        line += text[slice(*spans[word])]
        end = stop
    return line + text[end:], places


def _pairs(
    before: Sequence[Token],
    after: Sequence[Token],
    spans: list[tuple[int, int]],
    new_spans: list[tuple[int, int]],
    order: Sequence[int],
) -> tuple[list[tuple[int, int]], tuple[int, ...]]:
    """Return the positions of each token in both orders, and the words whose tokens have changed."""
    own, new = _by_word(before, spans), _by_word(after, new_spans)
    at = {word: place for place, word in enumerate(order)}
    pairs: list[tuple[int, int]] = []
    changed = []
    for word, mine in own.items():
        theirs = new.get(None if word is None else at[word], [])
        if _ids(before, mine) != _ids(after, theirs):
            changed += [] if word is None else [word]
            mine, theirs = _bare(before, mine), _bare(after, theirs)  # spaces stay between the words
        if _ids(before, mine) == _ids(after, theirs):
            pairs += list(zip(mine, theirs, strict=True))
    return pairs, tuple(sorted(changed))


def _by_word(tokens: Sequence[Token], spans: list[tuple[int, int]]) -> dict[int | None, list[int]]:
    """Return the tokens of each word, with those of the spaces before it; under None those outside of words: special tokens that
    nobody typed, a second text, spaces at the end."""
    of_word: dict[int | None, list[int]] = {}
    ends = [end for _, end in spans]
    for i, token in enumerate(tokens):
        word = bisect_right(ends, token.start)
        outside = token.segment or (token.special and token.start == token.end) or word == len(ends)
        of_word.setdefault(None if outside else word, []).append(i)
    return of_word


def _ids(tokens: Sequence[Token], positions: list[int]) -> list[int]:
    return [tokens[i].id for i in positions]


def _bare(tokens: Sequence[Token], positions: list[int]) -> list[int]:
    return [i for i in positions if tokens[i].text.strip()]
