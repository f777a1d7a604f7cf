"""What a widget asks of a session while it is placed: one value, and not all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamlit.elements.widgets import selectbox, slider, text_widgets
from streamlit.runtime.state import get_session_state

if TYPE_CHECKING:
    from streamlit.runtime.state import SafeSessionState

WIDGETS = (selectbox, slider, text_widgets)


@dataclass(frozen=True)
class OneByOne:
    """A session's values by their keys, each looked up when it is asked for."""

    state: SafeSessionState

    def __contains__(self, key: str) -> bool:
        return key in self.state

    def __getitem__(self, key: str) -> Any:
        return self.state[key]


@dataclass(frozen=True)
class Session:
    filtered_state: OneByOne


def look() -> Session:
    """The session of this run, as far as these widgets look at it."""
    return Session(OneByOne(get_session_state()))


def look_up_one_by_one() -> None:
    """Let these widgets of Streamlit look that way: each copies every value of the session, to see whether its own is None."""
    for widget in WIDGETS:
        widget.get_session_state = look  # type: ignore[attr-defined]
