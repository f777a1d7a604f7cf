"""Takes no choices from the message of a timer, which the browser may have sent before it knew of a press.

A part that runs every few tenths of a second asks for that with a message that repeats all choices of its page. One that is sent
just after a press still has the choice from before it. If a callback of the press sets a choice and has the whole page run again,
Streamlit joins the two requests and takes the choice from the message: the press is lost.

Gain: that fault is fixed; `tests/ui/serving/test_timers.py` shows it in Streamlit itself. What a visitor changes has a message of
its own, so a timer's message has nothing that is new.
Needless when Streamlit prefers what a callback has set to the message of a timer. No upstream issue is known.
"""

from __future__ import annotations

from typing import Any

from streamlit.runtime import app_session
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData


def request(**fields: Any) -> RerunData:
    """Return Streamlit's own request with these fields; a timer's has no choices, so that the session's stay."""
    return RerunData(**fields | ({"widget_states": None} if fields.get("is_auto_rerun") else {}))


def take_no_choices() -> None:
    """Let a server take no choices from the messages of timers."""
    app_session.RerunData = request  # type: ignore[misc, assignment]
