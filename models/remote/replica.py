"""A replica: messages in, messages out. It knows nothing of who carries them."""

from __future__ import annotations

import json
import logging

import models
from models.errors import ModelError, panics_caught
from models.huggingface.names import is_folder_name, quoted
from models.remote.answers import Answers
from models.remote.far import REFUSED
from models.remote.wire import pack, unpack
from models.version import VERSION


class Replica:
    """One model, and the answers to messages about it."""

    def __init__(self, name: str) -> None:
        """Loads the model; where it cannot be had, every answer says why. A folder is opened where the app runs, never here."""
        self.refusal, self.answers = "", None
        try:
            if is_folder_name(name):
                raise ModelError(f"{quoted(name)} is a folder, and folders are not opened by other machines.")
            with panics_caught():
                self.answers = Answers(models.load(name))
        except ModelError as error:
            self.refusal = str(error)

    def answer(self, message: bytes) -> tuple[int, bytes]:
        """A status as HTTP has it, and the answer: 200 and a message of `models.remote.wire`; 422, a sentence and its kind."""
        try:
            said, tensors = unpack(message)
            if (other := said.get("version")) != VERSION:
                return _refused("version", f"they run Headlight {VERSION}, and this server runs {str(other)[:20]}")
            if self.answers is None:
                return _refused("ModelError", self.refusal)
            return 200, pack(*self.answers.answer(said, tensors))
        except (TypeError, ValueError) as error:
            return _refused(
                next(one.__name__ for one in (ModelError, TypeError, ValueError) if isinstance(error, one)), str(error)
            )
        except Exception:
            logging.getLogger(__name__).exception("A question could not be answered")
            return 500, b""

    def tidy(self) -> None:
        """As `Answers.tidy`."""
        if self.answers is not None:
            self.answers.tidy()


def _refused(kind: str, sentence: str) -> tuple[int, bytes]:
    return REFUSED, json.dumps({"kind": kind, "sentence": sentence}).encode()
