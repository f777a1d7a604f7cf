"""Tokens joined to words, and attention with some of its positions joined or left out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from models.tokens import Token, bytes_of

_JOINER = "\u200d"
# Scripts without spaces: no character marks the end of a word, so each token stands by itself.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u31a0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
_SEQUENCE = re.compile("[A-Z*-]{13,}")  # of amino acids or bases, such as “MKTAYIAKQRQISFVKSHF”: no acronym is so long
LONGEST = 64  # characters of a word; the longest of German law has 63


def words(tokens: Sequence[Token]) -> list[list[int]]:
    """Return the tokens of each word: their positions, in order; every token is in exactly one.

    A word begins at a space (byte-level BPE and SentencePiece have it in the token's text, WordPiece leaves a gap between the
    offsets), at a change of text (`segment`), and at punctuation, which is a word of its own, except an apostrophe between
    letters and a point or comma between digits. Fragments of one character are together, as are an accent and its letter. Special
    tokens stand alone, and so does each token where no spaces separate words (see `unspaced`): in a script without spaces, in a
    run longer than LONGEST characters, and in more than a dozen capitals in a row that are a token each.
    """
    groups: list[list[int]] = []
    run: list[int] = []  # tokens with nothing between them
    for i, token in enumerate(tokens):
        if token.special:
            groups += [*_split(tokens, run), [i]]
            run = []
            continue
        if run and not _touch(tokens[i - 1], token):
            groups += _split(tokens, run)
            run = []
        run.append(i)
    return groups + _split(tokens, run)


def characters(tokens: Sequence[Token]) -> list[list[int]]:
    """Return the tokens of each character: the positions of tokens with parts of one character are together, all others alone."""
    groups: list[list[int]] = []
    pending = b""  # the bytes of a character that is not complete
    for i, token in enumerate(tokens):
        spelling = _bytes(token) if token.fragment and not token.special else b""
        if pending and spelling and _wrong_at(pending + spelling) != 0:
            groups[-1].append(i)
            pending += spelling
        else:
            groups.append([i])
            pending = spelling
        pending = pending[_incomplete_from(pending) :]
    return groups


def whole_characters(tokens: Sequence[Token]) -> tuple[list[Token], list[list[int]]]:
    """Return the tokens, with the parts of one character joined to one whose id is -1, and the positions of each."""
    groups = characters(tokens)
    return join(tokens, groups), groups


def group_of(groups: Sequence[Sequence[int]], position: int) -> int | None:
    """Return the number of the group that contains a position; None if none does."""
    return next((number for number, group in enumerate(groups) if position in group), None)


def join(tokens: Sequence[Token], groups: Sequence[Sequence[int]]) -> list[Token]:
    """Return the `merged_tokens`, but a token that is a group by itself stays unchanged."""
    return [tokens[group[0]] if len(group) == 1 else merged_tokens(tokens, [group])[0] for group in groups]


def merged_tokens(tokens: Sequence[Token], groups: Sequence[Sequence[int]]) -> list[Token]:
    """Return a token for each group: its text is that of its tokens together, without the marks of a vocabulary ("##", "@@",
    "</w>").

    It covers the text from its first to its last token; id is -1 for several tokens. special: whether all of them are; fragment:
    whether they still spell no whole character together. Raises ValueError if a group is empty or contains an unknown position.
    """
    groups = _check_groups(groups, len(tokens), "group of tokens")
    tokens_merged = []
    for group in groups:
        own = [tokens[i] for i in group]
        if own[0].special and len(own) == 1:
            tokens_merged.append(own[0])
            continue
        spelling = b"".join(_bytes(token) for token in own)
        try:
            text, fragment = spelling.decode("utf-8"), False
        except UnicodeDecodeError:
            text, fragment = spelling.decode("utf-8", "headlight_spell"), any(token.fragment for token in own)
        tokens_merged.append(
            replace(
                own[0],
                id=own[0].id if len(own) == 1 else -1,
                text=text,
                start=min(token.start for token in own),
                end=max(token.end for token in own),
                special=all(token.special for token in own),
                fragment=fragment,
            )
        )
    return tokens_merged


def merge(weights: np.ndarray, queries: Sequence[Sequence[int]], keys: Sequence[Sequence[int]]) -> np.ndarray:
    """Return attention between groups of tokens: float32 [..., query group, key group].

    weights: [..., query, key]. A group of keys gets the sum over its tokens, a group of queries gives the mean over its tokens:
    A[G, H] = Σ over q in G, k in H of A[q, k] / |G|. A row therefore still sums to 1 where each key is in one group (Clark et al.
    2019, "What does BERT look at?", section 4.1). A row loses the weights of keys in no group. Raises ValueError for a group that
    is empty, contains an unknown position, or shares one with another group.
    """
    weights = np.asarray(weights, dtype=np.float32)
    queries, keys = _groups(weights, queries, keys)
    sums = _sums(_sums(weights, keys, -1), queries, -2)
    return sums / np.array([len(group) for group in queries], dtype=np.float32).reshape(-1, 1)


def select(weights: np.ndarray, queries: Sequence[int], keys: Sequence[int], renormalise: bool = False) -> np.ndarray:
    """Return attention between the positions that are kept: float32 [..., len(queries), len(keys)], in the order given.

    weights: [..., query, key]. Rows sum to the attention on the kept keys. With `renormalise` each row is divided by that sum, so
    that it sums to 1 again, as if the query shared among the kept keys alone. A row that gave them nothing stays zero. Raises
    ValueError for an unknown or repeated position.
    """
    weights = np.asarray(weights, dtype=np.float32)
    _groups(weights, [[q] for q in queries], [[k] for k in keys])
    selection = weights[..., np.asarray(queries, dtype=int), :][..., np.asarray(keys, dtype=int)]
    if not renormalise:
        return selection
    total = selection.sum(-1, keepdims=True, dtype=np.float64)
    return np.divide(selection, total, out=np.zeros(selection.shape, dtype=np.float64), where=total > 0).astype(np.float32)


def _sums(weights: np.ndarray, groups: list[list[int]], axis: int) -> np.ndarray:
    if not groups:
        return weights.take([], axis)
    starts = np.cumsum([0, *map(len, groups[:-1])])
    flat = [i for group in groups for i in group]
    return np.add.reduceat(weights if flat == list(range(weights.shape[axis])) else weights.take(flat, axis), starts, axis)


def _groups(weights: np.ndarray, queries: Sequence, keys: Sequence) -> tuple[list[list[int]], list[list[int]]]:
    if weights.ndim < 2:
        raise ValueError(f"Weights of shape {list(weights.shape)}: give [..., query, key].")
    return _check_groups(queries, weights.shape[-2], "query"), _check_groups(keys, weights.shape[-1], "key")


def _check_groups(groups: Sequence[Sequence[int]], count: int, noun: str) -> list[list[int]]:
    lists = [list(group) for group in groups]
    flat = [i for group in lists for i in group]
    if not all(lists):
        raise ValueError(f"A {noun} has no tokens in it.")
    if wrong := [i for i in flat if not 0 <= i < count]:
        raise ValueError(f"A {noun} is at position {wrong[0]}; positions go from 0 to {count - 1}.")
    if len(set(flat)) < len(flat):
        raise ValueError(f"A position is named twice: each can be in one {noun} only.")
    return lists


def _touch(before: Token, token: Token) -> bool:
    """Return whether nothing was typed between two tokens, by their offsets; their own texts may still have spaces."""
    return before.segment == token.segment and token.start <= before.end


def _bytes(token: Token) -> bytes:
    """Return a token's text in UTF-8, parts of a character included, without the vocabulary's marks, which the text lacks."""
    text = token.text
    if not token.fragment and len(text) > token.end - token.start > 0:
        text = text.removeprefix("##").removesuffix("@@").removesuffix("</w>") or text
    return bytes_of(text, token.fragment)


def _incomplete_from(spelling: bytes) -> int:
    """Return where an incomplete character begins at the end of these bytes; their number if none is incomplete."""
    try:
        spelling.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start if error.reason == "unexpected end of data" else len(spelling)
    return len(spelling)


def _wrong_at(spelling: bytes) -> int | None:
    """Return the index of the first byte that cannot be part of a character; None if there is none."""
    try:
        spelling.decode("utf-8")
    except UnicodeDecodeError as error:
        return None if error.reason == "unexpected end of data" else error.start
    return None


def _split(tokens: Sequence[Token], run: list[int]) -> list[list[int]]:
    """Return the words of a run of tokens with no gap between them."""
    if not run:
        return []
    spellings = [_bytes(tokens[i]) for i in run]
    text = b"".join(spellings).decode("utf-8", "surrogateescape")
    places = np.cumsum([0] + [len(character.encode("utf-8", "surrogateescape")) for character in text]).tolist()
    character_at = {place: i for i, place in enumerate(places)}  # by byte
    groups: list[list[int]] = [[run[0]]]
    at = 0
    for i, before, spelling in zip(run[1:], spellings, spellings[1:], strict=False):
        at += len(before)
        alone = before == b" " and spelling[:1].strip()  # SentencePiece may write a space as a token of its own
        if alone or at not in character_at or _goes_on(text, character_at[at]):
            groups[-1].append(i)
        else:
            groups.append([i])
    return [part for group in groups for part in _limit_length(tokens, group)]


def _limit_length(tokens: Sequence[Token], group: list[int]) -> list[list[int]]:
    """Return a word, or each of its tokens alone if it is too long; bytes of one character stay together."""
    text = b"".join(_bytes(tokens[i]) for i in group).decode("utf-8", "replace").strip()
    letters = len(group) >= len(text)
    if len(text) <= LONGEST and not (letters and _SEQUENCE.fullmatch(text)):
        return [group]
    parts: list[list[int]] = []
    for i in group:
        if parts and tokens[i].fragment and tokens[parts[-1][-1]].fragment:
            parts[-1].append(i)
        else:
            parts.append([i])
    return parts


def unspaced(text: str) -> bool:
    """Return whether a text has parts without spaces between words, in which each token stands alone."""
    return bool(_UNSPACED.search(text) or _SEQUENCE.search(text) or any(len(part) > LONGEST for part in text.split()))


def _goes_on(text: str, at: int) -> bool:
    """Return whether a character belongs to the same word as the character before it."""
    if at == 0 or at >= len(text):
        return True  # a token that spells nothing
    a, b = text[at - 1], text[at]
    if a.isspace() or b.isspace():
        return False
    if b in "\ufe0e\ufe0f\u200c" or _JOINER in (a, b) or "\U0001f3fb" <= b <= "\U0001f3ff" or unicodedata.category(b)[0] == "M":
        return True
    if _UNSPACED.match(a) or _UNSPACED.match(b):
        return False
    before, after = text[at - 2 : at - 1], text[at + 1 : at + 2]
    for sign, left, right in ((b, a, after), (a, before, b)):
        if (sign in "'’" and left.isalpha() and right.isalpha()) or (sign in ".," and left.isdigit() and right.isdigit()):
            return True
    return _in_word(a) and _in_word(b)


def _in_word(character: str) -> bool:
    return character == "_" or character == "\u200c" or unicodedata.category(character)[0] in "LMN"
