"""Choices that people meet early, and the help text that says what they do."""

from __future__ import annotations

from tests.pages.opening import open_link


def test_a_comparison_has_a_help_text():
    app = open_link("attention", "text=The+cat+sat&level=intermediate&view=Heatmap", finished=False)
    assert app.button_group(key="compare").proto.help.endswith(".")
