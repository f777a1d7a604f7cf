"""The boards of page "Flow": the tokens, the prediction that is followed, and one for each view."""

from __future__ import annotations

from pathlib import Path

from pages.flow.boards import findings, methods, question, streams
from pages.flow.request import request_of
from pages.flow.settings import Followed, Layers, Methods, Reading, Settings, Streams, Tokens, Unfollowed, Without
from ui.look import Look
from ui.picture.board import Board, Draft

HERE = Path(__file__).parent


def compose(look: Look, settings: Settings, reading: Reading) -> Board:
    """Return the board of a part of the page for a text. It does not read the session, so any thread may call it."""
    draft, request = Draft(HERE, look), request_of(look, settings)
    match reading:
        case Tokens():
            question.add_tokens(draft, request.position)
        case Followed():
            question.add_prediction(draft, request.position, reading)
        case Methods():
            methods.add(draft, request, reading)
        case Layers():
            methods.add_layers(draft, request, reading)
        case Streams():
            streams.add(draft, request, settings, reading)
        case Without():
            findings.say_without(draft, request, reading)
        case Unfollowed():
            draft.note("flow-unfollowed", "nothing to follow")
    return draft.finished()
