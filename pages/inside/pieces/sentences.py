"""Names and sentences for the steps by which a word became pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from models.pieces.values import Lattice, Merges, Tries, Word
from pages.inside.pieces.recipes import MOST, score
from viz.tokens import label

Say = Callable[..., str]  # the words under a heading, with what is filled in: `Draft.words`


def steps(say: Say, word: Word) -> tuple[list[str], list[str]]:
    """Return a name and a sentence for each step."""
    word_steps = word.steps
    if isinstance(word_steps, Merges):
        return merge_sentences(say, word, word_steps)
    if isinstance(word_steps, Tries):
        return lookup_sentences(say, word, word_steps)
    if isinstance(word_steps, Lattice):
        return lattice_sentences(say, word, word_steps)
    return [""], [say("added" if word.added else "looked up", word=quoted(word.text), piece=quoted(word.pieces[0].text))]


def merge_sentences(say: Say, word: Word, merge_steps: Merges) -> tuple[list[str], list[str]]:
    count = len(merge_steps.merges)
    facts = {
        "word": quoted(word.text),
        "rules": f"{merge_steps.rules:,}",
        "letters": len(merge_steps.letters),
        "count": count_pieces(merge_steps.pieces),
    }
    if merge_steps.whole:
        return [""], [say("whole", **facts)]
    sentences = [say("letters" if count else "no merge" if len(merge_steps.letters) > 1 else "no letters", **facts)]
    for merge in merge_steps.merges:
        facts |= {"left": quoted(merge.left.text), "right": quoted(merge.right.text), "result": quoted(merge.result.text)}
        sentences.append(say("merge", **facts, rank=f"{merge.rank:,}"))
    if count:
        sentences[-1] += " " + say("merged", **facts)
    return [f"{at} of {count}" for at in range(count + 1)] if count else [""], sentences


def lookup_sentences(say: Say, word: Word, lookups: Tries) -> tuple[list[str], list[str]]:
    facts = {"word": quoted(word.text), "unknown": lookups.pieces[0].text, "count": count_pieces(lookups.pieces)}
    drawn = lookups.tries[:MOST]
    sentences = [say("found" if lookup.in_vocabulary else "not found", piece=quoted(lookup.piece.text)) for lookup in drawn]
    if lookups.long:
        sentences.append(say("too long", **facts))
    elif lookups.unknown:
        sentences.append(say("unknown", **facts))
    elif len(lookups.tries) > len(drawn):
        sentences.append(say("more look-ups", **facts, more=f"{len(lookups.tries) - len(drawn):,}"))
    else:
        sentences[-1] += " " + say("all found", **facts)
    return [f"{at} of {len(sentences)}" for at in range(1, len(sentences) + 1)], sentences


def lattice_sentences(say: Say, word: Word, word_lattice: Lattice) -> tuple[list[str], list[str]]:
    starts = sorted({candidate.piece.start for candidate in word_lattice.candidates})
    sentences = []
    for start in starts:
        here = [candidate for candidate in word_lattice.candidates if candidate.piece.start == start]
        known = [candidate for candidate in here if not candidate.unknown]
        facts = {
            "letter": start + 1,
            "count": count_pieces(known),
            "pieces": ", ".join(quoted(candidate.piece.text) for candidate in known),
        }
        sentences.append(say("candidates" if known else "no candidate", **facts, penalty=score(here[-1].score)))
    best = word_lattice.ways[0]
    facts = {"pieces": " ".join(quoted(piece.text) for piece in best.pieces), "score": score(best.score)}
    sentences.append(say("best way", **facts))
    if len(word_lattice.ways) > 1:
        sentences.append(
            say(
                "other ways",
                **facts,
                next=score(word_lattice.ways[1].score),
                apart=score(best.score - word_lattice.ways[1].score),
            )
        )
    return [f"{at} of {len(sentences)}" for at in range(1, len(sentences) + 1)], sentences


def count_pieces(items: Sequence[object]) -> str:
    """Return the number of pieces in words."""
    return quantity(len(items), "token")


def quantity(count: int, noun: str) -> str:
    """Return a number with its noun: "1 piece", "2 pieces"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def quoted(text: str) -> str:
    """Quote a piece for a sentence, with its spaces visible."""
    return f"“{label(text)}”"
