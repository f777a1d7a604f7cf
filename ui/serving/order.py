"""Keeps the order of messages: a run of a part of a page sends its messages after all earlier ones, and drops none of those.

When a part is run again, Streamlit drops the part's unsent messages. It keeps the messages of parts inside it, and references to
elements that the browser already has. The browser then gets these without their containers, and shows an error in place of the
page: "'setIn' cannot be called on an ElementNode", "Cannot set a node at a delta path".

Gain: that fault is fixed; `tests/ui/serving/test_order.py` shows it in Streamlit itself.
Needless when Streamlit drops the messages of inner parts too. No upstream issue is known.
"""

from __future__ import annotations

from streamlit.runtime.app_session import AppSession

clear = AppSession._clear_queue


def clear_for_run(session: AppSession, fragment_ids_this_run: list[str] | None = None) -> None:
    """Drop all unsent messages before a run of the whole page, which draws everything again; drop nothing before other runs."""
    clear(session, [] if fragment_ids_this_run else None)  # none of no fragments is dropped


def keep() -> None:
    """Let Streamlit keep the order for all visits of a server."""
    AppSession._clear_queue = clear_for_run  # type: ignore[method-assign, assignment]
