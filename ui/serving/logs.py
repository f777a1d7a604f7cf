"""The server's log as JSON lines without visitors' texts and tokens: with HEADLIGHT_LOG=json, or on a public host.

The record itself is reduced, so it does not matter what prints it. A record keeps its time, level, logger, and the sentence in
the program, without the values that were filled in; an error keeps its type and the lines of the program that it passed through,
without its message. Names that people type, texts and addresses only occur in the omitted parts.
"""

from __future__ import annotations

import json
import logging
import os
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime

from models.version import VERSION
from ui.memory import limits

OURS = ("analysis", "headlight", "models", "pages", "ui", "viz")
PLAIN = "%(message)s"


def asked_for(environment: Mapping[str, str] = os.environ) -> bool:
    given = environment.get("HEADLIGHT_LOG", "json" if limits.is_public(environment) else "")
    return given.strip().lower() == "json"


class Line(logging.LogRecord):
    """A log record whose message is a line of JSON."""

    def __init__(self, *args, **kwargs) -> None:  # type: ignore[no-untyped-def]  # as its base, which logging calls
        super().__init__(*args, **kwargs)
        entry = {
            "time": datetime.fromtimestamp(self.created, UTC).isoformat(timespec="milliseconds"),
            "level": self.levelname.lower(),
            "logger": self.name,
            "at": f"{os.path.basename(self.pathname)}:{self.lineno}",
        }
        # Others put texts together before they log them, so that of theirs only the place is known to hold nothing.
        if self.name.split(".")[0] in OURS:
            entry["event"] = str(self.msg)
        if isinstance(self.exc_info, tuple) and self.exc_info[0]:
            entry["error"] = self.exc_info[0].__name__
            frames = traceback.extract_tb(self.exc_info[2])
            entry["through"] = [f"{os.path.basename(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]  # type: ignore[assignment]
        self.msg, self.args, self.exc_info, self.exc_text, self.stack_info = json.dumps(entry), (), None, None, None


def set_up() -> None:
    """Write JSON lines from now on, if the settings ask for it. The server's own loggers already exist when this is called."""
    if not asked_for():
        return
    from streamlit import config, logger

    config.set_option("logger.messageFormat", PLAIN)
    config.set_option("logger.enableRich", False)  # it would print an error as it is
    logger.update_formatter()
    logging.basicConfig(format=PLAIN)
    for name in list(logging.root.manager.loggerDict):
        for handler in logging.getLogger(name).handlers:
            handler.setFormatter(logging.Formatter(PLAIN))
    logging.getLogger("uvicorn.access").disabled = True  # it would name every file that is fetched
    logging.setLogRecordFactory(Line)
    here = logging.getLogger(__name__)
    here.setLevel(logging.INFO)
    here.info(f"Headlight {VERSION} has started")
