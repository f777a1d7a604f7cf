"""Reads how long a text box waits for the next key before it sends its text.

Problem: Streamlit imports pandas to read “80ms”, before the first text box of a server is drawn.
Gain: the first page of a fresh server is there sooner, by the time of that import; a running server gains nothing.
Needless when Streamlit reads such a time without pandas. No upstream issue is known.
"""

from __future__ import annotations

import re
from typing import Any

from streamlit.elements.widgets import text_widgets

read_any = text_widgets.time_to_seconds
MILLISECONDS = re.compile(r"([0-9]{1,6})ms")


def read(t: Any, **options: Any) -> Any:
    """What Streamlit's own function of these arguments gives; for milliseconds, without pandas."""
    match = MILLISECONDS.fullmatch(t) if isinstance(t, str) else None
    return int(match[1]) / 1000 if match else read_any(t, **options)


def read_simply() -> None:
    """Let Streamlit read such a time this way: it would import pandas for it, before the first text box of a server is drawn."""
    text_widgets.time_to_seconds = read
