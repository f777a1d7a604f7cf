"""Which models there are, and how one is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.language_model import LanguageModel

WEIGHTS = Path(__file__).parent / "weights"
ORDER = ("writer", "filler", "translator")  # the order in which a newcomer should meet them


class UnknownModelError(ValueError):
    """A name that no model has; the message names those that exist."""


def names() -> tuple[str, ...]:
    """The models that ship with Headlight, the first one first."""
    return tuple(name for name in ORDER if (WEIGHTS / name / "model.safetensors").is_file())


def load(name: str) -> LanguageModel:
    """Load a model by its name.

    Errors: UnknownModelError, with a sentence that names the models there are.
    """
    if name not in names():
        raise UnknownModelError(f"There is no model called “{name[:60]}”. There is: {', '.join(names())}.")
    from models.scratch.decoder_model import DecoderModel

    return DecoderModel.from_folder(WEIGHTS / name)
