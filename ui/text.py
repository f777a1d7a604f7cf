"""Text of a visitor's, as it may stand inside Markdown."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Escaped so that Markdown, LaTeX and Streamlit's own marks show it as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|~$<>:&])", r"\\\1", re.sub(r"\s+", " ", text))
