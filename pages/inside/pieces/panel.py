"""The stage "pieces": the tokenizer's steps from the text to these tokens, and the same text through another tokenizer."""

from __future__ import annotations

from models.pieces.values import Pieces
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
    boards, other = list[Board](), None
    with picture("How the pieces came about"):
        boards.append(draw_steps(look))
    with picture("The other tokenizer"):
        if other := comparison.draw():
            boards.append(composed(compose, look, Settings(), other))
            mount_all(boards[-1])
    return joined(boards), other


def draw_steps(look: Look) -> Board:
    """Draw the words of the text, and the steps of the chosen word."""
    pieces = cuts_of(look)
    settings = Settings(word=clicked_word(pieces) if pieces.words else None)
    board = composed(compose, look, settings, Cuts(pieces))
    mount_all(board, {BOARD: click_word} if pieces.words else {})
    return board


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
