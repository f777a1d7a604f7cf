"""The stage "pieces": the tokenizer's steps from the text to these tokens, and the same text through another tokenizer."""

from __future__ import annotations

from models.pieces.values import Pieces
from pages.inside import folding
from pages.inside import state as page_state
from pages.inside.boards.pieces import BOARD
from pages.inside.compose import compose
from pages.inside.parts import cuts_of
from pages.inside.pieces import comparison
from pages.inside.settings import Cuts, Settings, Tokenizer
from ui import state
from ui.escaping import number_below
from ui.look import Look
from ui.picture.board import Board, joined
from ui.picture.mount import composed, mount_all
from ui.show import choice, picture


def draw(look: Look) -> tuple[Board, Tokenizer | None]:
    """Draw both parts, one below the other; return their boards as one, and the other tokenizer, None while there is none."""
    boards, other, is_unfolded = list[Board](), None, not look.beginner
    with picture("How the pieces came about"):
        board, is_unfolded = draw_steps(look)
        boards.append(board)
    if not is_unfolded:
        return joined(boards), other
    with picture("The other tokenizer"):
        if other := comparison.draw():
            boards.append(composed(compose, look, Settings(), other))
            mount_all(boards[-1])
    return joined(boards), other


def draw_steps(look: Look) -> tuple[Board, bool]:
    """Draw the words of the text and the steps of the chosen word. Return their board, and whether the steps are shown."""
    pieces = cuts_of(look)
    word = clicked_word(pieces) if pieces.words else None
    if word is not None or state.linked_value(state.OTHER_TOKENIZER) is not None:
        page_state.PIECES_UNFOLDED.set(True)
    is_unfolded = not look.beginner or page_state.PIECES_UNFOLDED.get()
    board = composed(compose, look, Settings(word=word), Cuts(pieces, is_unfolded))
    mount_all(board, {BOARD: click_word} if pieces.words else {})
    if look.beginner:
        what = f"{'Hide' if is_unfolded else 'Show'} how a word becomes tokens, and another tokenizer"
        folding.place(what, is_unfolded, close if is_unfolded else unfold)
    return board, is_unfolded


def unfold() -> None:
    """Show the steps of a word, and another tokenizer."""
    page_state.PIECES_UNFOLDED.set(True)


def close() -> None:
    """Hide the steps, and the other tokenizer."""
    page_state.PIECES_UNFOLDED.set(False)
    page_state.PIECE_WORD.set(None)
    state.take_linked_value(state.OTHER_TOKENIZER)


def click_word() -> None:
    page_state.PIECE_WORD.set(choice(BOARD)["value"])


def clicked_word(pieces: Pieces) -> int | None:
    """Return the index of the word that was clicked, or that the link names; None for neither."""
    if (link := state.take_linked_value(page_state.PIECE_WORD)) is not None:
        if (number := number_below(link, len(pieces.words))) is not None:
            page_state.PIECE_WORD.set(number)
        else:
            state.complain(page_state.PIECE_WORD, link, "the word")
    at = page_state.PIECE_WORD.get()
    if at is not None and at >= len(pieces.words):
        at = None
        page_state.PIECE_WORD.set(None)
    state.keep(page_state.PIECE_WORD, at, None)
    return at
