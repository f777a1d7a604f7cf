"""Shortens Streamlit's lookups in its session and its settings, which every run makes.

Problem: each text box, menu and slider copies all hundred values of the session to see whether its own is None; each look at a
component's state creates a new Python class; each setting is behind a lock, for which all visitors' runs wait, fifty times each.
Gain: less processor time for each key press; `benchmarks.replacements`, "widget_values", "component_values", "settings". Needless
when Streamlit asks for single values itself. No upstream issue is known.
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
    """A session's values by their keys, each looked up when it is needed."""

    state: SafeSessionState

    def __contains__(self, key: str) -> bool:
        return key in self.state

    def __getitem__(self, key: str) -> Any:
        return self.state[key]


@dataclass(frozen=True)
class Session:
    filtered_state: LazyValues


def look() -> Session:
    """Return the session of this run, as far as these widgets read it."""
    return Session(LazyValues(get_session_state()))


class ComponentValues(dict[str, Any]):
    """The state of a component by its names; None for names that it has not set. It is read-only: Streamlit's own can be written,
    and has a new class each time."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    def __deepcopy__(self, memo: dict[int, Any]) -> ComponentValues:
        return self


def presenter(events: str, component_id: str | None = None, allowed_state_keys: set[str] | None = None) -> Callable[..., Any]:
    """Return the result of Streamlit's own function of these arguments, for reading only."""

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
    """Return one of Streamlit's settings, without the lock for which all runs of a class would wait, fifty times each."""
    known = config._config_options
    return known[key].value if known and key in known else read_option(key)


def look_up_one_by_one() -> None:
    """Let these widgets look up only their own value, where Streamlit copies every value of the session."""
    for widget in WIDGETS:
        widget.get_session_state = look  # type: ignore[attr-defined]


def present_for_reading() -> None:
    """Represent a component's state by a plain dict, where Streamlit creates a class at each look."""
    components.make_bidi_component_presenter = presenter  # type: ignore[assignment]


def read_settings_without_lock() -> None:
    """Read settings without a lock, where Streamlit takes one for each."""
    config.get_option = option
