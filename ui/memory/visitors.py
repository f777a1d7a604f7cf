"""Who is here: what the server keeps for a visitor goes when they go."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

Here = Callable[[Hashable], bool]
"""Whether a visitor is connected."""

leaving: list[Callable[[Here], None]] = []  # asked, whenever somebody has gone, to keep nothing for those who are not here


def me() -> str:
    """Whose page runs: what is kept for them is bounded; "" outside of a page."""
    run = get_script_run_ctx(suppress_warning=True)
    return run.session_id if run else ""


def let_go() -> None:
    """Let go of what is kept for those who are gone. Who comes back after a moment without network has it computed again."""
    if not runtime.exists():
        return
    connected = runtime.get_instance().is_active_session
    for tell in leaving:
        tell(lambda visitor: not visitor or connected(str(visitor)))  # what is read outside of a page is nobody's
