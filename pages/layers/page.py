"""Page "Layers": how attention changes from layer to layer, every head in numbers, and what each layer would predict."""

from collections.abc import Sequence

from pages.layers import evolution, lens, of_image, statistics
from pages.layers import state as page_state
from pages.layers.compose import HERE
from ui import shell, state
from ui.choices import heads, patches, picker
from ui.choices.widgets import tabs
from ui.live.connect import Live
from ui.look import Look
from ui.memory import loaded
from ui.picture.mount import composed
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture
from ui.words import heading_for

PARTS = dict(zip(page_state.PART.values, (evolution.draw, statistics.draw, lens.draw), strict=True))


def offered(look: Look) -> tuple[str, ...]:
    """Return the parts, the one that the page opens with first: for beginners what each layer would guess, where it guesses."""
    _, numbers, guesses = page_state.PART.values
    if not look.beginner:
        return page_state.PART.values
    state.later("intermediate", page_state.MOVIE)
    return (numbers, guesses) if look.trace.unembed is None else (guesses, numbers)


def draw(look: Look) -> Live | None:
    if "image" in look.model.info.reads:
        return draw_picture(look)
    above = shell.above()
    pictures: Sequence[Picture] = ()
    live: Live | None = None
    with above:
        part = tabs(page_state.PART, "the part", offered(look))
    with picture(f"The part “{part}”"):
        pictures, live = PARTS[part](look)
    with above, picture("“Take it away”"):
        take_away(part, lambda: pictures)
    return live


def draw_picture(look: Look) -> Live:
    """Place what each layer makes of a picture."""
    board = composed(of_image.compose, look)
    patches.place(board, "layers", look, of_image.picked)
    take_away("layers", lambda: board.pictures)
    return Live(of_image.compose_from, board, {}, of_image.picked, parts=of_image.PARTS)


heads.side_bar(picker.in_use())
info = loaded.info(picker.in_use())
case = "image" if "image" in info.reads else "" if info.predicts and not info.labels else "no guesses"
shell.live(HERE, draw, purpose=heading_for(HERE, "purpose", case), reads_images=True)
