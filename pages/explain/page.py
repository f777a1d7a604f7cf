"""Page "Explain": which words of the input support a prediction, by every method, and how far to trust them."""

from collections.abc import Sequence
from functools import partial

from pages.explain import believe, choose, methods, text
from pages.explain import state as page_state
from pages.explain.asked import position, request_of
from pages.explain.boards.tokens import APART, CHIPS, HEADLESS, UNCOVERED
from pages.explain.compose import HERE, compose
from pages.explain.settings import Asked, Settings, Tokens
from ui import shell, state
from ui.choices import picker, scope
from ui.choices.widgets import tabs
from ui.look import Look
from ui.memory import loaded
from ui.picture.board import Board
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture

PANELS = dict(zip(page_state.EXPLAIN.values, (text.panel, methods.panel, believe.panel), strict=True))


def draw(look: Look) -> None:
    board = composed(compose, look, Settings(), Tokens())
    place(board, look, APART, CHIPS, HEADLESS)
    if not look.trace.predicts:
        return
    view = page_state.EXPLAIN.values[0]
    above = shell.above()
    if look.beginner:
        state.later("intermediate", page_state.EXPLAIN)
    else:
        with above:
            view = tabs(page_state.EXPLAIN, "the view")
    place(board, look, UNCOVERED)
    settings = Settings(*choose.prediction(look, position(look)))
    request = request_of(look, settings)
    pictures: Sequence[Picture] = ()
    if view == page_state.EXPLAIN.values[0] or not request.question.units:
        mount_all(composed(compose, look, settings, Asked()))
    if not request.question.units:
        return
    with picture(f"The view “{view}”"):
        pictures = PANELS[view](request)
    with above, picture("“Take it away”"):
        take_away("explain", lambda: pictures)


def place(board: Board, look: Look, *keys: str) -> None:
    """Place the board's contents under these keys."""
    for key in keys:
        if key in board.contents:
            mount(board, key, partial(choose.select_token, look) if key == CHIPS else None)


of_images = "image" in loaded.info(picker.in_use()).reads
if not of_images:
    scope.side_bar()
shell.live(HERE, draw, purpose="purpose image" if of_images else "purpose", reads_images=True)
