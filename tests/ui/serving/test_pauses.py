"""A pause of a text box is what Streamlit would read in it."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.elements.widgets import text_widgets
from streamlit.errors import StreamlitAPIException

from tests.ui.serving.replaced import needs
from ui.serving import typing_pause

pytestmark = needs("typing_pause")


@given(st.integers(0, 999_999))
def test_milliseconds_are_read_as_streamlit_reads_them(many):
    assert typing_pause.read(f"{many}ms") == pytest.approx(
        typing_pause.read_any(f"{many}ms"), abs=1e-6
    )  # it is then rounded to milliseconds


@pytest.mark.parametrize("time", ["1s", "2m", "80 ms", "-5ms", "0.5ms", 3.5, None])
def test_all_else_is_left_to_streamlit(time):
    assert typing_pause.read(time) == typing_pause.read_any(time)


@pytest.mark.parametrize("time", ["soon", "", "12"])
def test_what_is_refused_stays_refused(time):
    try:
        known = typing_pause.read_any(time)
    except StreamlitAPIException:
        with pytest.raises(StreamlitAPIException):
            typing_pause.read(time)
    else:
        assert typing_pause.read(time) == known


def test_streamlit_asks_it(monkeypatch):
    monkeypatch.setattr(text_widgets, "time_to_seconds", typing_pause.read_any)
    typing_pause.read_simply()
    assert text_widgets.time_to_seconds is typing_pause.read
    assert "time_to_seconds" in inspect.getsource(text_widgets._parse_text_input_live)
