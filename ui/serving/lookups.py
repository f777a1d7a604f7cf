"""Does in fewer steps what Streamlit looks up in every run, in its session and its settings.

Problem: each text box, menu and slider copies all values of the session, a hundred of them, to see whether its own is None; a new
class is made whenever somebody looks at what a component has said; and each setting stands behind a lock, for which all runs of a
class wait, fifty times each.
Gain: less processor time for each key press; `benchmarks.replacements`, "widget_values", "component_values", "settings".
Needless when Streamlit asks for single values itself. No upstream issue is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamlit import config
from streamlit.components.v2.bidi_component import main as components
from streamlit.elements.widgets import selectbox, slider, text_widgets
from streamlit.runtime.state import get_session_state

if TYPE_CHECKING:
    from streamlit.runtime.state import SafeSessionState, SessionState

WIDGETS = (selectbox, slider, text_widgets)

present = components.make_bidi_component_presenter
read_option = config.get_option


@dataclass(frozen=True)
class LazyValues:
    """A session's values by their keys, each looked up when it is asked for."""

    state: SafeSessionState

    def __contains__(self, key: str) -> bool:
        return key in self.state

    def __getitem__(self, key: str) -> Any:
        return self.state[key]


@dataclass(frozen=True)
class Session:
    filtered_state: LazyValues


def look() -> Session:
    """The session of this run, as far as these widgets look at it."""
    return Session(LazyValues(get_session_state()))


class ComponentValues(dict[str, Any]):
    """What a component has said, by the names of what it says; None of what it has not. To be read: Streamlit's own one can be
    written, and is of a class of its own each time."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    def __deepcopy__(self, memo: dict[int, Any]) -> ComponentValues:
        return self


def presenter(events: str, component_id: str | None = None, allowed_state_keys: set[str] | None = None) -> Callable[..., Any]:
    """What Streamlit's own function of these arguments gives, for who reads."""

    def present_values(stored: object, state: SessionState) -> object:
        known = state._new_widget_state.widget_metadata.get(events)
        if not isinstance(stored, dict) or known is None or known.value_type != "json_trigger_value":
            return stored
        try:
            just = state._new_widget_state[events] or []
        except KeyError:
            just = []
        each = [event for event in ([just] if isinstance(just, dict) else just) if isinstance(event, dict)]
        return ComponentValues(
            {event["event"]: event.get("value") for event in each if isinstance(event.get("event"), str)} | stored
        )

    return present_values


def option(key: str) -> Any:
    """A setting of Streamlit's, without the lock for which all runs of a class would wait, fifty times each."""
    known = config._config_options
    return known[key].value if known and key in known else read_option(key)


def look_up_one_by_one() -> None:
    """Let these widgets look up their own value alone, where Streamlit copies every value of the session."""
    for widget in WIDGETS:
        widget.get_session_state = look  # type: ignore[attr-defined]


def present_for_reading() -> None:
    """Let what a component has said be a plain dict, where Streamlit makes a class whenever somebody looks at it."""
    components.make_bidi_component_presenter = presenter  # type: ignore[assignment]


def read_settings_without_lock() -> None:
    """Let settings be read without a lock, where Streamlit takes one for each."""
    config.get_option = option
