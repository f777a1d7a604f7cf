"""How each picture of this part is made: a model, what it read, and options that can be written down.

A notebook that is taken away carries these very functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

import plotly.graph_objects as go

import models
from models.language_model import LanguageModel
from models.pieces.values import Candidate, Lattice, Merges, Piece, Pieces, Steps, Tries, Word
from models.tokens import Token, Vocabulary
from models.trace import Trace
from viz import View, pieces_view, token_chips
from viz.figures.tokens import token_counts
from viz.views.pieces_view import Box, Row

MOST = 200  # look-ups that are drawn of a word
SENTENCE = "The weather is beautiful today."
PROBES = {
    "an emoji": "😀",
    "a number": "1234567",
    "English": SENTENCE,
    "German": "Das Wetter ist heute wunderschön.",
    "Chinese": "今天天气很好。",
    "Python": "def add(a, b):\n    return a + b",
}


# ---------------------------------------------------------------- the text through one tokenizer


def words(model: LanguageModel, trace: Trace, *, chosen: int, notes: list[str], found: Pieces | None = None) -> View:
    """The words that the tokenizer cuts, with what is said below each."""
    found = found or model.pieces(trace.text[trace.cut :])
    return token_chips([as_token(one) for one in found.words], chosen, ids=False, notes=notes, label="The words")


def as_token(word: Word) -> Token:
    return Token(0, word.text, 0, 0, special=word.added)


def steps(
    model: LanguageModel, trace: Trace, *, word: int, names: list[str], told: list[str], numbered: bool,
    found: Pieces | None = None,
) -> View:  # fmt: skip
    """How a word became pieces. names, told: what each step is called, and a sentence of each; numbered: with ranks or scores."""
    found = found or model.pieces(trace.text[trace.cut :])
    one = found.words[word]
    letters, rows = rows_of(one.steps, numbered) if one.steps else (1, [Row([Box(one.text, 0, 1, "taken")])])
    return pieces_view(letters, rows, names, told, label=f"How “{one.text}” becomes {len(one.pieces)} of the vocabulary")


def rows_of(found: Steps, numbered: bool) -> tuple[int, list[Row]]:
    """How many letters there are, and the rows over them."""
    if isinstance(found, Merges):
        return len(found.letters), merged(found, numbered)
    if isinstance(found, Tries):
        return max(one.end for one in (*found.pieces, *(one.piece for one in found.tries))), tried(found)
    return max(one.piece.end for one in found.candidates), weighed(found, numbered)


def merged(found: Merges, numbered: bool) -> list[Row]:
    """The letters, and a row for each merge."""
    rows = [Row([box(one, "taken" if found.whole else "") for one in found.letters])]
    for count, merge in enumerate(found.merges, 1):
        boxes = [box(one, "new" if one == merge.result else "") for one in found.after(count)]
        rows.append(Row(boxes, count, f"rank {merge.rank:,}" if numbered else f"{count}."))
    return rows


def tried(found: Tries) -> list[Row]:
    """A row for each look-up, with the pieces that were found before it."""
    rows: list[Row] = []
    before: list[Box] = []
    for count, one in enumerate(found.tries[:MOST]):
        rows.append(Row([*before, box(one.piece, "new" if one.found else "missing")], count, f"{count + 1}."))
        before += [box(one.piece)] if one.found else []
    if found.unknown or len(found.tries) > MOST:
        rows.append(Row([box(one, "taken") for one in found.pieces], len(rows)))
    return rows


def weighed(found: Lattice, numbered: bool) -> list[Row]:
    """All candidates, packed into as few rows as they fit in; below them the best way, what it is written as, and other ways."""
    starts = sorted({one.piece.start for one in found.candidates})
    best = {(one.start, one.end) for one in found.ways[0].pieces}
    packed: list[list[Candidate]] = []
    for one in found.candidates:
        row = next((row for row in packed if row[-1].piece.end <= one.piece.start), None)
        if row is None:
            packed.append([one])
        else:
            row.append(one)

    def candidate(one: Candidate) -> Box:
        mark = "taken" if (one.piece.start, one.piece.end) in best else ""
        note = score(one.score) if numbered else ""
        return box(one.piece, mark, note, starts.index(one.piece.start))

    rows = [Row([candidate(one) for one in row], starts.index(row[0].piece.start)) for row in packed]
    for place, way in enumerate(found.ways):
        note = ("best way" if not place else "other way") + (f" {score(way.score)}" if numbered else "")
        rows.append(Row([box(one, "" if place else "new") for one in way.pieces], len(starts) + min(place, 1), note))
        if not place and [one.written for one in way.pieces] != [one.written for one in found.pieces]:
            rows.append(Row(together(found.pieces), len(starts), "as tokens"))
    return rows


def together(found: tuple[Piece, ...]) -> list[Box]:
    """Pieces as boxes; the bytes of the same letters in one."""
    texts: dict[tuple[int, int], list[str]] = {}
    for one in found:
        texts.setdefault((one.start, one.end), []).append(one.text)
    return [Box(" ".join(each) if len(each) > 1 else each[0], *span, "new") for span, each in texts.items()]


def box(one: Piece, mark: str = "", note: str = "", step: int | None = None) -> Box:
    return Box(one.text, one.start, one.end, mark, one.fragment, note, step)


def score(value: float) -> str:
    """A log-probability, two places."""
    return f"{value:.2f}".replace("-", "−")


# ---------------------------------------------------------------- and through another


def own(model: LanguageModel, trace: Trace) -> View:
    """The tokens of the text, without those that nobody typed."""
    return chips(typed(model.vocabulary, trace.text[trace.cut :]))


def others(trace: Trace, *, other: str, vocabulary: Vocabulary | None = None) -> View:
    """The tokens that another tokenizer makes of the same text."""
    return chips(typed(vocabulary or models.load_tokenizer(other), trace.text[trace.cut :]))


def chips(tokens: list[Token]) -> View:
    return token_chips(tokens, ids=False)


def typed(vocabulary: Vocabulary, text: str) -> list[Token]:
    """The tokens of a text, without those that a tokenizer adds by itself."""
    return [one for one in vocabulary.tokens(text) if not (one.special and one.start == one.end)]


def counts(model: LanguageModel, *, other: str, names: list[str], vocabulary: Vocabulary | None = None) -> go.Figure:
    """How many tokens each of a few texts costs by both tokenizers. names: what they are called."""
    both = (model.vocabulary, vocabulary or models.load_tokenizer(other))
    each = {name: [len(typed(one, text)) for text in PROBES.values()] for name, one in zip(names, both, strict=True)}
    return token_counts(list(PROBES), each)
