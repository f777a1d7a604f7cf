"""The stage "pieces": how the tokenizer came from the text to these tokens, and the same text through another tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from analysis.scopes import typed
from models.pieces.values import Lattice, Merges, Pieces, Tries, Word
from pages.inside.pieces import beside, recipes, told
from ui import state
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.show import choice, picture, show
from ui.text import number_below
from ui.words import words
from viz import Card, Part, board
from viz.tokens import label, named

HERE = Path(__file__).parent
BOARD = "inside-pieces"
SHOWN = 400  # characters of the text after the normalizer


def draw(look: Look) -> list[Picture]:
    """Both parts, below each other; gives their pictures."""
    pictures: list[Picture] = []
    with picture("How the pieces came about"):
        pictures += by_steps(look)
    with picture("The other tokenizer"):
        pictures += beside.draw(look)
    return pictures


def by_steps(look: Look) -> list[Picture]:
    """The words, and the steps of the one that is chosen."""
    found = look.model.pieces(read(look))
    about = before(look, found)
    if not found.words:
        show(board([Card([Part("before", None, about)])], "The text and its words"), BOARD)
        return []
    at = chosen(look, found)
    made = [the_words(look, found, at), the_steps(look, found, at)]
    cards = [
        Card([made[0].on_board(about, words(HERE, "press"))]),
        Card([made[1].on_board(words(HERE, f"how {kind(found.words[at])}"))], f"“{named(found.words[at].text)}”"),
    ]
    if rule := words(HERE, f"rule {found.kind}"):
        cards.append(Card([Part("rule", None, rule)]))
    show(board(cards, "How the text became pieces"), BOARD, lambda: state.PIECE_WORD.set(choice(BOARD)["value"]))
    return made


def read(look: Look) -> str:
    """What the model has read of the text."""
    return look.trace.text[look.trace.cut :]


def kind(word: Word) -> str:
    return {Merges: "BPE", Tries: "WordPiece", Lattice: "Unigram"}.get(type(word.steps), "added" if word.added else "WordLevel")


def before(look: Look, found: Pieces) -> str:
    """What happened to the text before words were cut, and what cannot be seen."""
    written, added = "".join(found.sections), [f"“{label(one.text)}”" for one in found.words if one.added]
    said = {
        "note": found.note, "kind": found.kind, "size": f"{found.size:,}", "words": told.many(len(found.words), "word"),
        "normalizer": bare(found.normalizer), "splitter": bare(found.pre_tokenizer), "text": f"“{bare(written[:SHOWN])}”",
        "added": bare(", ".join(dict.fromkeys(added))),
    }  # fmt: skip
    headings = [["note"]] * bool(found.note) + [["source"]] * bool(look.trace.target)
    if found.kind:
        headings += [["changed" if written != found.text else "unchanged" if found.normalizer else "no normalizer"]]
        headings += [["split", spaces(found)] if found.pre_tokenizer else ["not split"]]
        headings += [["added tokens"]] * bool(added)
    paragraphs = (" ".join(filter(None, (words(HERE, one, **said) for one in each))) for each in headings)
    return "\n\n".join(filter(None, paragraphs))


def spaces(found: Pieces) -> str:
    """Where the spaces of a text went; "" of one that has none between words."""
    if " " not in found.text.strip():
        return ""
    return "spaces kept" if any(word.text.startswith(" ") for word in found.words) else "spaces dropped"


def bare(text: str) -> str:
    """Text without what a board reads as marks."""
    return text.replace("`", "'").replace("*", "\\*").replace("\n", " ")


def chosen(look: Look, found: Pieces) -> int:
    """The word whose steps are shown: the one that was pressed, else that of the token that is kept chosen, else the first of
    those with the most steps."""
    if (asked := state.once(state.PIECE_WORD)) is not None:
        if (number := number_below(asked, len(found.words))) is not None:
            state.PIECE_WORD.set(number)
        else:
            state.complain(state.PIECE_WORD, asked, "the word")
    at = state.PIECE_WORD.get()
    if at is not None and at >= len(found.words):
        at = None
        state.PIECE_WORD.set(None)
    state.keep(state.PIECE_WORD, at, None)
    if at is None:
        at = of_token(look, found)
    return max(range(len(found.words)), key=lambda i: (many(found.words[i]), -i)) if at is None else at


def many(word: Word) -> int:
    """How much there is to see of a word."""
    match word.steps:
        case Merges(merges=merges):
            return len(merges)
        case Tries(tries=tries):
            return len(tries)
        case Lattice(candidates=candidates):
            return len(candidates)
    return 0


def of_token(look: Look, found: Pieces) -> int | None:
    """The word that the kept token is a piece of."""
    places = typed(look.trace.tokens)
    words_of = [i for i, word in enumerate(found.words) for _ in word.pieces]
    if look.kept not in places or len(places) != len(words_of) or look.trace.target:
        return None
    return words_of[places.index(look.kept)]


def the_words(look: Look, found: Pieces, at: int) -> Picture:
    notes = [told.pieces(word.pieces) for word in found.words]

    def numbers() -> dict[str, Numbers]:
        each = np.array([len(word.pieces) for word in found.words], dtype=np.float32)
        return {"pieces": Numbers(each, ("word",), {"word": [word.text for word in found.words]})}

    return made(look, recipes.words, {"chosen": at, "notes": notes}, numbers, "words", "The words and their pieces", found)


def the_steps(look: Look, found: Pieces, at: int) -> Picture:
    word = found.words[at]
    names, each = told.steps(word)
    options = {"word": at, "names": names, "told": each, "numbered": not look.beginner}
    return made(look, recipes.steps, options, lambda: figures(word), "steps", f"How “{named(word.text)}” became pieces", found)


def figures(word: Word) -> dict[str, Numbers]:
    """The pieces' ids, and the ranks or scores of the steps."""
    ids = [-1 if one.id is None else one.id for one in word.pieces]
    found = {"id": Numbers(np.array(ids), ("piece",), {"piece": [one.text for one in word.pieces]})}
    match word.steps:
        case Merges(merges=merges) if merges:
            names = [f"{one.left.text} + {one.right.text}" for one in merges]
            found["rank"] = Numbers(np.array([one.rank for one in merges]), ("merge",), {"merge": names})
        case Tries(tries=tries) if tries:
            found["found"] = Numbers(
                np.array([one.found for one in tries], np.float32), ("try",), {"try": [t.piece.text for t in tries]}
            )
        case Lattice(candidates=candidates) if candidates:
            names = [one.piece.text for one in candidates]
            found["score"] = Numbers(np.array([one.score for one in candidates]), ("candidate",), {"candidate": names})
    return found


def made(look: Look, recipe: Any, options: dict[str, Any], numbers: Any, part: str, title: str, found: Pieces) -> Picture:
    return Picture(
        recipe, (look,), options, BOARD, numbers, title=title, part=part, takes=("model", "trace"), known={"found": found}
    )
