"""The tokens on page "Type", of the text and of a target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis import surprise
from pages.type import recipes
from ui.escaping import starred
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz.tokens import label
from viz.views.board import Part

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.tokens import Token
    from models.trace import Trace


def chips(draft: Draft, name: str, tokens: Sequence[Token], chosen: int | None) -> Part:
    """Return the part with the tokens, with the surprise of each below it for a model that reads from left to right."""
    look = draft.look
    model, trace, level, seen = look.model, look.trace, look.level, look.select(tokens)
    left_to_right = trace.unembed is not None and model.info.kind != "encoder" and tokens is trace.read
    options = {
        "target": name == "target",
        "special": look.options.get("special", True),
        "simple": look.beginner,
        "chosen": seen.index(chosen),
        "ids": level != "beginner",
        "positions": level == "expert",
        "surprising": level == "expert" and left_to_right,
        "link": "" if trace.target else "text",
    }

    def numbers() -> dict[str, Numbers]:
        texts = {"token": [token.text for token in seen.tokens]}
        of_token = {"id": Numbers(np.array([token.id for token in seen.tokens]), ("token",), texts)}
        bits = {"surprise_bits": Numbers(surprise(trace)[seen.places], ("token",), texts)} if options["surprising"] else {}
        return of_token | bits

    drawing = Picture(
        recipes.chips,
        (look,),
        options,
        "board",
        numbers,
        title="Target tokens" if name == "target" else "Tokens",
        part=name,
        takes=("trace",),
    )
    above = "cover" if model.info.mask and trace.unembed else ""
    if trace.target:
        above = {"chips": "source", "target": "read again" if model.info.labels else "target"}[name]
    explained = name == "target" and any(token.fragment for token in trace.tokens)  # above, below the source
    notes = ["fragments"] * (not explained and any(token.fragment for token in tokens))
    notes += ["space at the end"] * (tokens is trace.read and waits_for_a_word(model, trace))
    spaced = next((token.text for token in tokens if token.text.startswith(" ") and token.text.strip()), "")
    below = [draft.words("dot", token=starred(label(spaced)))] if look.beginner and spaced and name == "chips" else []
    below += map(draft.words, notes)
    return draft.picture(drawing, draft.words(above, mask=model.info.mask), "\n\n".join(below))


def waits_for_a_word(model: LanguageModel, trace: Trace) -> bool:
    """Return whether the text ends in a space that this model's next word would contain."""
    if model.info.kind == "encoder" or trace.unembed is None or not trace.read or trace.read[-1].text != " ":
        return False
    return any(token.text.startswith(" ") and token.text.strip() for token in model.tokenize("a b"))
