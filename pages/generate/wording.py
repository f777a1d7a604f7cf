"""Words for a model's task: to continue a text, to translate it, or to write an answer to it."""

from __future__ import annotations

from models.info import ModelInfo

CONTINUE = "Go on"
FIRST = {"": CONTINUE, "translation": "Translate", "answer": "Answer"}  # the first button while nothing is said
MEANWHILE = {"": "Going on", "translation": "Translating", "answer": "Answering"}
TRANSLATOR = "translator"  # what other encoder-decoders were trained for is not known


def output_kind(info: ModelInfo) -> str:
    """Return the kind of the model's output: "translation" or "answer"; "" if it continues the text itself."""
    if info.kind != "encoder-decoder":
        return ""
    return "translation" if info.name == TRANSLATOR else "answer"


def heading_case(info: ModelInfo) -> str:
    """Return the case of a heading (`ui.words.heading_for`): the kind of output, or "none" if the model writes nothing."""
    return "none" if info.kind == "encoder" or info.labels or not info.predicts else output_kind(info)


def step_label(info: ModelInfo) -> str:
    """Return the label of the button for one token; it differs while a translation or an answer is still empty."""
    return "One more token" if output_kind(info) else "Go on by one"
