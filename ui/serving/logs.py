"""The server's log as JSON lines without visitors' texts and tokens: with HEADLIGHT_LOG=json, or on a public host.

What is written is chosen at the source, for whatever prints it: of a record its time, level, logger, and the sentence that stands
in the program, without what was put into it; of an error its kind and the lines of the program that it came through, without
what it says. Names that people type, texts and addresses are only ever in what is left out.
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
    """A record whose message is a line of JSON."""

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
    """From now on, where that is asked for. The server's own loggers are there already when this is called."""
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
