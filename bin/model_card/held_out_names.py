"""How many names that the translator has never read come through it as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bin.model_card.translations import translations
from models.catalog import WEIGHTS
from models.scratch.encoder_decoder_model import EncoderDecoderModel

NAMES, FRAMES = WEIGHTS / "translator" / "names.txt", WEIGHTS / "translator" / "frames.txt"


def survivals(model: EncoderDecoderModel, names: Sequence[str], frames: Sequence[str], width: int) -> list[list[bool]]:
    """Of each name in each frame, whether the answer says it as a word, letter by letter: [name][frame].

    frames: sentences with {} where the name stands.
    """
    answers = iter(translations(model, [frame.format(name) for name in names for frame in frames], width))
    return [[bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", next(answers))) for _ in frames] for name in names]
