"""What is said of each step by which a word became pieces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from models.pieces.values import Lattice, Merges, Tries, Word
from pages.inside.pieces.recipes import MOST, score
from ui.words import words
from viz.tokens import label

HERE = Path(__file__).parent


def steps(word: Word) -> tuple[list[str], list[str]]:
    """What the steps are called, and a sentence of each."""
    found = word.steps
    if isinstance(found, Merges):
        return merges(word, found)
    if isinstance(found, Tries):
        return tries(word, found)
    if isinstance(found, Lattice):
        return lattice(word, found)
    return [""], [say("added" if word.added else "looked up", word=quoted(word.text), piece=quoted(word.pieces[0].text))]


def merges(word: Word, found: Merges) -> tuple[list[str], list[str]]:
    count = len(found.merges)
    said = {"word": quoted(word.text), "rules": f"{found.rules:,}", "letters": len(found.letters), "count": pieces(found.pieces)}
    if found.whole:
        return [""], [say("whole", **said)]
    told = [say("letters" if count else "no merge" if len(found.letters) > 1 else "no letters", **said)]
    for merge in found.merges:
        said |= {"left": quoted(merge.left.text), "right": quoted(merge.right.text), "result": quoted(merge.result.text)}
        told.append(say("merge", **said, rank=f"{merge.rank:,}"))
    if count:
        told[-1] += " " + say("merged", **said)
    return [f"{at} of {count}" for at in range(count + 1)] if count else [""], told


def tries(word: Word, found: Tries) -> tuple[list[str], list[str]]:
    said = {"word": quoted(word.text), "unknown": found.pieces[0].text, "count": pieces(found.pieces)}
    shown = found.tries[:MOST]
    told = [say("found" if one.found else "not found", piece=quoted(one.piece.text)) for one in shown]
    if found.long:
        told.append(say("too long", **said))
    elif found.unknown:
        told.append(say("unknown", **said))
    elif len(found.tries) > len(shown):
        told.append(say("more look-ups", **said, more=f"{len(found.tries) - len(shown):,}"))
    else:
        told[-1] += " " + say("all found", **said)
    return [f"{at} of {len(told)}" for at in range(1, len(told) + 1)], told


def lattice(word: Word, found: Lattice) -> tuple[list[str], list[str]]:
    starts = sorted({one.piece.start for one in found.candidates})
    told = []
    for start in starts:
        here = [one for one in found.candidates if one.piece.start == start]
        known = [one for one in here if not one.unknown]
        said = {"letter": start + 1, "count": pieces(known), "pieces": ", ".join(quoted(one.piece.text) for one in known)}
        told.append(say("candidates" if known else "no candidate", **said, penalty=score(here[-1].score)))
    best = found.ways[0]
    said = {"pieces": " ".join(quoted(one.text) for one in best.pieces), "score": score(best.score)}
    told.append(say("best way", **said))
    if len(found.ways) > 1:
        told.append(say("other ways", **said, next=score(found.ways[1].score), apart=score(best.score - found.ways[1].score)))
    return [f"{at} of {len(told)}" for at in range(1, len(told) + 1)], told


def pieces(found: Sequence[object]) -> str:
    """How many there are."""
    return many(len(found), "piece")


def many(count: int, one: str) -> str:
    """A number of something: "1 piece", "2 pieces"."""
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def say(heading: str, **said: object) -> str:
    return words(HERE, heading, **said)


def quoted(text: str) -> str:
    """A piece in a sentence, its spaces seen."""
    return f"“{label(text)}”"
