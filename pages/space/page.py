"""Page "Space": one word in several texts, tokens as points that move from layer to layer, and the vectors of the vocabulary."""

from collections.abc import Sequence

from pages.space import contexts, further, tokens, vocabulary
from pages.space import state as page_state
from pages.space.compose import HERE
from ui import shell
from ui.choices import scope
from ui.choices.widgets import tabs
from ui.look import Look
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture

PARTS = dict(zip(page_state.SPACE.values, (contexts.draw, tokens.draw, vocabulary.draw), strict=True))


def draw(look: Look) -> None:
    above = shell.above()
    pictures: Sequence[Picture] = ()
    with above:
        part = tabs(page_state.SPACE, "the part")
    with picture(f"The part “{part}”"):
        pictures = PARTS[part](look)
    with above, picture("“Take it away”"):
        take_away(part, lambda: pictures, further.draw)


def uses_no_text() -> bool:
    """Return whether the part shows words of the vocabulary alone."""
    return page_state.SPACE.get_or(page_state.SPACE.in_address) == page_state.SPACE.values[2]


scope.special_side_bar()
shell.live(HERE, draw, hides_boxes=uses_no_text)
