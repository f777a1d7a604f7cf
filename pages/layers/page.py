"""Page "Layers": how attention changes from layer to layer, every head in numbers, and what each layer would predict."""

from pathlib import Path

from pages.layers import evolution, lens, statistics
from ui import shell
from ui.choices import heads, parts, picker
from ui.look import Look
from ui.show import picture

HERE = Path(__file__).parent
PARTS = {"Evolution": evolution.draw, "Statistics": statistics.draw, "Lens": lens.draw}


def draw(look: Look) -> None:
    part = parts.chosen("part", tuple(PARTS), "the part")
    with picture(f"The part “{part}”"):
        PARTS[part](HERE, look)


heads.side_bar(picker.in_use())
shell.live(HERE, draw)
