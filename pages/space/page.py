"""Page "Space": one word in several texts, tokens as points that move from layer to layer, and the vectors of the vocabulary."""

from collections.abc import Sequence

from pages.space import contexts, further, tokens, vocabulary
from pages.space import state as page_state
from pages.space.compose import HERE
from ui import shell
from ui.choices import picker, scope
from ui.choices.widgets import tabs
from ui.look import Look
from ui.memory import loaded
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture
from ui.words import heading_for

PARTS = dict(zip(page_state.SPACE.values, (contexts.draw, tokens.draw, vocabulary.draw), strict=True))


def draw(look: Look) -> None:
    if "image" in look.model.info.reads:
        pictures = tokens.draw(look)
        take_away("patches", lambda: pictures, further.draw)
        return
    above = shell.above()
    with above:
        part = tabs(page_state.SPACE, "the part")
    drawn: Sequence[Picture] = ()
    with picture(f"The part “{part}”"):
        drawn = PARTS[part](look)
    with above, picture("“Take it away”"):
        take_away(part, lambda: drawn, further.draw)


def uses_no_text() -> bool:
    """Return whether the part shows words of the vocabulary alone."""
    return page_state.SPACE.get_or(page_state.SPACE.in_address) == page_state.SPACE.values[2]


scope.special_side_bar()
case = "image" if "image" in loaded.info(picker.in_use()).reads else ""
shell.live(HERE, draw, purpose=heading_for(HERE, "purpose", case), hides_boxes=uses_no_text, reads_images=True)
