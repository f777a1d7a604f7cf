"""Page "Space": tokens as points that move from layer to layer, one word in several texts, and the vectors of the vocabulary."""

from pathlib import Path

from pages.space import contexts, tokens, vocabulary
from ui import shell
from ui.choices import parts, scope
from ui.look import Look
from ui.show import picture

HERE = Path(__file__).parent
PARTS = {"Tokens": tokens.draw, "One word": contexts.draw, "Vocabulary": vocabulary.draw}


def draw(look: Look) -> None:
    part = parts.chosen("space", tuple(PARTS), "the part")
    with picture(f"The part “{part}”"):
        PARTS[part](HERE, look)


scope.special_side_bar()
shell.live(HERE, draw)
