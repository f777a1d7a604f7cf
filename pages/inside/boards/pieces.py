"""The board of the stage "pieces": the tokenizer's steps from the text to these tokens."""

from __future__ import annotations

from typing import Any

import numpy as np

from analysis.scopes import typed
from models.pieces.values import Lattice, Merges, Pieces, Tries, Word
from pages.inside.pieces import recipes, sentences
from pages.inside.settings import Cuts, Settings
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import Card, Part
from viz.tokens import label, named

BOARD = "inside-pieces"
SHOWN = 400  # characters of the text after the normalizer


def add(draft: Draft, settings: Settings, reading: Cuts) -> None:
    """Add the words of the text, and the steps of the chosen word."""
    look, pieces = draft.look, reading.pieces
    about = introduction(draft, pieces)
    if not pieces.words:
        draft.add_cards(BOARD, [Card([Part("before", None, about)])], "The text and its words")
        return
    at = word_at(look, pieces, settings.word)
    cards = [Card([draft.picture(words_picture(look, pieces, at), about, draft.words("press"))])]
    if reading.with_steps:
        how, title = draft.words(f"how {kind(pieces.words[at])}"), f"“{named(pieces.words[at].text)}”"
        cards.append(Card([draft.picture(steps_picture(draft, pieces, at), how)], title))
    if rule := draft.words(f"rule {pieces.kind}"):
        cards.append(Card([Part("rule", None, rule)]))
    draft.add_cards(BOARD, cards, "How the text became tokens")


def kind(word: Word) -> str:
    return {Merges: "BPE", Tries: "WordPiece", Lattice: "Unigram"}.get(type(word.steps), "added" if word.added else "WordLevel")


def introduction(draft: Draft, pieces: Pieces) -> str:
    """Describe the text's changes before it was cut into words, and the steps that the tokenizer does not show."""
    normalized, added = "".join(pieces.sections), [f"“{label(word.text)}”" for word in pieces.words if word.added]
    facts = {
        "note": pieces.note,
        "kind": pieces.kind,
        "size": f"{pieces.size:,}",
        "words": sentences.quantity(len(pieces.words), "word"),
        "normalizer": escape(pieces.normalizer),
        "splitter": escape(pieces.pre_tokenizer),
        "text": f"“{escape(normalized[:SHOWN])}”",
        "added": escape(", ".join(dict.fromkeys(added))),
    }
    headings = [["note"]] * bool(pieces.note) + [["source"]] * bool(draft.look.trace.target)
    if pieces.kind:
        headings += [["changed" if normalized != pieces.text else "unchanged" if pieces.normalizer else "no normalizer"]]
        headings += [["split", spaces(pieces)] if pieces.pre_tokenizer else ["not split"]]
        headings += [["added tokens"]] * bool(added)
    paragraphs = (" ".join(filter(None, (draft.words(heading, **facts) for heading in section))) for section in headings)
    return "\n\n".join(filter(None, paragraphs))


def spaces(pieces: Pieces) -> str:
    """Return the heading for the spaces of a text, "" for a text without spaces between words."""
    if " " not in pieces.text.strip():
        return ""
    return "spaces kept" if any(word.text.startswith(" ") for word in pieces.words) else "spaces dropped"


def escape(text: str) -> str:
    """Escape the marks that a board would read in a text."""
    return text.replace("`", "'").replace("*", "\\*").replace("\n", " ")


def word_at(look: Look, pieces: Pieces, clicked: int | None) -> int:
    """Return the index of the word whose steps are shown: the clicked word, else the word of the followed token, else the first
    of those with the most steps."""
    at = word_of_token(look, pieces) if clicked is None else clicked
    return max(range(len(pieces.words)), key=lambda i: (step_count(pieces.words[i]), -i)) if at is None else at


def step_count(word: Word) -> int:
    """Count the steps of a word."""
    match word.steps:
        case Merges(merges=merges):
            return len(merges)
        case Tries(tries=tries):
            return len(tries)
        case Lattice(candidates=candidates):
            return len(candidates)
    return 0


def word_of_token(look: Look, pieces: Pieces) -> int | None:
    """Return the index of the word that the followed token is a piece of, None where there is none."""
    places = typed(look.trace.tokens)
    words_of = [i for i, word in enumerate(pieces.words) for _ in word.pieces]
    at = look.token_among(len(look.trace.tokens))
    if at not in places or len(places) != len(words_of) or look.trace.target:
        return None
    return words_of[places.index(at)]


def words_picture(look: Look, pieces: Pieces, at: int) -> Picture:
    notes = [sentences.count_pieces(word.pieces) for word in pieces.words]

    def numbers() -> dict[str, Numbers]:
        counts = np.array([len(word.pieces) for word in pieces.words], dtype=np.float32)
        return {"pieces": Numbers(counts, ("word",), {"word": [word.text for word in pieces.words]})}

    return picture_of(look, recipes.words, {"chosen": at, "notes": notes}, numbers, "words", "The words and their tokens", pieces)


def steps_picture(draft: Draft, pieces: Pieces, at: int) -> Picture:
    look = draft.look
    word = pieces.words[at]
    names, texts = sentences.steps(draft.words, word)
    options = {"word": at, "names": names, "sentences": texts, "numbered": not look.beginner}
    return picture_of(
        look, recipes.steps, options, lambda: figures(word), "steps", f"How “{named(word.text)}” became tokens", pieces
    )


def figures(word: Word) -> dict[str, Numbers]:
    """Return the ids of the pieces, and the ranks or scores of the steps."""
    ids = [-1 if piece.id is None else piece.id for piece in word.pieces]
    numbers = {"id": Numbers(np.array(ids), ("piece",), {"piece": [piece.text for piece in word.pieces]})}
    match word.steps:
        case Merges(merges=merges) if merges:
            names = [f"{merge.left.text} + {merge.right.text}" for merge in merges]
            numbers["rank"] = Numbers(np.array([merge.rank for merge in merges]), ("merge",), {"merge": names})
        case Tries(tries=tries) if tries:
            numbers["found"] = Numbers(
                np.array([lookup.in_vocabulary for lookup in tries], np.float32),
                ("try",),
                {"try": [lookup.piece.text for lookup in tries]},
            )
        case Lattice(candidates=candidates) if candidates:
            names = [candidate.piece.text for candidate in candidates]
            numbers["score"] = Numbers(
                np.array([candidate.score for candidate in candidates]), ("candidate",), {"candidate": names}
            )
    return numbers


def picture_of(look: Look, recipe: Any, options: dict[str, Any], numbers: Any, part: str, title: str, pieces: Pieces) -> Picture:
    return Picture(
        recipe, (look,), options, BOARD, numbers, title=title, part=part, takes=("model", "trace"), known={"pieces": pieces}
    )
