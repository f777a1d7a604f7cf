"""A run of a part of a page sends what it draws after all that was drawn before it, and drops none of that.

When a part is run again, Streamlit drops what the part drew and has not been sent. It keeps what the parts inside that part drew,
and messages that stand for something the browser has already. The browser then gets those without the containers in which they
stand, and shows an error in place of the page: "'setIn' cannot be called on an ElementNode", "Cannot set a node at a delta path".

Gain: that fault is mended; `tests/ui/serving/test_order.py` shows it in Streamlit itself.
Needless when Streamlit drops the parts inside a part with it. No upstream issue is known.
"""

from __future__ import annotations

from streamlit.runtime.app_session import AppSession

clear = AppSession._clear_queue


def clear_for_run(session: AppSession, fragment_ids_this_run: list[str] | None = None) -> None:
    """Drop all that was drawn and not sent before a run of the whole page, which draws all of it again; before others nothing."""
    clear(session, [] if fragment_ids_this_run else None)  # none of no fragments is dropped


def keep() -> None:
    """Let Streamlit do so for all visits of a server."""
    AppSession._clear_queue = clear_for_run  # type: ignore[method-assign, assignment]
