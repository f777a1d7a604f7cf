"""The offsets of tokens in the text that was typed, even when their tokenizer changed that text first or reports none.

`align` reconstructs the offsets of a tokenizer that reports none; `settle` brings the offsets of all tokenizers to one
convention, that of `models.tokens.ByteLevelTokens`: a leading space belongs to the token whose text has it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from models.tokens import Token

Span = tuple[int, int]

_UNKNOWN = b"\xff"  # never in UTF-8
_WILD = "\udcff"  # the same once decoded; a text holds no lone surrogate here
_REACH = 64  # letters of the tokens that may be given up to find the text again
_NEEDLES = (8, 3, 1)  # letters that must agree where the two meet again, the surest first


def align(surfaces: Sequence[bytes | None], text: str) -> list[Span]:
    """Return the stretch of the text that each token came from, as offsets (start, end).

    surfaces: the bytes that each token stands for, in order, after whatever normalisation the tokenizer did (NFC to NFKD,
    lower case, accents, controls or spaces dropped); None for an unknown token, which takes what its neighbours leave.
    Parts of one character all get that character. text: without lone surrogates.
    """
    joined = b"".join(_UNKNOWN if surface is None else surface for surface in surfaces).decode("utf-8", "surrogateescape")
    places = _locate_letters(joined, text)
    character_of = [i for i, character in enumerate(joined) for _ in range(len(character.encode("utf-8", "surrogateescape")))]
    token_spans: list[Span | None] = []
    has_letters: list[bool] = []
    at = 0
    for surface in surfaces:
        size = 1 if surface is None else len(surface)
        mine = sorted(set(character_of[at : at + size]))
        at += size
        spans = [place for i in mine if (place := places[i]) is not None]
        token_spans.append((min(s for s, _ in spans), max(e for _, e in spans)) if spans else None)
        has_letters.append(any(_fold(joined[i]) for i in mine))
    return _fill(token_spans, has_letters, text)


def settle(tokens: Sequence[Token], text: str) -> list[Span]:
    """Return the offsets of one text's tokens in the house's convention.

    A token covers its leading space and the accents of its last letter, and a space that the tokenizer put there itself
    covers nothing. Neither starts nor ends ever decrease, and all lie within the text.
    """
    settled = []
    low = done = 0
    for i, token in enumerate(tokens):
        following = tokens[i + 1] if i + 1 < len(tokens) else None
        start, end = _span_of(token, following, done, text)
        limit = len(text) if following is None else following.start
        while start < end < limit and not token.special and unicodedata.combining(text[end]):
            end += 1
        end = min(max(end, done), len(text))
        start = min(max(start, low), end)
        low, done = start, end
        settled.append((start, end))
    return settled


def _span_of(token: Token, following: Token | None, done: int, text: str) -> Span:
    token_text, start, end = token.text, token.start, token.end
    body = token_text.lstrip(" ")
    if following is not None and following.start < start:  # trimmed of a space that was never typed
        start, end = following.start, end if body else following.start
    covered = text[start:end]
    if covered.strip() and (token.special or covered.strip() == token_text):  # added tokens may take the spaces around them
        return start + len(covered) - len(covered.lstrip()), end - len(covered) + len(covered.rstrip())
    if not body and start < end:
        overlaps = following is not None and start <= following.start < end
        if overlaps or not any(character.isspace() or character == "▁" for character in covered):
            # a space of the tokenizer's own, laid on the character that follows: is it one that was typed before?
            before = start - len(token_text)
            return (before, start) if before >= done and text.startswith(token_text, before) else (start, start)
    if covered == token_text:
        return start, end
    for place, candidate in ((start - len(token_text) + len(body), token_text), (done, token_text), (done, body)):
        if done <= place <= start and place + len(candidate) >= end and text.startswith(candidate, place):
            return place, place + len(candidate)
    if token_text.startswith(" ") and start > done and text[start - 1] == " " and not covered[:1].isspace():
        return start - 1, end
    return start, end


@cache
def _fold(character: str) -> str:
    """Return a character under every normalisation that tokenizers do; "" for spaces, accents and controls."""
    if character == _WILD:
        return _WILD
    if character in "▁\ufffd":
        return ""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(part for part in plain if unicodedata.category(part)[0] not in "MCZ")


def _locate_letters(spelling: str, text: str) -> list[Span | None]:
    """Return the stretch of the text for each character that the tokens spell; None where there is none."""
    if spelling == text:
        return [(i, i + 1) for i in range(len(text))]
    ours = [(part, i) for i, character in enumerate(spelling) for part in _fold(character)]
    theirs = [(part, i) for i, character in enumerate(text) for part in _fold(character)]
    matched = _match("".join(part for part, _ in ours), "".join(part for part, _ in theirs))
    places: list[Span | None] = [None] * len(spelling)
    for (_, i), there in zip(ours, matched, strict=True):
        if there >= 0:
            at = theirs[there][1]
            start, end = places[i] or (at, at)
            places[i] = min(start, at), max(end, at + 1)
    return _place_folded(places, spelling, text)


def _match(ours: str, theirs: str) -> list[int]:
    """Return the place in `theirs` of each letter of `ours`, -1 for none. After a mismatch the two meet again soonest."""
    matched = [-1] * len(ours)
    i = j = 0
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j]:
            matched[i] = j
            i, j = i + 1, j + 1
            continue
        meeting = next((m for length in _NEEDLES if (m := _meet(ours, theirs, i, j, length))), None)
        if meeting is None:
            break
        i, j = meeting
    return matched


def _meet(ours: str, theirs: str, i: int, j: int, length: int) -> tuple[int, int] | None:
    """Return where the two agree again with the fewest letters given up. Letters of an unknown token cost nothing."""
    best, cost = None, len(theirs) + _REACH
    for k in range(i, min(i + _REACH, len(ours))):
        unknown = ours.count(_WILD, i, k)
        if k - i - unknown >= cost:
            break
        rest = len(theirs) - len(ours) + k
        if k - i == unknown > 0 and rest >= j + unknown and theirs.endswith(ours[k:]):
            return k, rest  # all that follows is known, and how the text ends
        needle = ours[k : k + length].partition(_WILD)[0]
        if len(needle) < length and k - i > unknown:
            continue  # too little to give up known letters for
        at = theirs.find(needle, j + unknown) if needle else -1  # what is unknown was one letter at the least
        given_up = k - i - unknown + (0 if unknown else at - j)
        if at >= 0 and given_up < cost:
            best, cost = (k, at), given_up
    return best


def _place_folded(places: list[Span | None], spelling: str, text: str) -> list[Span | None]:
    """Place spaces, accents and controls, which have no letter to match, as they stand between matched neighbours."""
    i, done = 0, 0
    while i < len(spelling):
        here = places[i]
        if here is not None:
            done = max(done, here[1])
            i += 1
            continue
        stop, (limit, _) = _next_known(places, i, len(text))
        run = spelling[i:stop]
        if not any(_fold(character) for character in run):
            at = limit - len(run) if text.endswith(run, done, limit) else text.find(run, done, limit)
            for k in range(i, stop):
                place = at + k - i if at >= 0 else text.find(spelling[k], done, limit)
                if place >= 0:
                    places[k] = place, place + 1
                    done = place + 1
        i = stop
    return places


def _fill(token_spans: list[Span | None], has_letters: list[bool], text: str) -> list[Span]:
    """Place tokens that were not found: those that have letters share the words of the gap, the others stand at its start."""
    filled: list[Span] = []
    done = 0
    while (i := len(filled)) < len(token_spans):
        here = token_spans[i]
        if here is not None:
            filled.append(here)
            done = max(done, here[1])
            continue
        stop, (limit, _) = _next_known(token_spans, i, len(text))
        limit = max(limit, done)
        while 0 < done < limit and unicodedata.combining(text[done]):  # an accent that was dropped
            done += 1
        words = [(done + word.start(), done + word.end()) for word in re.finditer(r"\S+", text[done:limit])]
        owners = [k for k in range(i, stop) if has_letters[k]]
        whole = (words[0][0], words[-1][1]) if words else (done, done)
        shares = dict(zip(owners, words if len(words) == len(owners) else [whole] * len(owners), strict=True))
        for k in range(i, stop):
            filled.append(shares.get(k, (done, done)))
            done = filled[k][1] if k in shares and len(words) == len(owners) else done
    return filled


def _next_known(spans: list[Span | None], at: int, end: int) -> tuple[int, Span]:
    """Return the index and the stretch of the first token at or after `at` that was found; after the last one, the end."""
    located = ((i, span) for i in range(at, len(spans)) if (span := spans[i]) is not None)
    return next(located, (len(spans), (end, end)))
