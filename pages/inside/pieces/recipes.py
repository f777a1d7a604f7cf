"""Recipes for the pictures of this part: each takes a model, a trace, and options with literal values.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
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


def words(model: LanguageModel, trace: Trace, *, chosen: int, notes: list[str], pieces: Pieces | None = None) -> View:
    """Draw the words that the tokenizer cuts, with a note below each."""
    pieces = pieces or model.pieces(trace.text[trace.cut :])
    return token_chips([as_token(word) for word in pieces.words], chosen, ids=False, notes=notes, label="The words")


def as_token(word: Word) -> Token:
    return Token(0, word.text, 0, 0, special=word.added)


def steps(
    model: LanguageModel,
    trace: Trace,
    *,
    word: int,
    names: list[str],
    sentences: list[str],
    numbered: bool,
    pieces: Pieces | None = None,
) -> View:
    """Draw how a word became pieces. names, sentences: a name and a sentence for each step; numbered: with ranks or scores."""
    pieces = pieces or model.pieces(trace.text[trace.cut :])
    chosen_word = pieces.words[word]
    letters, rows = (
        rows_of(chosen_word.steps, numbered) if chosen_word.steps else (1, [Row([Box(chosen_word.text, 0, 1, "taken")])])
    )
    return pieces_view(
        letters, rows, names, sentences, label=f"How “{chosen_word.text}” becomes {len(chosen_word.pieces)} of the vocabulary"
    )


def rows_of(word_steps: Steps, numbered: bool) -> tuple[int, list[Row]]:
    """Return the number of letters, and the rows over them."""
    if isinstance(word_steps, Merges):
        return len(word_steps.letters), merge_rows(word_steps, numbered)
    if isinstance(word_steps, Tries):
        return max(piece.end for piece in (*word_steps.pieces, *(lookup.piece for lookup in word_steps.tries))), lookup_rows(
            word_steps
        )
    return max(candidate.piece.end for candidate in word_steps.candidates), lattice_rows(word_steps, numbered)


def merge_rows(merges: Merges, numbered: bool) -> list[Row]:
    """Return a row for the letters, and a row for each merge."""
    rows = [Row([box(piece, "taken" if merges.whole else "") for piece in merges.letters])]
    for count, merge in enumerate(merges.merges, 1):
        boxes = [box(piece, "new" if piece == merge.result else "") for piece in merges.after(count)]
        rows.append(Row(boxes, count, f"rank {merge.rank:,}" if numbered else f"{count}."))
    return rows


def lookup_rows(lookups: Tries) -> list[Row]:
    """Return a row for each look-up, with the pieces that were found before it."""
    rows: list[Row] = []
    before: list[Box] = []
    for count, lookup in enumerate(lookups.tries[:MOST]):
        rows.append(Row([*before, box(lookup.piece, "new" if lookup.in_vocabulary else "missing")], count, f"{count + 1}."))
        before += [box(lookup.piece)] if lookup.in_vocabulary else []
    if lookups.unknown or len(lookups.tries) > MOST:
        rows.append(Row([box(piece, "taken") for piece in lookups.pieces], len(rows)))
    return rows


def lattice_rows(lattice: Lattice, numbered: bool) -> list[Row]:
    """Return all candidates in as few rows as possible; below them the best way, its tokens, and other ways."""
    starts = sorted({candidate.piece.start for candidate in lattice.candidates})
    best = {(piece.start, piece.end) for piece in lattice.ways[0].pieces}
    packed: list[list[Candidate]] = []
    for candidate in lattice.candidates:
        row = next((row for row in packed if row[-1].piece.end <= candidate.piece.start), None)
        if row is None:
            packed.append([candidate])
        else:
            row.append(candidate)

    def candidate_box(candidate: Candidate) -> Box:
        mark = "taken" if (candidate.piece.start, candidate.piece.end) in best else ""
        note = score(candidate.score) if numbered else ""
        return box(candidate.piece, mark, note, starts.index(candidate.piece.start))

    rows = [Row([candidate_box(candidate) for candidate in row], starts.index(row[0].piece.start)) for row in packed]
    for place, way in enumerate(lattice.ways):
        note = ("best way" if not place else "other way") + (f" {score(way.score)}" if numbered else "")
        rows.append(Row([box(piece, "" if place else "new") for piece in way.pieces], len(starts) + min(place, 1), note))
        if not place and [piece.written for piece in way.pieces] != [piece.written for piece in lattice.pieces]:
            rows.append(Row(join_boxes(lattice.pieces), len(starts), "as tokens"))
    return rows


def join_boxes(pieces: tuple[Piece, ...]) -> list[Box]:
    """Return boxes for pieces; bytes of the same letters share a box."""
    texts: dict[tuple[int, int], list[str]] = {}
    for piece in pieces:
        texts.setdefault((piece.start, piece.end), []).append(piece.text)
    return [Box(" ".join(parts) if len(parts) > 1 else parts[0], *span, "new") for span, parts in texts.items()]


def box(piece: Piece, mark: str = "", note: str = "", step: int | None = None) -> Box:
    return Box(piece.text, piece.start, piece.end, mark, piece.fragment, note, step)


def score(value: float) -> str:
    """Format a log-probability with two decimals."""
    return f"{value:.2f}".replace("-", "−")


# ---------------------------------------------------------------- and through another


def own(model: LanguageModel, trace: Trace) -> View:
    """Draw the tokens of the text, without special tokens that the tokenizer adds."""
    return chips(typed_tokens(model.vocabulary, trace.text[trace.cut :]))


def others(trace: Trace, *, other: str, vocabulary: Vocabulary | None = None) -> View:
    """Draw the tokens that another tokenizer makes of the same text."""
    return chips(typed_tokens(vocabulary or models.load_tokenizer(other), trace.text[trace.cut :]))


def chips(tokens: list[Token]) -> View:
    return token_chips(tokens, ids=False)


def typed_tokens(vocabulary: Vocabulary, text: str) -> list[Token]:
    """Return the tokens of a text, without special tokens that the tokenizer adds."""
    return [token for token in vocabulary.tokens(text) if not (token.special and token.start == token.end)]


def counts(model: LanguageModel, *, other: str, names: list[str], vocabulary: Vocabulary | None = None) -> go.Figure:
    """Draw how many tokens each of a few texts takes with both tokenizers. names: of the tokenizers."""
    both = (model.vocabulary, vocabulary or models.load_tokenizer(other))
    totals = {
        name: [len(typed_tokens(tokenizer, text)) for text in PROBES.values()]
        for name, tokenizer in zip(names, both, strict=True)
    }
    return token_counts(list(PROBES), totals)
