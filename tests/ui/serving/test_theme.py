"""The theme from memory is the theme that Streamlit would put together."""

from __future__ import annotations

import pytest
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from tests.ui.serving.replaced import needs
from ui.serving import theme

pytestmark = needs("theme")

SECTIONS = ["theme", "theme.light", "theme.dark", "theme.sidebar", "theme.light.sidebar", "theme.dark.sidebar"]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_from_memory_is_streamlits_own(section):
    ours, own = CustomThemeConfig(), CustomThemeConfig()
    for _ in range(2):  # a second message takes what the first one left in memory
        ours = CustomThemeConfig()
        theme.write(ours, section)
    theme.put_together(own, section)
    assert ours == own
    assert own.ByteSize() or section == "theme.sidebar"


def test_streamlit_still_asks_for_it_where_it_is_remembered(monkeypatch):
    """The name is Streamlit's own, and private: a version that has another one would do all the work again, without a word."""
    monkeypatch.setattr(app_session, "_populate_theme_msg", theme.put_together)
    theme.remember()
    assert app_session._populate_theme_msg is theme.write
    assert "_populate_theme_msg" in app_session.AppSession._create_new_session_message.__code__.co_names
