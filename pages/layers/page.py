"""Page "Layers": how attention changes from layer to layer, every head in numbers, and what each layer would predict."""

from pathlib import Path

from pages.layers import evolution, lens, statistics
from ui import shell
from ui.choices import parts, pick, picker
from ui.show import picture

HERE = Path(__file__).parent
PARTS = {"Evolution": evolution.draw, "Statistics": statistics.draw, "Lens": lens.draw}


def draw(model, trace) -> None:
    part = parts.chosen("part", tuple(PARTS), "the part")
    with picture(f"The part “{part}”"):
        PARTS[part](HERE, model, trace)


pick.side_bar(picker.in_use())
shell.live(HERE, draw)
