"""The files in which a picture can be taken away, by level."""

from __future__ import annotations

import pytest
import streamlit

from tests.pages.opening import open_link
from tests.pages.taking import Unfolded


@pytest.mark.parametrize(("level", "arrays"), [("beginner", False), ("intermediate", True)])
def test_arrays_are_offered_from_intermediate_on(monkeypatch, level, arrays):
    monkeypatch.setattr(streamlit, "popover", lambda *given, **options: Unfolded(streamlit.container()))
    app = open_link("attention", f"level={level}&text=The+cat")
    offered = {button.proto.label for button in app.get("download_button")}
    assert offered == {"HTML", "CSV", "Notebook"} | ({"NPZ"} if arrays else set())
