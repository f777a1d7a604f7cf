"""Page "Layers": how attention changes from layer to layer, every head in numbers, and what each layer would predict."""

from collections.abc import Sequence

from pages.layers import evolution, lens, statistics
from pages.layers import state as page_state
from pages.layers.compose import HERE
from ui import shell
from ui.choices import heads, picker
from ui.choices.widgets import tabs
from ui.live.connect import Live
from ui.look import Look
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture
from ui.words import say

PARTS = dict(zip(page_state.PART.values, (evolution.draw, statistics.draw, lens.draw), strict=True))


def draw(look: Look) -> Live | None:
    above = shell.above()
    pictures: Sequence[Picture] = ()
    live: Live | None = None
    with above:
        part = tabs(page_state.PART, "the part")
        say(HERE, "parts")
    with picture(f"The part “{part}”"):
        pictures, live = PARTS[part](look)
    with above, picture("“Take it away”"):
        take_away(part, lambda: pictures)
    return live


heads.side_bar(picker.in_use())
shell.live(HERE, draw)
