"""Page "Overview": the whole path of a text through the model in one picture, redrawn at every keystroke."""

from __future__ import annotations

from pages.overview.clicks import react
from pages.overview.compose import HERE, KEY, compose, compose_from
from pages.overview.picking import PARTS, picked
from ui import shell
from ui.choices import heads, picker
from ui.live.connect import Live
from ui.look import Look
from ui.memory import loaded
from ui.picture.mount import composed, mount, write_beside
from ui.picture.take_away import take_away
from ui.words import heading_for


def draw(look: Look) -> Live:
    board = composed(compose, look)
    mount(board, KEY, lambda: react(look))
    take_away(KEY, lambda: board.pictures)
    write_beside(board)
    return Live(compose_from, board, {}, picked, parts=PARTS)


heads.side_bar(picker.in_use())
case = "image" if "image" in loaded.info(picker.in_use()).reads else ""
shell.live(HERE, draw, purpose=heading_for(HERE, "purpose", case), reads_images=True)
