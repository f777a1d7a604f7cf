"""Parses the time that a text box waits for the next key before it sends its text.

Problem: Streamlit imports pandas to parse “80ms”, before the first text box of a server is drawn.
Gain: the first page of a fresh server is there sooner, by the time of that import; a running server gains nothing.
Needless when Streamlit parses such a time without pandas. No upstream issue is known.
"""

from __future__ import annotations

import re
from typing import Any

from streamlit.elements.widgets import text_widgets

read_any = text_widgets.time_to_seconds
MILLISECONDS = re.compile(r"([0-9]{1,6})ms")


def read(t: Any, **options: Any) -> Any:
    """Return the result of Streamlit's own function of these arguments; for milliseconds, without pandas."""
    match = MILLISECONDS.fullmatch(t) if isinstance(t, str) else None
    return int(match[1]) / 1000 if match else read_any(t, **options)


def read_simply() -> None:
    """Let Streamlit parse such times this way, without importing pandas before the first text box of a server."""
    text_widgets.time_to_seconds = read
