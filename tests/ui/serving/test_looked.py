"""A widget that looks up one value of a session sees what it would in a copy of all of them."""

from __future__ import annotations

import inspect
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.runtime.state import SafeSessionState, SessionState, get_session_state

from ui.serving import looked

KEYS = st.sampled_from("abcdef")


@given(st.dictionaries(KEYS, st.none() | st.integers()))
def test_each_key_has_the_value_of_the_copy_or_none_has_it(values):
    state = SafeSessionState(SessionState(), lambda: None)
    for key, value in values.items():
        state[key] = value
    seen, copy = looked.OneByOne(state), state.filtered_state
    for key in "abcdef":
        assert (key in seen) == (key in copy) and (key not in copy or seen[key] == copy[key])


@pytest.mark.parametrize("widget", looked.WIDGETS)
def test_streamlit_asks_it_and_for_nothing_else(monkeypatch, widget):
    monkeypatch.setattr(widget, "get_session_state", get_session_state)
    looked.look_up_one_by_one()
    assert widget.get_session_state is looked.look
    lines = [line.strip() for line in inspect.getsource(widget).splitlines()]
    taken = [line for line in lines if "get_session_state()" in line]
    assert set(taken) == {"session_state = get_session_state().filtered_state"}
    used = [
        re.findall(r"(?:in )?\bsession_state\b(?:\[key\])?", line)
        for line in lines
        if re.match(r"(if|state_value =) .*session_state", line)
    ]
    assert used and {way for line in used for way in line} == {"in session_state", "session_state[key]"}
