"""Builds the theme once per server; the first message of every run contains it.

Problem: Streamlit reads six sections of its settings for each run, on the one thread that sends to all visitors.
Gain: that thread has more time to send; `benchmarks.replacements`, "theme".
Needless when Streamlit keeps the message itself. No upstream issue is known.
"""

from __future__ import annotations

from functools import cache

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

put_together = app_session._populate_theme_msg


@cache
def _section(name: str) -> CustomThemeConfig:
    message = CustomThemeConfig()
    put_together(message, name)
    return message


def write(msg: CustomThemeConfig, section: str = "theme") -> None:
    """Do the work of Streamlit's own function of these arguments, from memory."""
    if _section(section).ListFields():
        msg.MergeFrom(_section(section))


def remember() -> None:
    """Let Streamlit take the theme from memory; it has no setting for this."""
    app_session._populate_theme_msg = write
