"""What of an input is a handled refusal, and what a fault: a traceback on the page or in the log, or a sentence that is none."""

from __future__ import annotations

import logging
import re
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamlit.testing.v1 import AppTest

from models.errors import FileError, ModelError
from tests.serving import ROOT

LONGEST = 1600  # characters of a refusal
OURS = [ROOT / folder for folder in ("models", "analysis", "viz", "ui", "pages")]
UNREADABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
UNFORESEEN = "Something went wrong."  # as a page speaks of what nobody thought of


class Log(logging.Handler):
    """Keeps what was logged with a traceback, or as an error."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info or record.stack_info or record.levelno >= logging.ERROR:
            self.records.append(record)


@contextmanager
def watched() -> Iterator[Log]:
    """All that is logged meanwhile. Errors: AssertionError at the end for what is no handled refusal, and what ended a thread."""
    log, ended = Log(), list[str]()
    loggers = [
        logging.getLogger(),
        *(logger for logger in map(logging.getLogger, ("streamlit", "transformers")) if not logger.propagate),
    ]
    before = threading.excepthook
    threading.excepthook = lambda event: ended.append(
        "".join(traceback.format_exception(event.exc_type, event.exc_value, event.exc_traceback))
    )
    for logger in loggers:
        logger.addHandler(log)
    try:
        yield log
    finally:
        threading.excepthook = before
        for logger in loggers:
            logger.removeHandler(log)
    for record in log.records:
        error = record.exc_info[1] if record.exc_info else None
        assert error is not None and is_refusal(error), f"Logged: {record.getMessage()}\n{traceback_of(error)}{record.stack_info}"
    assert not ended, f"A thread ended: {ended[0]}"


def is_refusal(error: BaseException) -> bool:
    """Whether an error is a sentence that a line of ours raised for whoever asked."""
    if isinstance(error, ModelError | FileError):
        return is_sentence(str(error))
    frames = traceback.extract_tb(error.__traceback__)
    ours = bool(frames) and any(Path(frames[-1].filename).is_relative_to(folder) for folder in OURS)
    return isinstance(error, ValueError) and ours and is_sentence(str(error))


def is_sentence(text: str) -> bool:
    """Whether a text can be read on a page: one line, neither empty nor endless, no control signs and no halves of signs."""
    return not UNREADABLE.search(text) and 10 < len(text) < LONGEST and "Traceback" not in text and UNFORESEEN not in text


def traceback_of(error: BaseException | None) -> str:
    return "" if error is None else "".join(traceback.format_exception(error))


def refused(app: AppTest) -> bool:
    """Whether a page refuses something of what it was asked for. Errors: AssertionError for a traceback in place of a page."""
    assert not app.exception, [element.stack_trace or element.value for element in app.exception]
    assert app.markdown, "the page is empty"
    complaints = [element.value for element in (*app.error, *app.warning)]
    assert not [
        complaint for complaint in complaints if UNFORESEEN in complaint or not is_sentence(re.sub(r"\\(?=\S)", "", complaint))
    ], complaints
    return bool(complaints)
