"""The boards of page "Explain"."""

from __future__ import annotations

from pathlib import Path

from pages.explain.asked import request_of
from pages.explain.boards import methods, text, tokens
from pages.explain.boards.methods import explanations_of
from pages.explain.settings import Agreed, Asked, Compared, Costs, Doubted, Explained, Reading, Settings, Tokens
from ui.look import Look
from ui.picture.board import Board, Draft

HERE = Path(__file__).parent


def compose(look: Look, settings: Settings, reading: Reading) -> Board:
    """Return the board of a part of the page for a text. It does not read the session, so any thread may call it.

    The view "Which to believe" is shared with page "Flow" (`ui.believe.compose`).
    """
    draft = Draft(HERE, look)
    match reading:
        case Tokens():
            tokens.add(draft)
        case Asked():
            tokens.add_question(draft, request_of(look, settings))
        case Explained(explanation):
            text.add(draft, request_of(look, settings), explanation, settings.tokens_alone)
        case Doubted(explanation, evidence):
            text.add_doubt(draft, request_of(look, settings), explanation, evidence)
        case Agreed(answers):
            methods.add(draft, request_of(look, settings), answers)
        case Compared(answers, pair):
            methods.add_texts(draft, request_of(look, settings), explanations_of(answers), pair)
        case Costs(explanations, spreads):
            methods.add_costs(draft, request_of(look, settings), explanations, spreads)
    return draft.finished()
