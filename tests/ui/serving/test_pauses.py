"""A pause of a text box is what Streamlit would read in it."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.elements.widgets import text_widgets
from streamlit.errors import StreamlitAPIException

from ui.serving import pauses


@given(st.integers(0, 999_999))
def test_milliseconds_are_read_as_streamlit_reads_them(many):
    assert pauses.read(f"{many}ms") == pytest.approx(pauses.read_any(f"{many}ms"), abs=1e-6)  # it is then rounded to milliseconds


@pytest.mark.parametrize("time", ["1s", "2m", "80 ms", "-5ms", "0.5ms", 3.5, None])
def test_all_else_is_left_to_streamlit(time):
    assert pauses.read(time) == pauses.read_any(time)


@pytest.mark.parametrize("time", ["soon", "", "12"])
def test_what_is_refused_stays_refused(time):
    try:
        known = pauses.read_any(time)
    except StreamlitAPIException:
        with pytest.raises(StreamlitAPIException):
            pauses.read(time)
    else:
        assert pauses.read(time) == known


def test_streamlit_asks_it(monkeypatch):
    monkeypatch.setattr(text_widgets, "time_to_seconds", pauses.read_any)
    pauses.read_simply()
    assert text_widgets.time_to_seconds is pauses.read
    assert "time_to_seconds" in inspect.getsource(text_widgets._parse_text_input_live)
