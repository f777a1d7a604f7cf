"""What is looked up in fewer steps is what Streamlit would have found."""

from __future__ import annotations

import copy
import inspect
import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit import config
from streamlit.components.v2.bidi_component import main as components
from streamlit.runtime.state import SafeSessionState, SessionState, get_session_state

from tests.ui.serving.replaced import needs
from ui.serving import lookups

pytestmark = needs("widget_values")

KEYS = st.sampled_from("abcdef")


@given(st.dictionaries(KEYS, st.none() | st.integers()))
def test_each_key_has_the_value_of_the_copy_or_none_has_it(values):
    state = SafeSessionState(SessionState(), lambda: None)
    for key, value in values.items():
        state[key] = value
    seen, copy = lookups.LazyValues(state), state.filtered_state
    for key in "abcdef":
        assert (key in seen) == (key in copy) and (key not in copy or seen[key] == copy[key])


@pytest.mark.parametrize("widget", lookups.WIDGETS)
def test_streamlit_asks_it_and_for_nothing_else(monkeypatch, widget):
    monkeypatch.setattr(widget, "get_session_state", get_session_state)
    lookups.look_up_one_by_one()
    assert widget.get_session_state is lookups.look
    lines = [line.strip() for line in inspect.getsource(widget).splitlines()]
    taken = [line for line in lines if "get_session_state()" in line]
    assert set(taken) == {"session_state = get_session_state().filtered_state"}
    used = [
        re.findall(r"(?:in )?\bsession_state\b(?:\[key\])?", line)
        for line in lines
        if re.match(r"(if|state_value =) .*session_state", line)
    ]
    assert used and {way for line in used for way in line} == {"in session_state", "session_state[key]"}


EVENTS = st.dictionaries(
    st.sampled_from(["event", "value", "other"]), st.sampled_from(["chosen", "told"]) | st.integers() | st.none()
)
SAID = st.none() | EVENTS | st.lists(EVENTS | st.integers())
KEPT = st.none() | st.integers() | st.dictionaries(st.sampled_from(["chosen", "told", "kept"]), st.integers() | st.none())


@given(SAID, KEPT, st.sampled_from(["json_trigger_value", "json_value", None]))
def test_what_a_component_has_said_is_what_streamlit_gives(events, default, kind):
    state = SessionState()
    if kind:
        state._new_widget_state.widget_metadata["events"] = SimpleNamespace(value_type=kind)
        state._new_widget_state.set_from_value("events", events)
    ours, own = (make("events", "component", {"chosen"})(default, state) for make in (lookups.presenter, lookups.present))
    assert ours == own
    if isinstance(default, dict) and kind == "json_trigger_value":
        assert all(getattr(ours, name) == getattr(own, name) for name in ("chosen", "told", "kept", "nothing"))
        assert copy.deepcopy(ours) == ours


def test_streamlit_has_it_made_there_and_its_own_can_be_read_beside_it(monkeypatch):
    for name in ("make_bidi_component_presenter",):
        monkeypatch.setattr(components, name, lookups.present)
    monkeypatch.setattr(config, "get_option", lookups.read_option)
    lookups.present_for_reading()
    lookups.read_settings_without_lock()
    assert components.make_bidi_component_presenter is lookups.presenter
    assert "make_bidi_component_presenter(" in inspect.getsource(components.BidiComponentMixin)
    assert config.get_option is lookups.option


@pytest.mark.parametrize("known", [True, False])
def test_each_setting_is_as_streamlit_reads_it(monkeypatch, known):
    every = {name: lookups.read_option(name) for name in config.get_config_options()}
    if not known:
        monkeypatch.setattr(config, "_config_options", None)
    assert {name: lookups.option(name) for name in every} == every
    with pytest.raises(RuntimeError, match="not defined"):
        lookups.option("server.nothing")
