"""Comparison of two attentions: their common tokens, and the weights between these."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from analysis.merging import merge, merged_tokens, words
from analysis.scopes import Scope, Side
from models.tokens import Token

Groups = list[list[int]]

MANY = 100_000  # pairs of tokens between beginning and end; beyond, difflib may pass over frequent ones, or it takes seconds


@dataclass(frozen=True)
class Half:
    """One of two attentions, between their common tokens.

    queries, keys: groups of tokens, one for each row and each column; weights: float32 [query, key], the mean over the queries of
    a group, the sum over its keys; future: bool [query, key], whether a whole key group comes after a whole query group.
    left_out: the keys that the other attention does not have; share: how much of the attention of these queries goes there, from
    0 to 1.
    """

    queries: Groups
    keys: Groups
    weights: np.ndarray
    future: np.ndarray
    left_out: list[Token]
    share: float


@dataclass(frozen=True)
class Common:
    """Two attentions between their common tokens. queries, keys: the texts of the tokens, "tired / hot" where the two differ."""

    a: Half
    b: Half
    queries: list[str]
    keys: list[str]

    @property
    def difference(self) -> np.ndarray:
        """a − b: float32 [query, key]."""
        return self.a.weights - self.b.weights

    @property
    def moved(self) -> float:
        """Half the sum of a row's absolute differences, averaged over the rows: the share of attention that has moved (the total
        variation distance where both rows sum to 1)."""
        return float(np.abs(self.difference).sum(-1, dtype=np.float64).mean() / 2)

    def largest(self, count: int = 5) -> list[tuple[int, int]]:
        """Return the (query, key) of the largest differences, the largest first."""
        size = np.abs(self.difference).ravel()
        best = np.argsort(-size, kind="stable")[:count]
        return [divmod(int(at), len(self.keys)) for at in best if size[at] > 0]


def compare(a: Scope, b: Scope, heads: Sequence[tuple[int, int | None]] = ((0, 0), (0, 0)), same_text: bool = True) -> Common:
    """Compare a head of one attention and a head of another, between their common tokens.

    heads: (layer, head) of each; None is the mean of the layer's heads. same_text: whether the tokens are of one text, so that
    they are aligned by their place in it (`align`); else they are aligned by their texts (`align_texts`). Errors: ValueError if
    they have nothing in common.
    """
    by = align if same_text else align_texts
    queries, keys = by(a.queries.tokens, b.queries.tokens), by(a.keys.tokens, b.keys.tokens)
    if not all((*queries, *keys)):
        raise ValueError("The two have no token in common, so there is nothing to compare.")
    half_a, half_b = (_half(*arguments) for arguments in zip((a, b), heads, queries, keys, strict=True))
    sides = ((a.queries, b.queries, queries), (a.keys, b.keys, keys))
    rows, columns = (_names(first.tokens, second.tokens, groups, same_text) for first, second, groups in sides)
    return Common(half_a, half_b, rows, columns)


def align(a: Sequence[Token], b: Sequence[Token]) -> tuple[Groups, Groups]:
    """Align the tokens of one text, cut in two ways, in the smallest groups that both have: positions in `a` and in `b`, group by
    group.

    A group ends where tokens of both end at the same character. Special tokens without text are joined if both have them at the
    same place, one by one if their numbers are equal. Tokens that only one of them reads are in no group: a special token, a
    space at the end, the beginning of a text for which the other had no room.
    """
    if list(a) == list(b):
        return [[i] for i in range(len(a))], [[i] for i in range(len(b))]
    groups: tuple[Groups, Groups] = ([], [])
    for segment in sorted({token.segment for token in a} & {token.segment for token in b}):
        ours, theirs = _overlapping(a, b, segment), _overlapping(b, a, segment)
        if not ours or not theirs:
            continue
        ends = [_ends([tokens[i] for i in own]) for tokens, own in ((a, ours), (b, theirs))]
        shared_ends = sorted({*ends[0]} & {*ends[1]} | {max(ends[0][-1], ends[1][-1])})  # what is left at the end goes together
        parts = [_by_end(own, end, shared_ends) for own, end in zip((ours, theirs), ends, strict=True)]
        for at in range(len(shared_ends)):
            group = [part.get(at, []) for part in parts]
            if all(group):
                for side, own in zip(groups, group, strict=True):
                    side.append(own)
    return _with_signs(a, b, *groups)


def align_texts(a: Sequence[Token], b: Sequence[Token]) -> tuple[Groups, Groups]:
    """Align the tokens of two texts, equal ones one by one, and changed ones with their counterparts: positions in `a` and `b`.

    Beginning and end are compared first, then `difflib` looks for equal runs between them. Where words were replaced by others,
    word goes with word if their numbers are equal, else all of them with all. Tokens that only one text has are in no group.
    `align_texts(b, a)` gives the same groups.
    """
    ours, theirs = ([(token.text, token.special, token.segment) for token in tokens] for tokens in (a, b))
    if theirs < ours:  # difflib may find other runs the other way round
        second, first = align_texts(b, a)
        return first, second
    start = _same(ours, theirs)
    end = _same(ours[start:][::-1], theirs[start:][::-1])
    middle = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
    groups: tuple[Groups, Groups] = ([[i] for i in range(start)], [[i] for i in range(start)])
    for tag, i, i_end, j, j_end in SequenceMatcher(None, *middle, autojunk=len(middle[0]) * len(middle[1]) > MANY).get_opcodes():
        runs = list(range(start + i, start + i_end)), list(range(start + j, start + j_end))
        if tag == "equal":
            pairs = [([p], [q]) for p, q in zip(*runs, strict=True)]
        else:
            our_run, their_run = ([p for p in run if not _sign(tokens[p])] for run, tokens in zip(runs, (a, b), strict=True))
            pairs = _replacements(our_run, their_run, a, b)
        for side, more in zip(groups, zip(*pairs, strict=True), strict=False):
            side.extend(more)
    for side, tokens in zip(groups, (a, b), strict=True):
        side.extend([i] for i in range(len(tokens) - end, len(tokens)))
    return groups


def _half(scope: Scope, layer_head: tuple[int, int | None], queries: Groups, keys: Groups) -> Half:
    layer, head = layer_head
    weights = scope[layer].mean(0) if head is None else scope[layer][head]
    in_groups = {i for group in keys for i in group}
    left_out = [i for i in range(len(scope.keys.tokens)) if i not in in_groups]
    outside = merge(weights, queries, [left_out]) if left_out else np.zeros(1)
    return Half(
        queries,
        keys,
        merge(weights, queries, keys),
        _reach(scope.keys, keys, min)[None, :] > _reach(scope.queries, queries, max)[:, None],
        [scope.keys.tokens[i] for i in left_out],
        float(outside.mean(dtype=np.float64)),
    )


def _reach(side: Side, groups: Groups, of: Callable[..., int]) -> np.ndarray:
    """Return each group's first or last position among all tokens that were read."""
    return np.array([of(position for i in group for position in side.groups[i]) for group in groups])


def _names(a: Sequence[Token], b: Sequence[Token], groups: tuple[Groups, Groups], same_text: bool) -> list[str]:
    """Return the text of each group: the first text's, or both where they differ."""
    pairs = zip(merged_tokens(a, groups[0]), merged_tokens(b, groups[1]), strict=True)
    same_words = [first.text == second.text or (same_text and not (_sign(first) and _sign(second))) for first, second in pairs]
    triples = zip(merged_tokens(a, groups[0]), merged_tokens(b, groups[1]), same_words, strict=True)
    return [first.text if same else f"{first.text} / {second.text.strip() or second.text}" for first, second, same in triples]


def _sign(token: Token) -> bool:
    """Return whether a token stands for no text that somebody typed."""
    return token.special and token.start == token.end


def _overlapping(tokens: Sequence[Token], other_tokens: Sequence[Token], segment: int) -> list[int]:
    """Return the positions of a segment's text, as far as the other tokens reach."""
    theirs = [token for token in other_tokens if token.segment == segment and not _sign(token)]
    first, last = min((token.start for token in theirs), default=0), max((token.end for token in theirs), default=-1)
    return [
        i
        for i, token in enumerate(tokens)
        if token.segment == segment
        and not _sign(token)
        and (first <= token.start <= last if token.start == token.end else token.end > first and token.start < last)
    ]


def _ends(tokens: Sequence[Token]) -> list[int]:
    """Return the character up to which each token and those before it reach."""
    return np.maximum.accumulate([token.end for token in tokens]).tolist()


def _by_end(positions: list[int], ends: list[int], shared: list[int]) -> dict[int, list[int]]:
    """Return the positions by the shared end that they lead up to."""
    groups: dict[int, list[int]] = {}
    for position, end in zip(positions, ends, strict=True):
        groups.setdefault(bisect_left(shared, end), []).append(position)
    return groups


def _with_signs(a: Sequence[Token], b: Sequence[Token], ours: Groups, theirs: Groups) -> tuple[Groups, Groups]:
    """Return the groups of text, with the special tokens that both have at the same place among them."""
    at = [_signs_at(tokens, groups) for tokens, groups in ((a, ours), (b, theirs))]
    groups: tuple[Groups, Groups] = ([], [])
    for place in range(len(ours) + 1):
        signs = [side.get(place, []) for side in at]
        if all(signs):
            alone = len(signs[0]) == len(signs[1])
            for side, own in zip(groups, signs, strict=True):
                side.extend([i] for i in own) if alone else side.append(own)
        if place < len(ours):
            groups[0].append(ours[place])
            groups[1].append(theirs[place])
    return groups


def _signs_at(tokens: Sequence[Token], groups: Groups) -> dict[int, list[int]]:
    """Return the positions of special tokens, by how many groups end before them."""
    last = np.maximum.accumulate([max(group) for group in groups]) if groups else np.zeros(0)
    places: dict[int, list[int]] = {}
    for i, token in enumerate(tokens):
        if _sign(token):
            places.setdefault(int(np.searchsorted(last, i)), []).append(i)
    return places


def _same(a: list, b: list) -> int:
    """Return how far two lists begin alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _replacements(
    ours: list[int], theirs: list[int], a: Sequence[Token], b: Sequence[Token]
) -> list[tuple[list[int], list[int]]]:
    """Return which tokens replace which where two texts differ; none if one of them has no tokens there."""
    if not ours or not theirs:
        return []
    parts = [[[run[i] for i in word] for word in words([tokens[p] for p in run])] for run, tokens in ((ours, a), (theirs, b))]
    if len(parts[0]) != len(parts[1]):
        return [(ours, theirs)]
    pairs: list[tuple[list[int], list[int]]] = []
    for x, y in zip(*parts, strict=True):
        pairs += [([p], [q]) for p, q in zip(x, y, strict=True)] if len(x) == len(y) else [(x, y)]
    return pairs
