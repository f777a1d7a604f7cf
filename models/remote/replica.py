"""A replica: messages in, messages out, independent of the transport."""

from __future__ import annotations

import json
import logging

import models
from models.errors import ModelError, panics_caught
from models.huggingface.names import is_folder_name, quoted
from models.remote.answers import Answers
from models.remote.client import REFUSED
from models.remote.wire import pack, unpack
from models.version import VERSION


class Replica:
    """One model, and the answers to messages about it."""

    def __init__(self, name: str) -> None:
        """Load the model; if that fails, every answer says why. A folder is opened where the app runs, never here."""
        self.refusal, self.answers = "", None
        try:
            if is_folder_name(name):
                raise ModelError(f"{quoted(name)} is a folder, and folders are not opened by other machines.")
            with panics_caught():
                self.answers = Answers(models.load(name, reads="text"))
        except ModelError as error:
            self.refusal = str(error)

    def answer(self, message: bytes) -> tuple[int, bytes]:
        """Return an HTTP status and the answer: 200 and a message of `models.remote.wire`, or 422, a sentence and its kind."""
        try:
            question, tensors = unpack(message)
            if (other := question.get("version")) != VERSION:
                return _refuse("version", f"they run Headlight {VERSION}, and this server runs {str(other)[:20]}")
            if self.answers is None:
                return _refuse("ModelError", self.refusal)
            return 200, pack(*self.answers.answer(question, tensors))
        except (TypeError, ValueError) as error:
            return _refuse(
                next(error_type.__name__ for error_type in (ModelError, TypeError, ValueError) if isinstance(error, error_type)),
                str(error),
            )
        except Exception:
            logging.getLogger(__name__).exception("A question could not be answered")
            return 500, b""

    def tidy(self) -> None:
        """Drop the traces of readers who have not read for a while."""
        if self.answers is not None:
            self.answers.tidy()


def _refuse(kind: str, sentence: str) -> tuple[int, bytes]:
    return REFUSED, json.dumps({"kind": kind, "sentence": sentence}).encode()
