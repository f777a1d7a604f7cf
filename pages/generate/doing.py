"""What a model does with a text, in words: it continues it, translates it, or writes an answer to it."""

from __future__ import annotations

from models.language_model import ModelInfo
from pages.generate.grown import Grown
from ui.memory import loaded

CONTINUE = "Go on"
FIRST = {"": CONTINUE, "translation": "Translate", "answer": "Answer"}  # the first button while nothing is said
MEANWHILE = {"": "Going on", "translation": "Translating", "answer": "Answering"}
TRANSLATOR = "translator"  # of other encoder-decoders it is not known what they were trained for


def written(info: ModelInfo) -> str:
    """What it writes: a "translation" or an "answer"; "" where it continues the text itself."""
    if info.kind != "encoder-decoder":
        return ""
    return "translation" if info.name == TRANSLATOR else "answer"


def case(info: ModelInfo) -> str:
    """The same as a case of a heading (`ui.words.headed`); "none" where the model writes nothing."""
    return "none" if info.kind == "encoder" or info.labels or not info.predicts else written(info)


def by_one(info: ModelInfo) -> str:
    """What the button for one token says: of a translation or an answer nothing is there yet to go on with."""
    return "One more token" if written(info) else "Go on by one"


def button(grown: Grown, beams: bool) -> str:
    """What the first button says: what the model does with the text where nothing is said yet, and then that it goes on."""
    said = grown.search if beams else grown.steps
    return CONTINUE if said or grown.beginning.target else FIRST[written(loaded.info(grown.beginning.name))]
