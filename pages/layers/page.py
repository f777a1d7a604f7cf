"""Page "Layers": how attention changes from layer to layer, every head in numbers, and what each layer would predict."""

from pathlib import Path

from pages.layers import evolution, lens, statistics
from ui import shell, state
from ui.choices import heads, picker
from ui.choices.widgets import tabs
from ui.look import Look
from ui.picture.take_away import take_away
from ui.show import picture

HERE = Path(__file__).parent
PARTS = dict(zip(state.PART.values, (evolution.draw, statistics.draw, lens.draw), strict=True))


def draw(look: Look) -> None:
    above, pictures = shell.above(), []
    with above:
        part = tabs(state.PART, "the part")
    with picture(f"The part “{part}”"):
        pictures = PARTS[part](HERE, look)
    with above, picture("“Take it away”"):
        take_away(part, lambda: pictures)


heads.side_bar(picker.in_use())
shell.live(HERE, draw)
